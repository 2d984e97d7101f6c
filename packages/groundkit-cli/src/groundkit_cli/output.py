"""What reaches the terminal: results on stdout, notes on stderr, nothing unescaped."""

import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "emit",
    "emit_failure",
    "emit_json",
    "emphasised",
    "in_line",
    "linked",
    "note",
    "printable",
    "reported",
]

P = ParamSpec("P")

printed_json = False
"""Whether the JSON document of this run is out."""

# Control characters, and the marks that reorder what stands around them.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text with control characters escaped; line breaks and tabs stay."""
    text = text.replace("\r\n", "\n")
    return _UNPRINTABLE.sub(lambda match: ascii(match.group())[1:-1], text)


def in_line(text: str) -> str:
    """The text on one line, so that no name or heading can pass for a line of ours."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def emit(text: str = "") -> None:
    """Print a line of the result; what the terminal's encoding lacks is escaped."""
    _write(sys.stdout, text)


def note(text: str) -> None:
    """Print a remark that is no part of the result."""
    _write(sys.stderr, text)


def _write(stream: Any, text: str) -> None:
    if stream is None:  # closed by whoever started us
        return
    encoding = stream.encoding or "utf-8"
    line = text.encode(encoding, "backslashreplace").decode(encoding)
    typer.echo(line, file=stream, color=None if _plain() else stream.isatty())


def _plain() -> bool:
    return bool(os.environ.get("NO_COLOR"))


def emit_json(document: "BaseModel") -> None:
    """Print the one JSON document, in UTF-8 whatever the terminal's encoding."""
    global printed_json
    printed_json = True
    if sys.stdout is None:
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(document.model_dump_json(indent=2).encode() + b"\n")
    sys.stdout.buffer.flush()


def emphasised(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text, escaped, with the spans in bold where stdout is a terminal."""
    if _plain() or sys.stdout is None or not sys.stdout.isatty():
        return printable(text)
    parts, position = [], 0
    for start, end in spans:
        parts += [printable(text[position:start])]
        parts += [typer.style(printable(text[start:end]), bold=True)]
        position = end
    return "".join([*parts, printable(text[position:])])


def reported(command: Callable[P, None]) -> Callable[P, None]:
    """Turn groundkit's errors into one line, or a JSON document, and an exit code."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            from groundkit_core.errors import GroundkitError

            try:
                command(*args, **kwargs)
            except GroundkitError as error:
                _fail(error, bool(kwargs.get("json")))
        except (KeyboardInterrupt, typer.Abort):
            note("grk: interrupted")
            raise typer.Exit(130) from None

    return run


def linked(text: str, link: str | None) -> str:
    """The text, which opens the link where stdout is a terminal that can do that."""
    if link is None or _UNPRINTABLE.search(link) or not link.isascii():
        return text
    if _plain() or sys.stdout is None or not sys.stdout.isatty():
        return text
    return f"\x1b]8;;{link}\x1b\\{text}\x1b]8;;\x1b\\"


def _fail(error: Exception, as_json: bool) -> None:
    code = exit_code(error)
    if as_json:
        emit_failure(type(error).__name__, str(error), code)
    else:
        note(f"grk: {in_line(str(error))}")
    raise typer.Exit(code) from None


def emit_failure(kind: str, message: str, code: int) -> None:
    """Print an error as the one JSON document."""
    from groundkit_cli.documents import Failure, Problem

    encodable = message.encode("utf-8", "backslashreplace").decode()
    emit_json(Failure(error=Problem(type=kind, message=encodable, exit_code=code)))


def exit_code(error: Exception) -> int:
    """2 for usage and configuration, 4 for a provider, 5 for a rejected reply, 3 for the rest."""
    from groundkit_core import errors

    usage = errors.ConfigurationError | errors.RetrievalError | errors.MetadataError
    if isinstance(error, usage):
        return 2
    providers = errors.ChatError | errors.EmbeddingError | errors.RerankerNotConfiguredError
    if isinstance(error, providers):
        return 4
    rejected = errors.SynthesisError | errors.QueryRewriteError | errors.JudgeError
    return 5 if isinstance(error, rejected) else 3
