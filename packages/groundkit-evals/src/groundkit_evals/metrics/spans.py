"""How many of the wanted characters were found; characters found twice count once."""

from collections.abc import Iterable, Sequence

__all__ = ["Span", "covered", "span_iou", "span_precision", "span_recall"]

Span = tuple[str, int, int]
"""Document, start, end; half-open."""


def span_recall(found: Sequence[Span], wanted: Sequence[Span]) -> float:
    """Share of the wanted characters that were found."""
    size = _size(wanted)
    return covered(found, wanted) / size if size else 0.0


def span_precision(found: Sequence[Span], wanted: Sequence[Span]) -> float:
    """Share of the found characters that were wanted; 0 where nothing was found."""
    size = _size(found)
    return covered(found, wanted) / size if size else 0.0


def span_iou(found: Sequence[Span], wanted: Sequence[Span]) -> float:
    """Characters both found and wanted, over those that are either."""
    either = _size([*found, *wanted])
    return covered(found, wanted) / either if either else 0.0


def covered(found: Sequence[Span], wanted: Sequence[Span]) -> int:
    """Number of characters that are both found and wanted."""
    return _size(found) + _size(wanted) - _size([*found, *wanted])


def _size(spans: Iterable[Span]) -> int:
    """Number of characters in at least one span."""
    size, document, reached = 0, "", 0
    for name, start, end in sorted(spans):
        if name != document:
            document, reached = name, 0
        size += max(0, end - max(start, reached))
        reached = max(reached, end)
    return size
