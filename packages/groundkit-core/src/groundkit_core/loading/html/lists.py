"""Lists of a web page: which mark and depth each item has."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundkit_core.loading.flow import Flow
from groundkit_core.loading.html.elements import number
from groundkit_core.loading.numerals import numeral

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["ITEMS", "LISTS", "Lists"]

LISTS = {"dir", "dl", "menu", "ol", "ul"}
ITEMS = {"dd", "dt", "li"}


@dataclass(slots=True)
class _List:
    is_ordered: bool = False
    number: int = 1
    step: int = 1
    style: str = "1"


@dataclass(slots=True)
class _Item:
    depth: int
    mark: str


class Lists:
    """The lists and items that are open."""

    def __init__(self) -> None:
        self._lists: list[_List] = []
        self._items: list[_Item] = []

    @property
    def in_item(self) -> bool:
        """Whether text is that of an item."""
        return bool(self._items)

    def open_list(self, tag: str, node: "LexborNode") -> None:
        """A list begins."""
        opened = _List(tag == "ol")
        if opened.is_ordered:
            attributes = node.attributes
            first = 1
            if "reversed" in attributes:
                opened.step = -1
                first = sum(child.tag == "li" for child in node.iter())
            opened.number = number(attributes, "start", first)
            opened.style = attributes.get("type") or "1"
        self._lists.append(opened)

    def close_list(self) -> bool:
        """A list ends; whether it was no part of another."""
        self._lists.pop()
        return not self._lists

    def open_item(self, tag: str, node: "LexborNode") -> str:
        """An item begins; its mark."""
        depth = max(len(self._lists) - 1, 0) + (tag == "dd")
        within = self._lists[-1] if self._lists else _List()
        mark = ""
        if tag == "li" and within.is_ordered:
            value = number(node.attributes, "value", within.number)
            within.number = value + within.step
            mark = f"{numeral(value, within.style)}. "
        elif tag == "li":
            mark = "- "
        self._items.append(_Item(depth, mark))
        return mark

    def close_item(self) -> None:
        """An item ends."""
        self._items.pop()

    def add_to(self, flow: Flow, text: str) -> None:
        """Text of the open item, with its mark if it is the first."""
        item = self._items[-1]
        flow.item(item.depth, item.mark, text)
        if item.mark:
            item.depth, item.mark = item.depth + 1, ""

    def heading_number(self) -> str:
        """The number of the item that a heading begins, which then stands before the heading."""
        if not self._items or self._items[-1].mark in ("", "- "):
            return ""
        item = self._items[-1]
        mark, item.mark = item.mark, ""
        return mark
