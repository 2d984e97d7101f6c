"""Normalised discounted cumulative gain."""

from collections.abc import Iterable, Mapping, Sequence
from math import log2

__all__ = ["ndcg"]


def ndcg(ranked: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """DCG at k over that of the best order, the gain of rank r over log2(r + 1).

    Gains below 0 count as 0; 0 where nothing is relevant.
    """
    best = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg(gains.get(id_, 0.0) for id_ in ranked[:k]) / best if best else 0.0


def _dcg(gains: Iterable[float]) -> float:
    return sum(max(gain, 0.0) / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
