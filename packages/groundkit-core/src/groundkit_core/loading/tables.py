"""Tables as lines: a row each, its cells joined by bars."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile, zip_longest

from groundkit_core.loading.extracted import TextBuilder

__all__ = ["Cell", "Row", "Table"]


@dataclass(slots=True)
class Cell:
    """The text of a cell, and how many columns and rows it covers."""

    text: str
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class Row:
    """Cells from left to right."""

    cells: list[Cell] = field(default_factory=list)
    is_header: bool = False


@dataclass(slots=True)
class Table:
    """Rows from top to bottom; the first ones may be its header."""

    rows: list[Row] = field(default_factory=list)

    def add_to(self, builder: TextBuilder) -> None:
        """A block for the header, and a block of the rows beneath it."""
        rows = list(self._texts())
        head = sum(1 for _ in takewhile(lambda row: row.is_header, self.rows))
        if head == len(rows):
            head = min(head, 1)
        columns = zip_longest(*rows[:head], fillvalue="")
        header = _line(" ".join(filter(None, column)) for column in columns)
        builder.lined(header)
        lines = (_line(row) for row in rows[head:])
        builder.lined("\n".join(filter(None, lines)), header=header)

    def _texts(self) -> Iterator[list[str]]:
        """The rows' texts, each in its column: what a merged cell covers is blank but once.

        There are never more such blanks than cells, whatever spans a file claims.
        """
        spare = sum(len(row.cells) for row in self.rows)
        covered: dict[int, int] = {}
        for place, row in enumerate(self.rows):
            texts: list[str] = []
            for cell in row.cells:
                while spare and covered.get(len(texts), 0) > place:
                    texts.append("")
                    spare -= 1
                at = len(texts)
                blank = min(max(cell.columns, 1) - 1, spare)
                spare -= blank
                texts += [cell.text, *[""] * blank]
                if cell.rows > 1:
                    covered |= dict.fromkeys(range(at, len(texts)), place + cell.rows)
            yield texts


def _line(cells: Iterable[str]) -> str:
    """Cells on one line, without the blank ones behind the last that is not."""
    shown = list(cells)
    while shown and not shown[-1]:
        shown.pop()
    return " | ".join(shown).strip()
