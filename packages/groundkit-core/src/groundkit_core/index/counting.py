"""What a lexical segment is built of: the terms of texts, counted and sorted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from groundkit_core.index.segment_file import Array
from groundkit_core.terms import Analyzer, words

__all__ = ["Block", "ChunkKeys", "TermCounts", "build_arrays", "count", "count_terms", "joined"]

Block = tuple[Array, Array, Array, Array]
"""Rows of terms, ascending, how many postings each has, their ordinals and frequencies."""

_KEY_BYTES = 8
_LOW_BITS = np.uint64(32)
_TEXTS_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class ChunkKeys:
    """What a segment keeps of each chunk: rows of it and its document, heads of hashes and id."""

    seq: Array
    doc: Array
    content: Array
    id: Array
    embed: Array


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

    return count(*tokenize(texts, words, analyzer.word_keys))


def count(ids: list[list[int]], word_keys: Sequence[bytes]) -> TermCounts:
    """Count the terms of texts, given as word ids, and the keys of the terms of each word."""
    flat = np.frombuffer(b"".join(word_keys), dtype=">u8").astype(np.uint64)
    hashes, ranks = np.unique(flat, return_inverse=True)
    widths = np.fromiter(map(len, word_keys), dtype=np.int64, count=len(word_keys)) // _KEY_BYTES
    table = _Terms(widths, ranks)
    blocks, lengths = [], [np.empty(0, np.int64)]
    for first in range(0, len(ids), _TEXTS_AT_ONCE):
        keys, its = table.keys(ids[first : first + _TEXTS_AT_ONCE], first)
        blocks.append(_counted(keys))
        lengths.append(its)
    per_term = np.zeros(len(hashes), np.int64)
    for rows, counts, _, _ in blocks:
        per_term[rows] += counts
    offsets, ordinals, frequencies = joined(per_term, blocks)
    return TermCounts(
        hashes, offsets, ordinals, frequencies, np.concatenate(lengths).astype(np.uint32)
    )


class _Terms:
    """The terms that each word is, by their ranks."""

    def __init__(self, widths: Array, ranks: Array) -> None:
        self._widths = widths
        self._starts = np.cumsum(widths) - widths
        self._high = ranks.astype(np.uint64) << _LOW_BITS
        self._lone = bool((widths == 1).all())

    def keys(self, ids: list[list[int]], first: int) -> tuple[Array, Array]:
        """For each term of some texts its rank and, below, its text's number; terms per text."""
        per_text = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        flat = np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=int(per_text.sum()))
        if not self._lone:
            widths = self._widths[flat]
            ends = np.cumsum(widths)
            flat = np.repeat(self._starts[flat] - (ends - widths), widths)
            flat += np.arange(len(flat))
            per_text = np.diff(np.concatenate(([0], ends))[np.cumsum(per_text)], prepend=0)
        keys: Array = self._high[flat]
        keys |= np.repeat(np.arange(first, first + len(ids), dtype=np.uint64), per_text)
        return keys, per_text


def _counted(keys: Array) -> Block:
    keys.sort()
    first = _changes(keys)
    frequencies = _narrow(np.diff(first, append=len(keys)))
    keys = keys[first]
    ranks = (keys >> _LOW_BITS).astype(np.int64)
    starts = _changes(ranks)
    return ranks[starts], np.diff(starts, append=len(keys)), keys.astype(np.uint32), frequencies


def _changes(values: Array) -> Array:
    """Where another value begins."""
    found: Array = np.concatenate(([True], values[1:] != values[:-1]))[: len(values)].nonzero()[0]
    return found


def joined(per_term: Array, blocks: Iterable[Block]) -> tuple[Array, Array, Array]:
    """Offsets, ordinals and frequencies; what a later block holds of a term stands behind."""
    offsets = np.concatenate(([0], np.cumsum(per_term)))
    ordinals = np.empty(int(offsets[-1]), np.uint32)
    frequencies = np.empty(len(ordinals), np.uint8)
    filled = offsets[:-1].copy()
    for rows, counts, some, their_frequencies in blocks:
        target = np.repeat(filled[rows] - (np.cumsum(counts) - counts), counts)
        target += np.arange(len(some))
        ordinals[target] = some
        if their_frequencies.dtype.itemsize > frequencies.dtype.itemsize:
            frequencies = frequencies.astype(their_frequencies.dtype)
        frequencies[target] = their_frequencies
        filled[rows] += counts
    return offsets.astype(np.uint64), ordinals, _narrow(frequencies)


def _narrow(values: Array) -> Array:
    """The values in the smallest unsigned type that holds them all."""
    if values.dtype == np.uint8:
        return values
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
        "embed": keys.embed.astype(np.uint64),
    }
