"""Precision at a cutoff."""

from collections.abc import Mapping, Sequence

__all__ = ["precision"]


def precision(ranked: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Share of k places that hold something relevant; a place left empty counts as a miss."""
    return sum(gains.get(id_, 0) > 0 for id_ in ranked[:k]) / k
