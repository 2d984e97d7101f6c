"""Formulas of a web page on one line: signs for what their layout says."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["LAYOUTS", "signs"]

# Signs between the parts of elements, in their order.
LAYOUTS = {
    "mfrac": "/",
    "mover": "^",
    "msub": "_",
    "msubsup": "_^",
    "msup": "^",
    "munder": "_",
    "munderover": "_^",
}


def signs(node: "LexborNode") -> tuple[str, str]:
    """What stands before and behind an element of a formula."""
    if node.tag == "msqrt":
        return "√(", ")"
    parent = node.parent
    between = LAYOUTS.get(parent.tag or "") if parent is not None else None
    if between is None:
        return "", ""
    place = _elements_before(node, len(between))
    before = between[place - 1] if 0 < place <= len(between) else ""
    return (f"{before}(", ")") if _is_group(node) else (before, "")


def _elements_before(node: "LexborNode", most: int) -> int:
    """How many elements stand before one in its parent, counted to one more than `most`."""
    count = 0
    other = node.prev
    while other is not None and count <= most:
        count += other.is_element_node
        other = other.prev
    return count


def _is_group(node: "LexborNode") -> bool:
    """Whether an element is a row of several."""
    last = node.last_child
    while last is not None and not last.is_element_node:
        last = last.prev
    return node.tag == "mrow" and last is not None and _elements_before(last, 0) > 0
