"""BM25, Lucene variant, over many segments as if they were one: exact MaxScore in NumPy.

A term's idf bounds what it can add to any score. Terms go from the largest bound to the smallest;
once what is left cannot lift a new chunk into the best k, only known candidates are looked up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from groundkit_core.index.lexical import LexicalSegment
from groundkit_core.index.segment_file import Array

__all__ = ["K1", "B", "Hit", "Statistics", "search", "statistics"]

K1 = 1.5
B = 0.75

# Partial sums are compared with bounds that were added in another order.
_SLACK = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over all live chunks: their number, their terms, and chunks per query term."""

    chunks: int
    terms: int
    frequencies: dict[int, int]

    def idf(self, term: int) -> float:
        """ln(1 + (N - df + 0.5) / (df + 0.5))."""
        df = self.frequencies[term]
        return log(1 + (self.chunks - df + 0.5) / (df + 0.5))


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk's score and row number, with heads of its id (which breaks ties) and text hash."""

    score: float
    key: int
    content: int
    seq: int


def statistics(
    segments: Sequence[LexicalSegment], chunks: int, terms: int, query: Iterable[int]
) -> Statistics:
    """Global statistics for the terms of a query."""
    frequencies = {
        term: sum(len(segment.postings(term)[0]) for segment in segments) for term in set(query)
    }
    return Statistics(chunks, terms, frequencies)


def search(
    segments: Sequence[LexicalSegment], query: Mapping[int, float], stats: Statistics, k: int
) -> list[Hit]:
    """The best k chunks by (score descending, id) for weighted terms."""
    weights = sorted(
        (
            (weight * stats.idf(term), term)
            for term, weight in query.items()
            if stats.frequencies[term]
        ),
        key=lambda pair: (-pair[0], pair[1]),
    )
    if not weights:
        return []
    scan = _Scan(weights, stats.terms / stats.chunks, k)
    for segment in sorted(segments, key=lambda segment: -segment.size):
        scan.add(segment)
    return scan.best()


class _Scan:
    def __init__(self, weights: list[tuple[float, int]], average: float, k: int) -> None:
        self._weights = weights
        # left[i] bounds what terms i and later can add.
        self._left = [*np.cumsum([w for w, _ in reversed(weights)])[::-1].tolist(), 0.0]
        self._average = average
        self._k = k
        self._floor = 0.0
        self._hits: list[Hit] = []

    def add(self, segment: LexicalSegment) -> None:
        sums = np.zeros(segment.size)
        lists: list[Array] = []
        for index, (weight, term) in enumerate(self._weights):
            if self._left[index] < self._floor * _SLACK:
                candidates = self._candidates(lists, sums, self._left[index])
                self._look_up(segment, sums, candidates, index)
                return
            ordinals, frequencies = segment.postings(term)
            sums[ordinals] += weight * self._impact(segment, ordinals, frequencies)
            lists.append(ordinals)
            self._raise_floor(sums[ordinals])
        self._collect(segment, sums, self._candidates(lists, sums, 0.0))

    def _impact(self, segment: LexicalSegment, ordinals: Array, frequencies: Array) -> Array:
        norm = segment.lengths[ordinals] * (K1 * B / self._average) + K1 * (1 - B)
        impact: Array = frequencies / (frequencies + norm)
        return impact

    def _raise_floor(self, scores: Array) -> None:
        """Lift the floor to the k-th best of these partial scores of distinct chunks."""
        above = scores[scores > self._floor]
        if len(above) >= self._k:
            self._floor = float(np.partition(above, len(above) - self._k)[len(above) - self._k])

    def _candidates(self, lists: list[Array], sums: Array, left: float) -> Array:
        bound = (self._floor - left) * _SLACK
        kept = [ordinals[sums[ordinals] >= bound] for ordinals in lists]
        if len(kept) < 2:
            return kept[0] if kept else np.empty(0, np.uint32)
        # Not np.unique, which imports numpy.ma.
        merged = np.sort(np.concatenate(kept))
        return merged[np.concatenate(([True], merged[1:] != merged[:-1]))[: len(merged)]]

    def _look_up(
        self,
        segment: LexicalSegment,
        sums: Array,
        candidates: Array,
        index: int,
    ) -> None:
        for position in range(index, len(self._weights)):
            weight, term = self._weights[position]
            ordinals, frequencies = segment.postings(term)
            if len(ordinals) and len(candidates):
                at = np.minimum(np.searchsorted(ordinals, candidates), len(ordinals) - 1)
                found = ordinals[at] == candidates
                held = candidates[found]
                sums[held] += weight * self._impact(segment, held, frequencies[at[found]])
            self._raise_floor(sums[candidates])
            bound = (self._floor - self._left[position + 1]) * _SLACK
            candidates = candidates[sums[candidates] >= bound]
        self._collect(segment, sums, candidates)

    def _collect(self, segment: LexicalSegment, sums: Array, candidates: Array) -> None:
        scores = sums[candidates]
        chosen = candidates[scores >= self._floor]
        scores = sums[chosen]
        order = np.lexsort((segment.id[chosen], -scores))[: self._k]
        best = chosen[order]
        columns = (scores[order], segment.id[best], segment.content[best], segment.seq[best])
        self._hits += map(Hit, *(column.tolist() for column in columns))
        self._hits.sort(key=lambda hit: (-hit.score, hit.key))
        del self._hits[self._k :]

    def best(self) -> list[Hit]:
        return self._hits
