"""Filters that keep one in so many passages."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FILTERS", "Filter", "groups_of"]

_KEPT = 7


@dataclass(frozen=True)
class Filter:
    """Passages belong to groups in turn; the number of each one's group is in a field of it."""

    field: str
    groups: int
    kept = _KEPT
    """The number of the group that may be found."""

    @property
    def name(self) -> str:
        """What part it keeps."""
        return f"{100 // self.groups} % filter"

    def holds(self, passage: int) -> bool:
        """Whether it keeps a passage."""
        return passage % self.groups == _KEPT

    def passages(self, size: int) -> NDArray[np.int64]:
        """Those that it keeps of so many."""
        return np.arange(_KEPT, size, self.groups)


FILTERS = (Filter("hundredth", 100), Filter("tenth", 10))


def groups_of(passage: int) -> dict[str, int]:
    """The fields of a passage."""
    return {each.field: passage % each.groups for each in FILTERS}
