"""Scores of one ranked list against what is relevant."""

from collections.abc import Iterable, Mapping, Sequence
from math import log2

__all__ = ["character_recall", "ndcg", "recall"]

Span = tuple[str, int, int]
"""Document, start, end."""


def ndcg(ranked: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """DCG over the DCG of the best order; the discount of rank r is log2(r + 1)."""
    best = sorted(gains.values(), reverse=True)
    return _dcg([gains.get(id_, 0.0) for id_ in ranked[:k]]) / _dcg(best[:k])


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranked: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Share of the relevant that is among the first k."""
    relevant = {id_ for id_, gain in gains.items() if gain > 0}
    return len(relevant.intersection(ranked[:k])) / len(relevant)


def character_recall(found: Sequence[Span], wanted: Sequence[Span]) -> float:
    """Share of the wanted characters that lie in a found span; overlaps count once."""
    needed = _characters(wanted)
    return len(needed & _characters(found)) / len(needed)


def _characters(spans: Iterable[Span]) -> set[tuple[str, int]]:
    return {(document, at) for document, start, end in spans for at in range(start, end)}
