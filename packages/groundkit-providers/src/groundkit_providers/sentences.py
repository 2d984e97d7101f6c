"""Where the sentences of an answer and of a source stand."""

import re
from collections.abc import Iterator

from groundkit_core.contracts import Span

from groundkit_providers.markers import find_markers
from groundkit_providers.masking import masked

__all__ = ["sentences", "source_sentences"]

_LINE_BREAK = re.compile(r"[\r\n]+")
_BLOCK_BREAK = re.compile(
    r"(?:\r\n?|\n)(?=[ \t]*(?:[\r\n]|[-+*#>|][ \t|]|[0-9]{1,9}[.)][ \t]|[`~]{3}))"
)
_HEADING = re.compile(r"[ \t]*+#{1,6}(?:[ \t]|$)")
_LABEL = re.compile(
    r"[ \t]*+(?:>[ \t]*+)*+(?:(?:[-+*•]|[0-9]{1,9}[.)])[ \t]++)?(?:\[[ xX]\][ \t]++)?"
)
_STOP = re.compile(r"[.!?…。！？।؟]+")
_WIDE_STOPS = "。！？।؟"
_CLOSERS = "\"'”’»)]*_」』）"
_WORD = re.compile(r"\w")


def sentences(answer: str) -> tuple[Span, ...]:
    """Spans of the sentences of an answer, the markers right after one included.

    A sentence ends with its line, at a wide, Arabic or Indic full stop, and at `.`, `!` or `?`
    before a space or a marker; `.` after a single letter ends none. Headings, code blocks and the
    labels of list items are no sentences.
    """
    text = masked(answer)
    markers = {marker.start: marker.end for marker in find_markers(answer)}
    found: list[tuple[int, int]] = []
    for start, end in _pieces(text, _LINE_BREAK):
        if _HEADING.match(text, start, end):
            continue
        label = _LABEL.match(text, start, end)
        for first, last in _split(text, label.end() if label else start, end, markers):
            words = _without(text, first, last, markers)
            if _WORD.search(words):
                found.append((first, last))
            elif found and words != text[first:last]:
                # A line of markers alone belongs to what was said before it.
                found[-1] = (found[-1][0], last)
    return tuple(Span(start=start, end=end) for start, end in found)


def source_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of a source, which may be wrapped; its code and headings count."""
    for start, end in _pieces(text, _BLOCK_BREAK):
        yield from _split(text, start, end, {})


def _pieces(text: str, breaks: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    start = 0
    for found in breaks.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def _split(text: str, start: int, end: int, markers: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of one stretch, without the space around them."""
    for stop in _STOP.finditer(text, start, end):
        last = stop.end()
        while last < end and text[last] in _CLOSERS:
            last += 1
        after = _past_markers(text, last, end, markers)
        if after > last or _ends(text, start, stop, last, end):
            yield from _trimmed(text, start, after)
            start = after
    yield from _trimmed(text, start, end)


def _ends(text: str, start: int, stop: re.Match[str], last: int, end: int) -> bool:
    if stop.group()[-1] in _WIDE_STOPS:
        return True
    if last < end and not text[last].isspace():
        return False
    before = text[max(start, stop.start() - 2) : stop.start()]
    single = before[-1:].isalpha() and not before[:-1].isalnum()
    return stop.group() != "." or not single


def _past_markers(text: str, at: int, end: int, markers: dict[int, int]) -> int:
    """Where the markers end that follow, with spaces and commas between them."""
    reached = at
    while at < end:
        if at in markers:
            at = reached = markers[at]
        elif text[at] in " \t,;":
            at += 1
        else:
            break
    return reached


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    if bare := part.strip():
        first = start + part.index(bare)
        yield first, first + len(bare)


def _without(text: str, start: int, end: int, markers: dict[int, int]) -> str:
    parts: list[str] = []
    at = start
    for first in range(start, end):
        if first in markers:
            parts.append(text[at:first])
            at = markers[first]
    return " ".join([*parts, text[at:end]])
