"""Where the code of a Markdown text stands.

Fences and code spans follow CommonMark, read line by line: a fence may stand up to three columns
deeper than the list item or quote it is in, and ends with it. Indented code counts as text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Code", "code_in", "masked"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_QUOTE = re.compile(r"(?: {0,3}>)*+")
_INDENT = re.compile(r"[ \t]*+")
# `1)` begins an item but deepens nothing: neutralising turns `1]` into it and must not move code.
_ITEM = re.compile(r"(?:[-+*]|[0-9]{1,9}\.)[ \t]++")
_NEW_BLOCK = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t]|$)|>")
_ALONE = re.compile(r"$|#{1,6}(?:[ \t]|$)|(?:[-=*_][ \t]*+)++$")
_OPENING = re.compile(r"(`{3,}+)[^`]*+$|(~{3,}+)")
_RUN = re.compile("`+")


class Code(NamedTuple):
    """A stretch of code, its fences or backticks included."""

    start: int
    end: int
    fenced: bool


class _Line(NamedTuple):
    start: int
    end: int
    body: int
    indent: int
    quoted: bool
    text: str


class _Fence(NamedTuple):
    run: str
    column: int
    quoted: bool

    def left_by(self, line: _Line) -> bool:
        """Whether the line is outside the quote or the list item that the fence stands in."""
        return (self.quoted and not line.quoted) or (bool(line.text) and line.indent < self.column)

    def closed_by(self, line: _Line) -> bool:
        return (
            line.indent <= self.column + 3
            and len(line.text) >= len(self.run)
            and not line.text.strip(self.run[0])
        )


def code_in(text: str) -> list[Code]:
    """The code of a text, in order, none overlapping."""
    if "`" not in text and "~~~" not in text:
        return []
    found: list[Code] = []
    for stretch in _stretches(text):
        found.extend([stretch] if stretch.fenced else _spans(text, stretch.start, stretch.end))
    return found


def masked(text: str) -> str:
    """The text, equally long, with line feeds for fenced code and backticks for code spans."""
    parts: list[str] = []
    at = 0
    for code in code_in(text):
        filler = "\n" if code.fenced else "`"
        parts += text[at : code.start], filler * (code.end - code.start)
        at = code.end
    return "".join([*parts, text[at:]])


def _lines(text: str) -> Iterator[_Line]:
    for found in _LINE.finditer(text):
        line = found.group().rstrip("\r\n")
        quote = _match_end(_QUOTE, line, 0)
        body = _match_end(_INDENT, line, quote)
        # One space after `>` belongs to the quote.
        indent = max(0, len(line[quote:body].expandtabs(4)) - (quote > 0))
        content = line[body:].rstrip(" \t")
        yield _Line(found.start(), found.end(), found.start() + body, indent, quote > 0, content)


def _match_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return start if found is None else found.end()


def _stretches(text: str) -> Iterator[Code]:
    """Fenced blocks, and between them the stretches that no code span crosses."""
    start = column = 0
    fence: _Fence | None = None
    for line in _lines(text):
        if fence is not None:
            if not fence.left_by(line):
                if fence.closed_by(line):
                    yield Code(start, line.end, True)
                    fence, start = None, line.end
                continue
            yield Code(start, line.start, True)
            fence, start = None, line.start
        shallow = line.indent <= column + 3
        inner = _match_end(_ITEM, line.text, 0)
        if inner and shallow:
            column = line.indent + inner
        elif line.text and not line.indent:
            column = 0
        opening = _OPENING.match(line.text, inner)
        if opening is not None and shallow:
            yield Code(start, line.body + inner, False)
            inside = inner or line.indent >= column
            fence = _Fence(opening[1] or opening[2], column if inside else 0, line.quoted)
            start = line.body + inner
        elif _ALONE.match(line.text):
            yield Code(start, line.start, False)
            yield Code(line.start, line.end, False)
            start = line.end
        elif _NEW_BLOCK.match(line.text):
            yield Code(start, line.start, False)
            start = line.start
    yield Code(start, len(text), fence is not None)


def _spans(text: str, start: int, end: int) -> Iterator[Code]:
    """Code spans of one stretch: a run of backticks and the next one that is equally long."""
    runs = [found.span() for found in _RUN.finditer(text, start, end)]
    openings = [(first + _escaped(text, start, first), last) for first, last in runs]
    partners: list[int | None] = [None] * len(runs)
    nearest: dict[int, int] = {}
    for index in reversed(range(len(runs))):
        partners[index] = nearest.get(openings[index][1] - openings[index][0])
        nearest[runs[index][1] - runs[index][0]] = index
    index = 0
    while index < len(runs):
        partner = partners[index]
        if partner is not None:
            yield Code(openings[index][0], runs[partner][1], False)
            index = partner
        index += 1


def _escaped(text: str, start: int, at: int) -> bool:
    """Whether the character is taken literally because of the backslashes before it."""
    first = at
    while first > start and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1
