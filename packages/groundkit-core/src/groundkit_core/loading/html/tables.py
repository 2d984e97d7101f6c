"""Tables of a web page: which hold data and which only arrange the page."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundkit_core.loading.html.elements import HEADINGS, is_hidden
from groundkit_core.loading.html.tree import SKIP, Leave, walk

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["data_tables"]

_PARTS = {"blockquote", "dl", "hr", "ol", "p", "ul"}
_MANY_PARTS = 4


@dataclass(slots=True)
class _Seen:
    """What a table holds outside the tables in it."""

    has_header: bool = False
    has_heading: bool = False
    has_block: bool = False
    cells: int = 0
    parts: int = 0

    @property
    def is_data(self) -> bool:
        if self.has_heading:
            return False
        return self.has_header or (self.cells > 1 and not self.has_block)


def data_tables(root: "LexborNode") -> set[int]:
    """The tables in `root` whose rows are lines of text, by the id of their node.

    Others arrange the page: those that say so, have a heading in a cell that is no header, or
    without header cells and caption have one cell, or a table, code or several paragraphs in one.
    """
    found: set[int] = set()
    open_tables: list[_Seen] = []

    def enter(node: "LexborNode") -> Leave | None:
        tag = node.tag or ""
        if tag == "table":
            if open_tables:
                open_tables[-1].has_block = True
            open_tables.append(_Seen())
            return lambda: leave(node)
        if open_tables:
            if is_hidden(tag, node.attributes):
                return SKIP
            _see(open_tables[-1], tag, node)
        return None

    def leave(node: "LexborNode") -> None:
        arranges = node.attributes.get("role") in ("none", "presentation")
        if open_tables.pop().is_data and not arranges:
            found.add(node.mem_id)

    walk(root, enter, lambda _: None)
    return found


def _see(seen: _Seen, tag: str, node: "LexborNode") -> None:
    if tag in ("caption", "th", "thead"):
        seen.has_header = True
    if tag in ("td", "th"):
        seen.cells += 1
        seen.parts = 0
    elif tag in _PARTS:
        seen.parts += 1
        seen.has_block |= seen.parts >= _MANY_PARTS
    elif tag == "pre":
        seen.has_block = True
    elif tag in HEADINGS:
        seen.has_heading |= not _in_header(node)


def _in_header(node: "LexborNode") -> bool:
    parent = node.parent
    while parent is not None and parent.tag not in ("caption", "td", "th", "table"):
        parent = parent.parent
    return parent is not None and parent.tag in ("caption", "th")
