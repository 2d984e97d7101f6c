"""The type of the fixture `note`."""

from collections.abc import Callable

__all__ = ["Note"]

Note = Callable[[str], None]
