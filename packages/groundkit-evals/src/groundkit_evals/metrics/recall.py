"""Recall at a cutoff."""

from collections.abc import Mapping, Sequence

__all__ = ["recall"]


def recall(ranked: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Share of the relevant that is among the first k; 0 where nothing is relevant."""
    relevant = {id_ for id_, gain in gains.items() if gain > 0}
    if not relevant:
        return 0.0
    return len(relevant.intersection(ranked[:k])) / len(relevant)
