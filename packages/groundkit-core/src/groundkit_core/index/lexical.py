"""Lexical segments: postings of raw term frequencies, built once, never changed."""

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Self

import numpy as np

from groundkit_core.errors import CollectionCorruptError
from groundkit_core.index.segment_file import Array, SegmentFile, open_segment

__all__ = ["LexicalIndex", "LexicalSegment", "Postings", "Scratch", "Slice"]

Slice = tuple[int, int, int]
"""The number of a segment, and where in it some postings begin and end."""


# Looking a chunk up in a list costs as much as reading so many postings of it.
_LOOK_UP = 30


class LexicalSegment:
    """A mapped segment and which of its chunks are dead."""

    def __init__(self, name: str, arrays: dict[str, Array], dead: Array) -> None:
        self.name = name
        self._terms = arrays["terms"]
        self._offsets = arrays["offsets"]
        self.ordinals = arrays["ordinals"]
        self.frequencies = arrays["frequencies"]
        self.lengths = arrays["lengths"]
        self.seq = arrays["seq"]
        self.doc = arrays["doc"]
        self.content = arrays["content"]
        self.id = arrays["id"]
        self.embed = arrays["embed"]
        self.size = len(self.seq)
        self.dead = dead
        if len(dead) and int(dead.max()) >= self.size:
            raise CollectionCorruptError(f"{name}: a dead chunk lies beyond the segment")

    @classmethod
    def open(cls, folder: Path, segment: SegmentFile, dead: Array) -> Self:
        """Map a segment file."""
        return cls(segment.file, open_segment(folder, segment), dead)

    def find(self, hashes: Array) -> Iterator[tuple[int, int, int]]:
        """For each term that is here: its place in `hashes`, and where its postings lie."""
        terms, offsets, held = self._terms, self._offsets, len(self._terms)
        # One element at a time: a query has few terms, and a call of NumPy costs as much as many.
        wanted = zip(terms.searchsorted(hashes).tolist(), hashes.tolist(), strict=True)
        for place, (at, term) in enumerate(wanted):
            if at == held or terms.item(at) != term:
                continue
            start, end = offsets.item(at), offsets.item(at + 1)
            if not start <= end <= len(self.ordinals):
                raise CollectionCorruptError(f"{self.name}: a posting list lies beyond the file")
            if start < end:
                yield place, start, end

    def look_up(self, chunks: Array, start: int, end: int) -> tuple[Array, Array]:
        """Which of some ascending chunks are in a term's postings, and how often each holds it."""
        ordinals = self.ordinals[start:end]
        at = ordinals.searchsorted(chunks)
        there = (ordinals.take(at, mode="clip") == chunks).nonzero()[0]
        return there, self.frequencies[start:end].take(at.take(there))

    def count_dead(self, start: int, end: int) -> int:
        """How many of a term's postings are of dead chunks."""
        ordinals = self.ordinals[start:end]
        if len(self.dead) * _LOOK_UP > len(ordinals):
            return int(np.count_nonzero(self._is_dead.take(ordinals, mode="clip")))
        at = ordinals.searchsorted(self.dead)
        return int(np.count_nonzero(ordinals.take(at, mode="clip") == self.dead))

    @cached_property
    def _is_dead(self) -> Array:
        found = np.zeros(self.size, dtype=bool)
        found[self.dead] = True
        return found

    def of(self, wanted: Array) -> Array:
        """Which chunks are live and of the document rows in a mask, which ends in False."""
        found: Array = wanted.take(np.minimum(self.doc, len(wanted) - 1))
        found[self.dead] = False
        return found


@dataclass(slots=True)
class Postings:
    """Where a term's postings lie, and how many they are with the dead."""

    slices: list[Slice] = field(default_factory=list)
    size: int = 0


@dataclass(frozen=True, slots=True)
class Scratch:
    """A sum and a flag for each chunk, all of them zero."""

    sums: Array
    flags: Array


