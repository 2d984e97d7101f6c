"""Lexical segments: postings of raw term frequencies, built once, never changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np

from groundkit_core.errors import CollectionCorruptError
from groundkit_core.index.segment_file import Array, SegmentFile, open_segment
from groundkit_core.terms import Analyzer, term_hash, words

__all__ = ["ChunkKeys", "LexicalSegment", "build_arrays", "count_terms"]


@dataclass(frozen=True, slots=True)
class ChunkKeys:
    """What a segment keeps of each chunk: row number, document row, text key, id key."""

    seq: Array
    doc: Array
    content: Array
    id: Array


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Postings of a batch: term hash, chunk ordinal and frequency, sorted by hash and ordinal."""

    hashes: Array
    offsets: Array
    ordinals: Array
    frequencies: Array
    lengths: Array


def count_terms(texts: Sequence[str], analyzer: Analyzer) -> TermCounts:
    """Terms of each text, counted."""
    from groundkit_core.index.bm25s_bridge import tokenize

    # The "stem" of a word is all its terms, so that each distinct word is analysed once.
    ids, stems = tokenize(texts, words, lambda word: "\0".join(analyzer.word_terms(word)))
    table: dict[str, int] = {}
    spread: list[list[int]] = [
        [table.setdefault(term, len(table)) for term in joined.split("\0")] for joined in stems
    ]
    hashes = np.array([term_hash(term) for term in table], dtype=np.uint64)
    return _count(ids, spread, hashes)


def _count(ids: list[list[int]], spread: list[list[int]], hashes: Array) -> TermCounts:
    """Flatten (chunk, word) into (term, chunk) pairs and count them by one sort."""
    per_text = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    flat = np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=int(per_text.sum()))
    widths = np.fromiter(map(len, spread), dtype=np.int64, count=len(spread))
    starts = np.concatenate(([0], np.cumsum(widths)))
    terms = np.fromiter(chain.from_iterable(spread), dtype=np.int64, count=int(widths.sum()))
    chunk = np.repeat(np.arange(len(ids), dtype=np.int64), per_text)
    width = widths[flat]
    within = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width)
    term = terms[np.repeat(starts[flat], width) + within]
    chunk = np.repeat(chunk, width)
    lengths = np.bincount(chunk, minlength=len(ids)).astype(np.uint32)
    order = np.argsort(hashes)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    key = rank[term] * max(len(ids), 1) + chunk
    key.sort()
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))[: len(key)])
    frequencies = np.diff(np.concatenate((first, [len(key)])))
    key = key[first]
    per_term = np.bincount(key // max(len(ids), 1), minlength=len(hashes))
    return TermCounts(
        hashes[order],
        np.concatenate(([0], np.cumsum(per_term))).astype(np.uint64),
        (key % max(len(ids), 1)).astype(np.uint32),
        _narrow(frequencies),
        lengths,
    )


def _narrow(values: Array) -> Array:
    """The values in the smallest unsigned type that holds them all."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def build_arrays(counts: TermCounts, keys: ChunkKeys) -> dict[str, Array]:
    """The arrays of a segment file; `keys.seq` ascends."""
    return {
        "terms": counts.hashes,
        "offsets": counts.offsets,
        "ordinals": counts.ordinals,
        "frequencies": counts.frequencies,
        "lengths": counts.lengths,
        "seq": keys.seq.astype(np.uint64),
        "doc": keys.doc.astype(np.uint32),
        "content": keys.content.astype(np.uint64),
        "id": keys.id.astype(np.uint64),
    }


class LexicalSegment:
    """A mapped segment with its dead chunks taken out."""

    def __init__(self, name: str, arrays: dict[str, Array], dead: Array) -> None:
        self.name = name
        self._terms = arrays["terms"]
        self._offsets = arrays["offsets"]
        self._ordinals = arrays["ordinals"]
        self._frequencies = arrays["frequencies"]
        self.lengths = arrays["lengths"]
        self.seq = arrays["seq"]
        self.id = arrays["id"]
        self.content = arrays["content"]
        self.size = len(self.seq)
        self._alive: Array | None = None
        if len(dead):
            if int(dead.max()) >= self.size:
                raise CollectionCorruptError(f"{name}: a dead chunk lies beyond the segment")
            self._alive = np.ones(self.size, dtype=bool)
            self._alive[dead] = False

    @classmethod
    def open(cls, folder: Path, segment: SegmentFile, dead: Array) -> Self:
        """Map a segment file."""
        return cls(segment.file, open_segment(folder, segment), dead)

    def postings(self, term: int) -> tuple[Array, Array]:
        """Ordinals of the live chunks that hold a term, ascending, and how often each does."""
        at = int(np.searchsorted(self._terms, np.uint64(term)))
        if at == len(self._terms) or int(self._terms[at]) != term:
            return self._ordinals[:0], self._frequencies[:0]
        start, end = int(self._offsets[at]), int(self._offsets[at + 1])
        if not start <= end <= len(self._ordinals):
            raise CollectionCorruptError(f"{self.name}: a posting list lies beyond the file")
        ordinals, frequencies = self._ordinals[start:end], self._frequencies[start:end]
        if len(ordinals) and int(ordinals.max()) >= self.size:
            raise CollectionCorruptError(f"{self.name}: a posting lies beyond the segment")
        if self._alive is None:
            return ordinals, frequencies
        keep = self._alive[ordinals]
        return ordinals[keep], frequencies[keep]
