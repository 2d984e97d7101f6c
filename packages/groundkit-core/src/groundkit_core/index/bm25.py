"""BM25, Lucene variant, over many segments as if they were one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

import numpy as np

from groundkit_core.errors import CollectionCorruptError
from groundkit_core.index.lexical import LexicalIndex
from groundkit_core.index.maxscore import Norms, Term, best
from groundkit_core.index.segment_file import Array

__all__ = ["K1", "B", "Hit", "Statistics", "search", "statistics"]

K1 = 1.5
B = 0.75

# So few distinct lengths that a table of them stays in the cache.
_FEW_LENGTHS = 1 << 16


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
    """A chunk's score, heads of its id (which breaks ties) and text hash, and the two rows."""

    score: float
    key: int
    content: int
    seq: int
    doc: int


def statistics(index: LexicalIndex, chunks: int, terms: int, query: Iterable[int]) -> Statistics:
    """Global statistics for the terms of a query."""
    found = index.find(tuple(query))
    return Statistics(chunks, terms, {term: index.live(its) for term, its in found.items()})


def search(
    index: LexicalIndex,
    query: Mapping[int, float],
    stats: Statistics,
    k: int,
    allowed: Array | None = None,
) -> list[Hit]:
    """The best k chunks by (score descending, id) for weighted terms, of those in a mask."""
    found = index.find(tuple(query))
    weighted = sorted(
        (-weight * stats.idf(term), term)
        for term, weight in query.items()
        if stats.frequencies[term] and found[term].size
    )
    if not weighted:
        return []
    if not stats.terms:
        raise CollectionCorruptError("the segments hold terms where none are recorded")
    average = stats.terms / stats.chunks
    terms = [Term(-weight, found[term]) for weight, term in weighted]
    chunks, scores = best(index, terms, _norms(index, average), k, allowed)
    return _hits(index, chunks, scores, k)


def _norms(index: LexicalIndex, average: float) -> Norms:
    """The length term of chunks; infinite for a dead one, which so adds nothing."""
    lengths, dead = index.lengths()
    if dead < _FEW_LENGTHS:
        table = np.arange(dead + 1) * (K1 * B / average) + K1 * (1 - B)
        table[dead] = np.inf
        return lambda chunks: table.take(lengths.take(chunks))

    def computed(chunks: Array) -> Array:
        held = lengths.take(chunks)
        return np.where(held == dead, np.inf, held * (K1 * B / average) + K1 * (1 - B))

    return computed


def _hits(index: LexicalIndex, chunks: Array, scores: Array, k: int) -> list[Hit]:
    if len(chunks) > k:
        order = np.lexsort((index.ids(chunks), -scores))[:k]
        chunks, scores = chunks[order], scores[order]
    hits = []
    for chunk, score in zip(chunks.tolist(), scores.tolist(), strict=True):
        its, at = index.place(chunk)
        hits.append(
            Hit(score, its.id.item(at), its.content.item(at), its.seq.item(at), its.doc.item(at))
        )
    hits.sort(key=lambda hit: (-hit.score, hit.key))
    return hits
