"""reStructuredText: sections by their adornments, paragraphs and indented blocks."""

import itertools
import re

from groundkit_core.chunking.blocks import Block
from groundkit_core.spans import Lines

__all__ = ["blocks"]

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*")
_TABLE_RULE = re.compile(r"[=+|-][=+| -]*")


def blocks(text: str) -> list[Block]:
    """Section titles, paragraphs, and literal blocks or directives with what they hold."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._lines = Lines(text)
        starts = [*self._lines.starts, len(text)]
        self._rows = [text[a:b] for a, b in itertools.pairwise(starts)]
        self._styles: list[tuple[str, bool]] = []
        self._blocks: list[Block] = []

    def read(self) -> list[Block]:
        row = 0
        while row < len(self._rows):
            if not self._rows[row].strip():
                row += 1
                continue
            row = self._heading(row) or self._body(row)
        return self._blocks

    def _adornment(self, row: int) -> str | None:
        """The character that a line repeats, if it consists of nothing else."""
        if row >= len(self._rows):
            return None
        match = _ADORNMENT.fullmatch(self._rows[row].rstrip())
        return match[1] if match else None

    def _heading(self, row: int) -> int | None:
        over = self._adornment(row)
        title = row + 1 if over else row
        under = self._adornment(title + 1)
        if under is None or (over and over != under) or self._adornment(title):
            return None
        name = self._rows[title].strip()
        if not name or (not over and self._rows[title][0].isspace()):
            return None
        if len(self._rows[title + 1].strip()) < min(len(name), 4):
            return None
        style = (under, over is not None)
        if style not in self._styles:
            self._styles.append(style)
        self._add(row, title + 2, "heading", self._styles.index(style) + 1, name)
        return title + 2

    def _body(self, row: int) -> int:
        """A paragraph or table, with the indented lines beneath it where it announces them."""
        first = self._rows[row]
        explicit = re.match(r"\.\. ", first) is not None
        is_table = _TABLE_RULE.fullmatch(first.rstrip()) is not None
        end = (is_table and self._simple_table_until(row)) or row + 1
        while not explicit and end < len(self._rows) and self._rows[end].strip():
            end += 1
        announces = self._rows[end - 1].rstrip().endswith("::") or first[0].isspace()
        if explicit or announces:
            end = self._indented_until(end)
        self._add(row, end, "lined" if explicit or announces or is_table else "prose")
        return end

    def _simple_table_until(self, row: int) -> int:
        """The row after a table between rules of `=`, blank rows included; 0 if it is none."""
        if set(self._rows[row].split()) != {"="} and not self._rows[row].startswith("="):
            return 0
        for at in range(row + 1, len(self._rows)):
            rule = self._rows[at].strip()
            is_last = at + 1 == len(self._rows) or not self._rows[at + 1].strip()
            if rule and set(rule) <= {"=", " "} and is_last:
                return at + 1
        return 0

    def _indented_until(self, row: int) -> int:
        end = row
        while row < len(self._rows) and (
            not self._rows[row].strip() or self._rows[row][0].isspace()
        ):
            row += 1
            if self._rows[row - 1].strip():
                end = row
        return end

    def _add(self, first: int, last: int, kind: str, level: int = 0, title: str = "") -> None:
        start, end = self._lines.start(first), self._lines.start(last)
        if kind == "heading":
            self._blocks.append(Block(start, end, "heading", level, title))
        else:
            self._blocks.append(Block(start, end, "lined" if kind == "lined" else "prose"))
