"""Reciprocal rank fusion."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

__all__ = ["RRF_K", "fused"]

RRF_K = 60

K = TypeVar("K", bound=Hashable)


def fused(
    rankings: Sequence[Sequence[K]], weights: Sequence[float] | None = None, *, k: int = RRF_K
) -> dict[K, float]:
    """Sum over rankings of weight / (k + rank); ranks count from 1, first mentions only."""
    scores: dict[K, float] = {}
    given = weights if weights is not None else [1.0] * len(rankings)
    for ranking, weight in zip(rankings, given, strict=True):
        if weight == 0:
            continue
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return scores
