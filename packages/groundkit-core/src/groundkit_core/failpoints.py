"""Named places in the write path where a test may stop the process."""

from collections.abc import Callable

__all__ = ["FAILPOINTS", "reach", "set_hook"]

FAILPOINTS = (
    "lock.held",
    "root.noted",
    "file.read",
    "segment.written",
    "segment.synced",
    "segment.named",
    "commit.begun",
    "commit.dropped",
    "commit.rows",
    "commit.segment",
    "commit.buried",
    "commit.done",
    "checkpoint.done",
    "merge.written",
    "merge.swapped",
    "sweep.file",
    "states.noted",
    "reindex.segment",
    "reindex.swapped",
    "delete.begun",
)

_hook: Callable[[str], None] | None = None


def set_hook(hook: Callable[[str], None] | None) -> None:
    """Call `hook` with the name of each place that is reached; None for nothing."""
    global _hook
    _hook = hook


def reach(name: str) -> None:
    """Mark a place in the write path."""
    if _hook is not None:
        _hook(name)
