"""From the tree of a web page to blocks of text."""

import re
from functools import partial
from typing import TYPE_CHECKING, Literal

from groundkit_core.loading.flow import Flow
from groundkit_core.loading.html.elements import (
    APART,
    BLOCKS,
    HEADINGS,
    SCOPES,
    is_furniture,
    is_hidden,
    number,
)
from groundkit_core.loading.html.lists import ITEMS, LISTS, Lists
from groundkit_core.loading.html.math import LAYOUTS, signs
from groundkit_core.loading.html.tables import data_tables
from groundkit_core.loading.html.tree import SKIP, Leave, walk
from groundkit_core.loading.inline import Inline
from groundkit_core.loading.tables import Cell, Row, Table

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["Reader"]

# Links to a heading itself, behind its text.
_PERMALINK = re.compile(r"\s*¶$|\s[#§🔗]$")
_TO_THE_END = 1_000_000
_BLANK_LINES = re.compile(r"\n\n+")


class Reader:
    """Hands what the elements of a page hold to a flow of blocks.

    Within a heading or cell (`line`) and within code (`pre`) there are no other blocks.
    """

    def __init__(self, *, full: bool, in_part: bool) -> None:
        self.flow = Flow()
        self._full = full
        self._parts = int(in_part)
        self._inline = Inline()
        self._lists = Lists()
        self._tables: set[int] = set()
        self._table: Table | None = None
        self._heads = 0
        self._within: Literal["", "line", "pre"] = ""

    def read(self, root: "LexborNode") -> None:
        """Read what an element holds."""
        self._tables = data_tables(root)
        walk(root, self._enter, self._text)
        self._break()
        self.flow.end_list()

    def _text(self, text: str) -> None:
        if self._within == "pre":
            self._inline.raw(text)
        else:
            self._inline.add(text)

    def _enter(self, node: "LexborNode") -> Leave | None:
        tag, attributes = node.tag or "", node.attributes
        if is_hidden(tag, attributes):
            return SKIP
        if not self._full and is_furniture(tag, attributes, in_part=self._parts > 0):
            self._break() if tag in BLOCKS else self._inline.apart()
            return SKIP
        if tag in BLOCKS:
            self._break()
            return self._begin(tag, node)
        if tag in APART:
            self._inline.apart()
            return self._inline.apart
        if tag == "br":
            self._break_line()
        elif tag == "img":
            self._inline.apart()
            self._inline.add(attributes.get("alt") or "")
            self._inline.apart()
        elif tag == "q":
            return self._enclose("“", "”")
        elif tag.startswith("m"):
            leave = self._enclose(*signs(node))
            return self._inline.apart if tag in LAYOUTS else leave
        return None

    def _enclose(self, before: str, behind: str) -> Leave:
        self._inline.add(before)
        return partial(self._inline.add, behind)

    def _begin(self, tag: str, node: "LexborNode") -> Leave:
        """A block begins; what its end does."""
        if tag in LISTS:
            self._lists.open_list(tag, node)
            return self._end_list
        if tag in ITEMS:
            mark = self._lists.open_item(tag, node)
            if self._within == "line":
                self._inline.add(mark)
            return self._end_item
        if self._within:
            return self._break
        if tag in HEADINGS:
            self._within = "line"
            return partial(self._end_heading, HEADINGS[tag])
        if tag in ("listing", "pre", "xmp"):
            self._within = "pre"
            return self._end_code
        if tag in SCOPES:
            self._parts += 1
            return self._end_scope
        return self._begin_table(tag, node)

    def _begin_table(self, tag: str, node: "LexborNode") -> Leave:
        if tag == "table" and self._table is None and node.mem_id in self._tables:
            self._table = Table()
            return self._end_table
        if self._table is None:
            return self._break
        if tag == "thead":
            self._heads += 1
            return self._end_head
        if tag == "tr":
            self._table.rows.append(Row(is_header=True))
        elif tag in ("td", "th") and self._table.rows:
            self._within = "line"
            return partial(self._end_cell, node)
        return self._break

    def _break(self) -> None:
        """What was collected is a paragraph, if it is no part of a line or of code."""
        if self._within == "line":
            self._inline.space()
        elif self._within == "pre":
            self._inline.end_line()
        else:
            for part in _BLANK_LINES.split(self._inline.take().strip("\n")):
                if part and self._lists.in_item:
                    self._lists.add_to(self.flow, part)
                elif part:
                    self.flow.paragraph(part)

    def _break_line(self) -> None:
        self._inline.space() if self._within == "line" else self._inline.newline()

    def _end_list(self) -> None:
        self._break()
        if self._lists.close_list() and not self._within:
            self.flow.end_list()

    def _end_item(self) -> None:
        self._break()
        self._lists.close_item()

    def _end_heading(self, level: int) -> None:
        self._within = ""
        title = _PERMALINK.sub("", self._inline.take())
        self.flow.heading(level, self._lists.heading_number() + title if title else "")

    def _end_code(self) -> None:
        self._within = ""
        self.flow.code(self._inline.take())

    def _end_scope(self) -> None:
        self._break()
        self._parts -= 1

    def _end_head(self) -> None:
        self._heads -= 1

    def _end_cell(self, node: "LexborNode") -> None:
        self._within = ""
        text = " ".join(self._inline.take().split())
        if self._table is None:
            return
        attributes = node.attributes
        row = self._table.rows[-1]
        is_head = self._heads > 0 or (node.tag == "th" and len(self._table.rows) == 1)
        row.is_header &= is_head
        rows = number(attributes, "rowspan", 1) or _TO_THE_END
        row.cells.append(Cell(text, number(attributes, "colspan", 1), rows))

    def _end_table(self) -> None:
        self._break()
        if self._table is not None:
            self.flow.table(self._table)
        self._table = None
