"""Reciprocal rank, whose mean over queries is MRR."""

from collections.abc import Mapping, Sequence

__all__ = ["reciprocal_rank"]


def reciprocal_rank(ranked: Sequence[str], gains: Mapping[str, float]) -> float:
    """One over the rank of the first that is relevant; 0 if none is."""
    for rank, id_ in enumerate(ranked, start=1):
        if gains.get(id_, 0) > 0:
            return 1 / rank
    return 0.0
