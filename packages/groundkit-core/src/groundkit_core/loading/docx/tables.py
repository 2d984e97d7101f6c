"""Paragraphs and tables of a Word file, as what holds them collects them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from groundkit_core.loading.docx.styles import integer
from groundkit_core.loading.docx.xml import Attributes, is_on
from groundkit_core.loading.tables import Cell, Row, Table

__all__ = ["Item", "Paragraph", "WordCell", "WordTable", "flat"]

_FIRST_ROW = 0x20
_MAX_COLUMNS = 63


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph: a heading with its level, code, or text that may be a list's item."""

    text: str
    level: int = 0
    is_code: bool = False
    mark: str = ""
    depth: int = 0


@dataclass(slots=True)
class WordCell:
    """What a cell holds, and the columns that it covers."""

    items: "list[Item]" = field(default_factory=list)
    columns: int = 1
    is_covered: bool = False


@dataclass(slots=True)
class WordTable:
    """Rows of cells; a table that has ended holds nothing but paragraphs."""

    rows: list[list[WordCell]] = field(default_factory=list)
    headers: set[int] = field(default_factory=set)
    deleted: set[int] = field(default_factory=set)
    has_first_row: bool = False

    def set(self, name: str, attributes: Attributes) -> None:
        """A property of the table, or of the row or cell that began last."""
        if name == "w:tblLook":
            look = attributes.get("val", "0")
            bits = int(look, 16) if re.fullmatch("[0-9A-Fa-f]{1,8}", look) else 0
            shown = attributes.get("firstRow")
            self.has_first_row = is_on({"val": shown}) if shown else bool(bits & _FIRST_ROW)
        elif name == "w:tblHeader" and self.rows and is_on(attributes):
            self.headers.add(len(self.rows) - 1)
        elif name == "w:gridBefore" and self.rows:
            blanks = min(integer(attributes.get("val", ""), 0), _MAX_COLUMNS)
            self.rows[-1] += [WordCell() for _ in range(blanks)]
        elif self.rows and self.rows[-1]:
            cell = self.rows[-1][-1]
            if name == "w:gridSpan":
                cell.columns = min(integer(attributes.get("val", ""), 1), _MAX_COLUMNS)
            elif name in ("w:hMerge", "w:vMerge"):
                cell.is_covered = attributes.get("val") != "restart"

    def ended(self) -> "list[Item]":
        """The table without deleted rows; of one that is but a frame, what it holds."""
        for place in self.deleted:
            self.rows[place] = []
        cells = [cell for row in self.rows for cell in row]
        if len(cells) == 1:
            return cells[0].items
        for cell in cells:
            cell.items = [Paragraph("" if cell.is_covered else flat(cell.items))]
        return [self]

    def lines(self) -> Table:
        """The table as rows of text."""
        headers = self.headers or ({0} if self.has_first_row else set())
        return Table(
            [
                Row([Cell(flat(cell.items), cell.columns) for cell in row], place in headers)
                for place, row in enumerate(self.rows)
            ]
        )


Item = Paragraph | WordTable


def flat(items: "Iterable[Item]") -> str:
    """Paragraphs, and tables that have ended, on one line."""
    texts: list[str] = []
    for item in items:
        if isinstance(item, Paragraph):
            texts.append(item.mark + item.text)
        else:
            texts += [flat(cell.items) for row in item.rows for cell in row]
    return " ".join(" ".join(texts).split())
