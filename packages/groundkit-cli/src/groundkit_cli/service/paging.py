"""Cursors, and how many passages fit a response."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Literal, TypeVar

from groundkit_core.contracts import Contract, Passage, RetrievalResult
from pydantic import ValidationError

from groundkit_cli.service.errors import ServiceError
from groundkit_cli.service.rendering import render_passage, render_result
from groundkit_cli.service.requests import Request

__all__ = [
    "AfterName",
    "AfterResult",
    "Beside",
    "cursor_of",
    "first_that_fit",
    "fitted",
    "read_cursor",
    "text_bytes",
    "those_that_fit",
]

# What a response has beside its passages: the envelope, a query and two cursors, as JSON twice.
_ENVELOPE = 6_000
_LINK = 300

P = TypeVar("P", RetrievalResult, Passage)
C = TypeVar("C", bound="_Cursor")


class _Cursor(Contract):
    request: str


class AfterResult(_Cursor):
    """Where a search goes on."""

    token: str
    generation: int
    done: int


class Beside(_Cursor):
    """Where a document goes on."""

    chunk_id: str
    side: Literal["before", "after"]


class AfterName(_Cursor):
    """Where a list of names goes on."""

    name: str


def cursor_of(kind: type[C], request: Request, **fields: object) -> str:
    """An opaque text that continues the request."""
    held = kind.model_validate({"request": _digest(request), **fields})
    return urlsafe_b64encode(held.model_dump_json().encode()).decode().rstrip("=")


def read_cursor(kind: type[C], request: Request) -> C | None:
    """The place that the request's cursor names; refused beside other arguments than it came of."""
    if request.cursor is None:
        return None
    try:
        padded = request.cursor + "=" * (-len(request.cursor) % 4)
        found = kind.model_validate_json(urlsafe_b64decode(padded.encode("ascii")))
    except (ValueError, ValidationError):
        raise ServiceError("invalid_request", "cursor: it is none of this operation") from None
    if found.request != _digest(request):
        raise ServiceError("invalid_request", "cursor: the other arguments have changed")
    return found


def _digest(request: Request) -> str:
    asked = request.model_copy(update={"cursor": None}).model_dump_json()
    return sha256(asked.encode()).hexdigest()[:16]


def text_bytes(text: str) -> int:
    """Bytes of a text in JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))


def _bytes(passage: RetrievalResult | Passage) -> int:
    """Bytes of a passage in a response: as JSON and, for the reader of an answer, as text."""
    if isinstance(passage, RetrievalResult):
        link = text_bytes(passage.link) + text_bytes(passage.title or "") if passage.link else 0
        rendered = render_result(passage)
    else:
        link, rendered = 0, render_passage(passage)
    return len(passage.model_dump_json()) + text_bytes(rendered) + bool(link) * (link + _LINK)


def fitted(passage: P, limit: int) -> P:
    """The passage, its text cut where it alone is more than a response may be."""
    room = limit - _ENVELOPE
    if _bytes(passage) <= room:
        return passage
    least, most = 0, len(passage.content)
    while least < most:
        middle = (least + most + 1) // 2
        if _bytes(_cut(passage, middle)) <= room:
            least = middle
        else:
            most = middle - 1
    shorter = _cut(passage, least)
    if _bytes(shorter) > room:
        raise ServiceError(
            "response_too_large",
            f"what is known of {passage.citation.chunk_id} does not fit a response; "
            "the server's --max-response-bytes would have to be larger",
        )
    return shorter


def _cut(passage: P, length: int) -> P:
    update: dict[str, object] = {"content": passage.content[:length], "cut": True}
    if isinstance(passage, RetrievalResult):
        kept = (each for each in passage.highlights if each[1] <= length)
        update["highlights"] = tuple(kept)
    return passage.model_copy(update=update)


def first_that_fit(passages: Sequence[P], limit: int) -> list[P]:
    """As many from the first on as fit a response, one at least."""
    found: list[P] = []
    room = limit - _ENVELOPE
    for passage in passages:
        shown = passage if found else fitted(passage, limit)
        room -= _bytes(shown) + 2
        if found and room < 0:
            break
        found.append(shown)
    return found


def those_that_fit(passages: Sequence[Passage], at: int, limit: int) -> tuple[list[Passage], int]:
    """The passage at a place with those nearest to it, in order; its place among them."""
    cited = fitted(passages[at], limit)
    found, first, last = [cited], at, at
    room = limit - _ENVELOPE - _bytes(cited)
    sides: dict[str, Callable[[], int]] = {"after": lambda: last + 1, "before": lambda: first - 1}
    while sides:
        for side in tuple(sides):
            place = sides[side]()
            cost = _bytes(passages[place]) + 2 if 0 <= place < len(passages) else room + 1
            if cost > room:
                del sides[side]
                continue
            room -= cost
            if side == "after":
                found, last = [*found, passages[place]], place
            else:
                found, first = [passages[place], *found], place
    return found, at - first
