"""Cutting a span into consecutive parts of at most a size."""

import re
from collections.abc import Iterator
from typing import Literal

from groundkit_core.terms import count_words, word_spans

__all__ = ["Unit", "divide", "line_around", "measure", "unit_starts", "windows"]

Unit = Literal["words", "characters"]
Spans = Iterator[tuple[int, int]]

_LONG_WORD = 12
_LINE = re.compile(r"\r\n|\r|\n")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？｡])")


def measure(text: str, unit: Unit) -> int:
    """Size of a text in units."""
    return count_words(text) if unit == "words" else len(text)


def unit_starts(text: str, start: int, end: int, unit: Unit) -> list[int]:
    """Offsets at which a part may begin, one a unit; punctuation stays with its word."""
    if unit == "characters":
        return list(range(start, end))
    starts: list[int] = []
    previous = start
    for begin, stop in word_spans(text, start, end):
        gap = text[previous:begin]
        # What stands after the last blank, a bracket or quote, opens the next word.
        opening = 0 if gap[-1:].isspace() else len((gap.split() or [""])[-1])
        if not starts:
            starts.append(start)
        elif opening == len(gap):
            starts.append(begin)
        else:
            starts.append(begin - opening)
        previous = stop
    return starts or [start]


def windows(
    text: str, start: int, end: int, size: int, overlap: int, unit: Unit
) -> Iterator[tuple[int, int]]:
    """Windows of `size` units, each beginning `size - overlap` after the one before."""
    # Counting alone is several times as fast as finding where parts may begin.
    if 0 < end - start <= size * _LONG_WORD and measure(text[start:end], unit) <= size:
        yield start, end
        return
    starts = unit_starts(text, start, end, unit)
    for first in range(0, len(starts), size - overlap):
        stop = first + size
        yield starts[first], starts[stop] if stop < len(starts) else end
        if stop >= len(starts):
            return


def line_around(text: str, at: int, start: int, end: int) -> tuple[int, int]:
    """The line between `start` and `end` in which an offset lies, without its break."""
    begin = max(text.rfind("\n", start, at), text.rfind("\r", start, at), start - 1) + 1
    found = _LINE.search(text, at, end)
    return begin, found.start() if found else end


def divide(text: str, start: int, end: int, size: int, unit: Unit, *, lined: bool) -> Spans:
    """Parts of at most `size`: whole lines or sentences where they fit, else words."""
    levels = (_LINE, _SENTENCE) if lined else (_SENTENCE, _LINE)
    for begin, stop, _ in _divide(text, start, end, size, unit, levels):
        yield begin, stop


def _divide(
    text: str, start: int, end: int, size: int, unit: Unit, levels: tuple[re.Pattern[str], ...]
) -> Iterator[tuple[int, int, int]]:
    """Parts with their sizes."""
    total = measure(text[start:end], unit)
    if total <= size:
        yield start, end, total
    elif not levels:
        for begin, stop in windows(text, start, end, size, 0, unit):
            yield begin, stop, measure(text[begin:stop], unit)
    else:
        parts = (
            part
            for begin, stop in _split(text, start, end, levels[0])
            for part in _divide(text, begin, stop, size, unit, levels[1:])
        )
        yield from _pack(parts, size)


def _split(text: str, start: int, end: int, pattern: re.Pattern[str]) -> Spans:
    for match in pattern.finditer(text, start, end):
        if match.end() > start:
            yield start, match.end()
            start = match.end()
    if start < end:
        yield start, end


def _pack(parts: Iterator[tuple[int, int, int]], size: int) -> Iterator[tuple[int, int, int]]:
    begin, end, total = next(parts)
    for start, stop, weight in parts:
        if total + weight > size:
            yield begin, end, total
            begin, total = start, 0
        end, total = stop, total + weight
    yield begin, end, total
