"""Walking the tree of a web page."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from groundkit_core.errors import RefusedError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["MAX_DEPTH", "SKIP", "Leave", "walk"]

MAX_DEPTH = 1000
Leave = Callable[[], None]


def SKIP() -> None:  # noqa: N802
    """What `enter` returns for an element that is passed over with all that it holds."""


def walk(
    root: "LexborNode",
    enter: "Callable[[LexborNode], Leave | None]",
    text: Callable[[str], None],
) -> None:
    """Visit what `root` holds in document order, calling what `enter` returned at each end."""
    above: list[tuple[LexborNode, Leave | None]] = []
    node = root.first_child
    while node is not None or above:
        if node is None:
            parent, leave = above.pop()
            if leave is not None:
                leave()
            node = parent.next
        elif node.is_text_node:
            text(node.text_content or "")
            node = node.next
        elif not node.is_element_node or (leave := enter(node)) is SKIP:
            node = node.next
        else:
            if len(above) == MAX_DEPTH:
                raise RefusedError(f"HTML: tags nested more than {MAX_DEPTH} deep")
            above.append((node, leave))
            node = node.first_child
