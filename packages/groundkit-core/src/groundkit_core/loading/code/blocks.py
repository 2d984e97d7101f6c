"""Source code in the usual languages: definitions by how their first line reads."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from groundkit_core.chunking.blocks import Block
from groundkit_core.loading.code.definitions import LONGEST_HEAD, definition, is_lead, is_statement
from groundkit_core.loading.code.literals import literals
from groundkit_core.spans import Lines

__all__ = ["MEDIA_TYPES", "blocks"]

_SUFFIXES = {
    "text/javascript": ".js .mjs .cjs",
    "text/jsx": ".jsx",
    "text/tsx": ".tsx",
    "text/typescript": ".ts .mts .cts",
    "text/x-c": ".c .h",
    "text/x-c++": ".cc .cpp .cxx .hh .hpp .hxx",
    "text/x-csharp": ".cs",
    "text/x-dart": ".dart",
    "text/x-elixir": ".ex .exs",
    "text/x-go": ".go",
    "text/x-groovy": ".groovy .gradle",
    "text/x-java": ".java",
    "text/x-kotlin": ".kt .kts",
    "text/x-lua": ".lua",
    "text/x-perl": ".pl .pm",
    "text/x-php": ".php",
    "text/x-powershell": ".ps1 .psm1",
    "text/x-python": ".py .pyi",
    "text/x-r": ".r",
    "text/x-ruby": ".rb",
    "text/x-rust": ".rs",
    "text/x-scala": ".scala",
    "text/x-shellscript": ".sh .bash .zsh",
    "text/x-sql": ".sql",
    "text/x-swift": ".swift",
}
MEDIA_TYPES = {end: kind for kind, ends in _SUFFIXES.items() for end in ends.split()}
"""The media type of source code by the suffix of its file, in lower case."""

_LONGEST_TITLE = 200
_LONGEST_LEAD = 10
_NONE = (-1, -1, False)


@dataclass(frozen=True, slots=True)
class _Open:
    """A definition that has begun; `holds` is whether definitions in it count."""

    indent: int
    holds: bool
    is_indented: bool


@dataclass(frozen=True, slots=True)
class _Mark:
    """Lines that begin a definition, or what follows the end of one and has no title."""

    first: int
    stop: int
    level: int
    title: str


def blocks(text: str) -> list[Block]:
    """A heading for each definition with the comments above it, and lines beneath it.

    Definitions end where a statement stands as far out as they do: there is a heading without a
    title, which ends the section above it.
    """
    return list(_Code(text).blocks())


class _Code:
    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [*Lines(text).starts, len(text)]
        self._count = len(self._starts) - 1
        self._open: list[_Open] = []

    def blocks(self) -> Iterator[Block]:
        line = 0
        for mark in self._marks():
            yield from self._body(line, mark.first)
            begin, end = self._starts[mark.first], self._starts[mark.stop]
            yield Block(begin, end, "heading", mark.level, mark.title)
            line = mark.stop
        yield from self._body(line, self._count)

    def _body(self, first: int, stop: int) -> Iterator[Block]:
        """The first paragraph by lines, so that its start stays with the heading; then others."""
        by_lines = first > 0
        begin = first
        for line in range(first, stop):
            blank = not self._line(line).strip()
            if (blank or by_lines) and begin < line:
                yield Block(self._starts[begin], self._starts[line], "lined")
                begin = line
                by_lines = by_lines and not blank
            if blank:
                begin = line + 1
        if begin < stop:
            yield Block(self._starts[begin], self._starts[stop], "lined")

    def _line(self, line: int) -> str:
        return self._text[self._starts[line] : self._starts[line + 1]]

    def _marks(self) -> Iterator[_Mark]:
        lead, brackets, apart = -1, 0, True
        for number, text in self._code_lines():
            if not text:
                lead, brackets, apart = -1, 0, True
                continue
            first = number if lead < 0 else lead
            mark = None if brackets > 0 else self._mark(number, first, text, apart)
            if mark is not None:
                yield mark
            if mark is None and (brackets > 0 or is_lead(text)):
                lead = first
                # A decorator goes on until its brackets are closed.
                if brackets > 0 or text[0] in "@#[":
                    brackets += text.count("(") - text.count(")")
            else:
                lead, apart = -1, False

    def _code_lines(self) -> Iterator[tuple[int, str]]:
        """Lines without their indentation; those within a long string are blank.

        Lines within a comment are left out: they belong to what is below them.
        """
        spans = literals(self._text)
        start, end, is_comment = next(spans, _NONE)
        for number, at in enumerate(self._starts[:-1]):
            while end <= at and end >= 0:
                start, end, is_comment = next(spans, _NONE)
            if not start < at < end:
                yield number, self._line(number).strip()
            elif not is_comment:
                yield number, ""

    def _mark(self, number: int, first: int, text: str, apart: bool) -> _Mark | None:
        indent = self._indent(number)
        around = self._around(indent)
        below = map(self._line, range(number + 1, min(number + LONGEST_HEAD, self._count)))
        kind = definition(text, below) if around is None or around.holds else ""
        if not kind and not (self._ends(indent, apart) and is_statement(text)):
            return None
        level = self._leave(indent)
        if kind:
            indented = self._is_indented(number, text, indent)
            self._open.append(_Open(indent, kind == "container", indented))
        stop = (number if number - first < _LONGEST_LEAD else first) + 1
        return _Mark(first, stop, level, _title(text) if kind else "")

    def _ends(self, indent: int, apart: bool) -> bool:
        """Whether a statement that is indented so ends a definition; apart: beneath a blank."""
        last = self._open[-1] if self._open else None
        return last is not None and indent <= last.indent and (last.is_indented or apart)

    def _around(self, indent: int) -> _Open | None:
        """The innermost definition that is indented less."""
        at = bisect_left(self._open, indent, key=attrgetter("indent"))
        return self._open[at - 1] if at else None

    def _leave(self, indent: int) -> int:
        """End the definitions that are indented as much or more; the level of what is here."""
        while self._open and self._open[-1].indent >= indent:
            self._open.pop()
        return len(self._open) + 1

    def _is_indented(self, number: int, text: str, indent: int) -> bool:
        """Whether a definition has an indented body, if it has one."""
        below = number + 1
        while below < self._count and self._line(below).strip() == "{":
            below += 1
        if text[:6].lower() == "create":
            return False
        if below == self._count or not (text.endswith("{") or below > number + 1):
            return True
        under = self._line(below).strip()
        return not under or not is_statement(under) or self._indent(below) > indent

    def _indent(self, number: int) -> int:
        line = self._line(number)
        return len(line[: len(line) - len(line.lstrip())].expandtabs())


def _title(text: str) -> str:
    """A signature on one line; without its parameters where they go on below."""
    title = " ".join(text.split())
    if title.count("(") > title.count(")"):
        title = title[: title.index("(")]
    head = title.partition(" {")[0]
    if head.count("(") == head.count(")"):
        title = head
    return title[:_LONGEST_TITLE].rstrip(" {:(,=")
