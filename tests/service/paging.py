"""Following cursors to the end."""

from collections.abc import Iterator
from typing import Any

from tests.service.support import Answer, Desk

__all__ = ["MOST_PAGES", "pages"]

MOST_PAGES = 500


def pages(
    ask: Desk, transport: str, operation: str, cursor: str = "next_cursor", **arguments: Any
) -> Iterator[Answer]:
    """Every page of an operation; none may be larger than the service's limit."""
    more: dict[str, Any] = {}
    for _ in range(MOST_PAGES):
        answer = ask(transport, operation, **arguments, **more)
        assert answer.ok
        assert answer.size <= ask.runtime.limits.response_bytes
        yield answer
        if answer.body[cursor] is None:
            return
        more = {"cursor": answer.body[cursor]}
    raise AssertionError("the pages have no end")
