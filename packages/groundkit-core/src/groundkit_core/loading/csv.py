"""Comma-separated values and their like: rows beneath their header."""

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Literal

from groundkit_core.chunking.blocks import Block
from groundkit_core.loading.rows import header_index, header_line
from groundkit_core.spans import Lines

__all__ = ["blocks"]

# In this order where several divide the rows alike: the rarer in text and numbers, the surer.
_DELIMITERS = ("\t", "|", ";", ",")
_NAMED = re.compile(r'"?sep=([\t|;,])"?')
_SAMPLE = 50
# A quote that is not closed by then is no quote, but a character of its line.
_MOST_LINES = 1_000
_RUN = 16_384


def blocks(text: str) -> list[Block]:
    """The header row, then runs of one-line rows, and each row that spans lines as prose.

    The delimiter is what a first line `sep=;` names, else the one of tab, `|`, `;` and `,` by
    which most of the first rows have as many cells as the first row that has several.
    """
    return list(_Table(text).blocks())


class _Table:
    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = [*Lines(text).starts, len(text)]
        named = _NAMED.fullmatch(self._line(0).strip(" \r\n"))
        self._first = 1 if named else 0
        self._delimiter = named[1] if named else self._likely_delimiter()

    def blocks(self) -> Iterator[Block]:
        at, header = self._header()
        run = self._first
        for first, stop in self._rows():
            spans = stop > first + 1
            if first == at or spans or self._long(run, first):
                yield from self._block(run, first, header if run > at else "")
                run = first
            if first == at or spans:
                above = header if first > at else ""
                yield from self._block(first, stop, above, "prose" if spans else "lined")
                run = stop
        yield from self._block(run, len(self._starts) - 1, header if run > at else "")

    def _block(
        self, first: int, stop: int, header: str, kind: Literal["prose", "lined"] = "lined"
    ) -> Iterator[Block]:
        """One block of these lines, if there are any."""
        if first < stop:
            yield Block(self._starts[first], self._starts[stop], kind, header=header)

    def _long(self, first: int, stop: int) -> bool:
        return self._starts[stop] - self._starts[first] >= _RUN

    def _line(self, line: int) -> str:
        return self._text[self._starts[line] : self._starts[line + 1]]

    def _lines(self, first: int) -> Iterator[str]:
        return map(self._line, range(first, min(first + _MOST_LINES, len(self._starts) - 1)))

    def _rows(self) -> Iterator[tuple[int, int]]:
        """First line of each row and the line after its last."""
        line, count = self._first, len(self._starts) - 1
        while line < count:
            stop = line + 1
            if '"' in self._line(line):
                stop, closed = self._row_end(line)
                if not closed:
                    yield from ((each, each + 1) for each in range(line, stop))
                    line = stop
                    continue
            yield line, stop
            line = stop

    def _row_end(self, first: int) -> tuple[int, bool]:
        """Where the row that begins at a line ends, and whether its quotes are closed there."""
        # The last line closes a quote that is still open: it is read only then.
        reader = csv.reader(chain(self._lines(first), ['"']), delimiter=self._delimiter)
        count = min(_MOST_LINES, len(self._starts) - 1 - first)
        try:
            next(reader)
        except csv.Error:  # a cell beyond the size that the reader accepts
            return first + max(1, min(reader.line_num, count)), False
        return first + min(reader.line_num, count), reader.line_num <= count

    def _header(self) -> tuple[int, str]:
        """The first line of the header row and its text; -1 where no row is one."""
        found = list(islice(self._filled_rows(), _SAMPLE))
        at = header_index([cells for _, cells in found])
        return (-1, "") if at is None else (found[at][0], header_line(found[at][1]))

    def _filled_rows(self) -> Iterator[tuple[int, list[str]]]:
        for first, stop in self._rows():
            lines = map(self._line, range(first, stop))
            cells = self._cells(lines, self._delimiter)
            if cells and any(cells[0]):
                yield first, cells[0]

    def _cells(self, lines: Iterator[str], delimiter: str) -> list[list[str]]:
        """The first rows of some lines by a delimiter; none where they cannot be read."""
        try:
            return list(islice(csv.reader(lines, delimiter=delimiter), _SAMPLE))
        except csv.Error:
            return []

    def _likely_delimiter(self) -> str:
        shares = [self._share(delimiter) for delimiter in _DELIMITERS]
        best = max(shares)
        return _DELIMITERS[shares.index(best)] if best else ","

    def _share(self, delimiter: str) -> float:
        """Share of the first rows with as many cells as the first that has several."""
        counts = [len(row) for row in self._cells(self._lines(0), delimiter) if row]
        several = next((count for count in counts if count > 1), 0)
        return counts.count(several) / len(counts) if several else 0.0
