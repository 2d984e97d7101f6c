"""Words of a server made fit for a message: no secret, no text of ours, one short line."""

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

__all__ = ["error_words", "scrubbed"]

MAX_WORDS = 300
_SHARED_RUN = 16  # characters in a row that nobody shares with a prompt by chance
_USERINFO = re.compile(r"(?<=://)[^\s/@]{1,200}@")
_BEARER = re.compile(r"\b(Bearer|Basic) +\S+", re.IGNORECASE)
_KEY = re.compile(r"\b(?:sk|pk|rk|key|gsk|xai)-[\w*.-]{6,}")
_BLANKS = re.compile(r"\s+")
_TAGS = re.compile(r"<[^<>]{0,200}>")


def scrubbed(text: str, secrets: Iterable[str] = (), confidential: Iterable[str] = ()) -> str:
    """The text on one line without the secrets, or any run it shares with a confidential text."""
    for secret in secrets:
        for form in {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]}:
            text = text.replace(form, "***") if form else text
    text = _USERINFO.sub("***@", text)
    text = _BEARER.sub(r"\1 ***", text)
    text = _KEY.sub("***", text)
    text = _without_echo(" ".join(text[: 20 * MAX_WORDS].split()), confidential)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]}…"


def error_words(status: int, body: bytes) -> str:
    """What a reply says went wrong, wherever the usual servers put it.

    Below 400 a reply may hold an answer, so only what it calls an error counts.
    """
    text = body[: 1 << 16].decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _TAGS.sub(" ", text) if status >= 400 else ""
    problem = found.get("error") if isinstance(found, dict) else None
    if status < 400 and not isinstance(problem, str | dict):
        return ""
    said = problem if isinstance(problem, dict) else found
    for key in ("message", "error", "detail"):
        if isinstance(said, dict) and isinstance(said.get(key), str):
            return str(said[key])
    return text if status >= 400 else ""


def _without_echo(text: str, confidential: Iterable[str]) -> str:
    if not text:
        return text
    masked = bytearray(len(text))
    for known in confidential:
        width = min(_SHARED_RUN, len(known))
        if width < 4:
            continue
        # The words of the server are few, the prompt may be long.
        places: dict[str, list[int]] = {}
        for start in range(len(text) - width + 1):
            places.setdefault(text[start : start + width], []).append(start)
        flat = _BLANKS.sub(" ", known)
        for start in range(len(flat) - width + 1):
            for place in places.pop(flat[start : start + width], ()):
                masked[place : place + width] = b"\1" * width
    parts = re.finditer(b"\1+|\0+", bytes(masked))
    return "".join(
        "[our own text]" if masked[part.start()] else text[part.start() : part.end()]
        for part in parts
    )