class LexicalIndex:
    """All lexical segments of a generation as one space of chunks, in order of first `seq`."""

    def __init__(self, segments: Sequence[LexicalSegment]) -> None:
        self.segments = tuple(segments)
        self.bases = (0, *accumulate(segment.size for segment in self.segments))
        self.size = self.bases[-1]
        self._local = threading.local()
        self._lengths: tuple[Array, int] | None = None

    def find(self, terms: Sequence[int]) -> dict[int, Postings]:
        """Where the postings of some terms lie; asked twice in a row, looked up once."""
        key = tuple(terms)
        before, answer = getattr(self._local, "found", ((), dict[int, Postings]()))
        if before == key:
            return answer
        hashes = np.array(key, np.uint64)
        found = [Postings() for _ in key]
        for number, segment in enumerate(self.segments):
            for place, start, end in segment.find(hashes):
                postings = found[place]
                postings.slices.append((number, start, end))
                postings.size += end - start
        answer = dict(zip(key, found, strict=True))
        self._local.found = (key, answer)
        return answer

    def live(self, postings: Postings) -> int:
        """Number of live chunks in a term's postings."""
        segments = self.segments
        return postings.size - sum(
            segments[number].count_dead(start, end)
            for number, start, end in postings.slices
            if len(segments[number].dead)
        )

    def gather(self, slices: Sequence[Slice]) -> tuple[Array, Array]:
        """Chunks and frequencies of some postings, one after another, the dead among them."""
        segments, bases = self.segments, self.bases
        chunks = np.concatenate([segments[n].ordinals[a:b] for n, a, b in slices], dtype=np.int64)
        frequencies = np.concatenate([segments[n].frequencies[a:b] for n, a, b in slices])
        counts = [b - a for _, a, b in slices]
        if len(segments) > 1:
            chunks += np.repeat([bases[n] for n, _, _ in slices], counts)
        starts = [0, *accumulate(counts[:-1])]
        highest = np.maximum.reduceat(chunks, starts).tolist()
        for (number, _, _), chunk in zip(slices, highest, strict=True):
            if chunk >= bases[number + 1]:
                raise CollectionCorruptError(
                    f"{segments[number].name}: a posting lies beyond the segment"
                )
        return chunks, frequencies

    def lengths(self) -> tuple[Array, int]:
        """The length of each live chunk, and what stands in its place for a dead one."""
        if self._lengths is None:
            longest = [int(segment.lengths.max(initial=0)) for segment in self.segments]
            beyond = max(longest, default=0) + 1
            lengths = np.empty(self.size, np.min_scalar_type(beyond))
            for base, segment in zip(self.bases, self.segments, strict=False):
                its = lengths[base : base + segment.size]
                its[:] = segment.lengths
                its[segment.dead] = beyond
            self._lengths = (lengths, beyond)
        return self._lengths

    def borrow(self) -> Scratch:
        """Arrays for one search of this thread, which gives them back zeroed."""
        held: Scratch | None = getattr(self._local, "scratch", None)
        self._local.scratch = None
        return held or Scratch(np.zeros(self.size), np.zeros(self.size, dtype=bool))

    def give_back(self, scratch: Scratch) -> None:
        """Keep zeroed arrays for the next search of this thread."""
        self._local.scratch = scratch

    def place(self, chunk: int) -> tuple[LexicalSegment, int]:
        """The segment of a chunk and its ordinal there."""
        number = bisect_right(self.bases, chunk) - 1
        return self.segments[number], chunk - self.bases[number]

    def ids(self, chunks: Array) -> Array:
        """Heads of the ids of some ascending chunks."""
        cuts = chunks.searchsorted(self.bases).tolist()
        parts = [
            segment.id.take(chunks[first:last] - base)
            for base, segment, first, last in zip(
                self.bases, self.segments, cuts, cuts[1:], strict=False
            )
            if first < last
        ]
        return _joined(parts, np.uint64)

    def mask(self, docs: Array) -> Array:
        """True for every live chunk of these document rows."""
        wanted = np.zeros(int(docs.max(initial=-1)) + 2, dtype=bool)
        wanted[docs] = True
        return _joined([segment.of(wanted) for segment in self.segments], np.bool_)

    def embedded(self, mask: Array) -> Array:
        """Keys of the texts of the chunks in a mask: the first eight bytes of their embed keys."""
        found = [
            segment.embed[mask[base : base + segment.size]]
            for base, segment in zip(self.bases, self.segments, strict=False)
        ]
        return _joined(found, np.uint64)


def _joined(parts: Sequence[Array], dtype: type[np.generic]) -> Array:
    return np.concatenate([np.empty(0, dtype), *parts])
