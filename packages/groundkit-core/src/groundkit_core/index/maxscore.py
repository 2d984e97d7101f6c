"""The best k of weighted postings: exact MaxScore in NumPy.

A term's weight is the most that it can add to a score. Terms go from the largest to the smallest;
once what is left cannot lift a new chunk into the best k, only the chunks that are known
are looked up. Every chunk adds its terms in the same order, whichever way they are found.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from groundkit_core.index.lexical import LexicalIndex, Postings, Scratch, Slice
from groundkit_core.index.segment_file import Array

__all__ = ["Norms", "Term", "best"]

Norms = Callable[[Array], Array]
"""What is added to the frequencies in the denominator, for some chunks."""

# Sums are compared with bounds that were added in another order.
_SLACK = 1 - 1e-9
# Fewer postings than this are scored before anything is decided.
_FEW = 8192
# So many postings at a time stay in the cache of a core.
_AT_ONCE = 1 << 16
# Looking a chunk up in a list costs as much as reading so many postings of it.
_LOOK_UP = 30
# Reading the sums of so many chunks in a row costs as much as reading that of one alone.
_IN_A_ROW = 8
# The work between two decisions grows by this.
_GROWTH = 8
_ROWS = 16
_LEAST = float(np.nextafter(0, 1))


@dataclass(frozen=True, slots=True)
class Term:
    """What multiplies a chunk's f / (f + norm), and the postings that give its f."""

    weight: float
    postings: Postings


class _Part(NamedTuple):
    weight: float
    size: int
    slices: Sequence[Slice]


def _parts(term: Term) -> Iterator[_Part]:
    """A term's postings, cut where they are many."""
    if term.postings.size <= _AT_ONCE:
        yield _Part(term.weight, term.postings.size, term.postings.slices)
        return
    for number, first, last in term.postings.slices:
        for start in range(first, last, _AT_ONCE):
            end = min(start + _AT_ONCE, last)
            yield _Part(term.weight, end - start, [(number, start, end)])


def best(
    index: LexicalIndex, terms: Sequence[Term], norms: Norms, k: int, allowed: Array | None
) -> tuple[Array, Array]:
    """Chunks that score no less than the k-th best of those in a mask, ascending; their scores."""
    scratch = index.borrow()
    scan = _Scan(index, terms, norms, k, allowed, scratch)
    found = scan.run()
    scan.clean()
    # Only after a search that came to its end.
    index.give_back(scratch)
    return found


class _Scan:
    def __init__(
        self,
        index: LexicalIndex,
        terms: Sequence[Term],
        norms: Norms,
        k: int,
        allowed: Array | None,
        scratch: Scratch,
    ) -> None:
        self._index = index
        self._terms = terms
        self._norms = norms
        self._k = k
        self._allowed = allowed
        self._sums = scratch.sums
        self._flags = scratch.flags
        # left[i] bounds what terms i and later can add; done[i] counts the postings before them.
        self._left = [*accumulate((term.weight for term in reversed(terms)), initial=0.0)][::-1]
        self._done = [0, *accumulate(term.postings.size for term in terms)]
        self._floor = 0.0
        self._touched: list[Array] = []
        self._scored = 0

    def run(self) -> tuple[Array, Array]:
        at, chunks = 0, np.empty(0, np.int64)
        while self._open(at):
            stop = self._stop(at)
            for piece in self._pieces(at, stop):
                self._score(piece)
            at = stop
            chunks = self._lead(at)
        if at < len(self._terms):
            chunks = self._look_up(at, self._known(at))
        scores = self._sums.take(chunks)
        kept = scores >= max(self._floor, _LEAST)
        return chunks[kept], scores[kept]

    def _open(self, at: int) -> bool:
        """Whether term `at` can bring a chunk that is not known."""
        return at < len(self._terms) and self._left[at] >= self._floor * _SLACK

    def _stop(self, at: int) -> int:
        """Where to decide anew; the work between two decisions grows."""
        limit = max(_FEW, _GROWTH * self._done[at])
        at += 1
        while self._open(at) and self._done[at + 1] <= limit:
            at += 1
        return at

    def _pieces(self, at: int, stop: int) -> Iterator[list[_Part]]:
        """The postings of some terms in order, so many at once as stay in the cache."""
        piece: list[_Part] = []
        room = _AT_ONCE
        for term in self._terms[at:stop]:
            for part in _parts(term):
                if part.size > room:
                    yield piece
                    piece, room = [], _AT_ONCE
                piece.append(part)
                room -= part.size
        yield piece

    def _score(self, piece: Sequence[_Part]) -> None:
        chunks, frequencies = self._gather(piece)
        ends = [*accumulate(part.size for part in piece)]
        if self._allowed is not None:
            kept = self._allowed.take(chunks).nonzero()[0]
            chunks, frequencies = chunks.take(kept), frequencies.take(kept)
            ends = kept.searchsorted(ends).tolist()
        scores = self._impact(chunks, frequencies)
        start = 0
        for part, end in zip(piece, ends, strict=True):
            scores[start:end] *= part.weight
            start = end
        # One after another, so that each sum has the order of the terms.
        np.add.at(self._sums, chunks, scores)
        self._scored += len(chunks)
        self._touched.append(chunks)

    def _gather(self, piece: Sequence[_Part]) -> tuple[Array, Array]:
        return self._index.gather([each for part in piece for each in part.slices])

    def _impact(self, chunks: Array, frequencies: Array) -> Array:
        impact = frequencies.astype(np.float64)
        norms = self._norms(chunks)
        norms += impact
        impact /= norms
        return impact

    def _lead(self, copies: int) -> Array:
        """Lift the floor to the k-th best sum; gives chunks with the best, ascending."""
        chunks, scores = self._seen()
        if not self._crowded():
            chunks = _distinct(chunks[scores >= self._low(scores, copies)])
            scores = self._sums.take(chunks)
        if len(scores) < self._k:
            return chunks
        lowest = _nth_best(scores, self._k)
        self._floor = max(self._floor, lowest)
        found: Array = chunks[scores >= lowest]
        return found

    def _seen(self) -> tuple[Array, Array]:
        """Chunks that were scored, where they are few each as often as it has terms."""
        if self._crowded():
            chunks = (self._sums >= max(self._floor, _LEAST)).nonzero()[0]
        else:
            chunks = self._touched[0]
            if len(self._touched) > 1:
                chunks = np.concatenate(self._touched)
                self._touched = [chunks]
        return chunks, self._sums.take(chunks)

    def _low(self, scores: Array, copies: int) -> float:
        """A score that at least k chunks reach, each being there at most so often."""
        wanted = self._k * copies
        width = len(scores) // _ROWS
        if width > wanted:
            scores = scores[: width * _ROWS].reshape(_ROWS, width).max(axis=0)
        return _nth_best(scores, wanted) if len(scores) > wanted else 0.0

    def _crowded(self) -> bool:
        """Whether so much was scored that reading all sums in a row costs less."""
        return self._scored * _IN_A_ROW > len(self._sums)

    def _known(self, at: int) -> Array:
        """The chunks that can be among the best, ascending."""
        bound = max(self._floor * _SLACK - self._left[at], _LEAST)
        if self._crowded():
            return (self._sums >= bound).nonzero()[0]
        chunks, scores = self._seen()
        return _distinct(chunks[scores >= bound])

    def _look_up(self, at: int, chunks: Array) -> Array:
        """Add the terms from `at` on to the chunks that can still be among the best."""
        flagged = chunks[:0]
        scores = self._sums.take(chunks)
        for position in range(at, len(self._terms)):
            bound = self._floor * _SLACK - self._left[position]
            chunks = chunks[scores >= bound]
            term = self._terms[position]
            if term.postings.size > _LOOK_UP * len(chunks):
                places, gains = self._probe(chunks, term)
                self._sums[chunks[places]] += gains
            else:
                if not flagged.size or len(flagged) > 2 * len(chunks):
                    self._flags[flagged] = False
                    self._flags[chunks] = True
                    flagged = chunks
                for piece in self._pieces(position, position + 1):
                    self._filter(piece)
            scores = self._sums.take(chunks)
            above = scores[scores > self._floor]
            if len(above) >= self._k:
                self._floor = _nth_best(above, self._k)
        self._flags[flagged] = False
        return chunks

    def _filter(self, piece: Sequence[_Part]) -> None:
        """Add a term to the chunks that are flagged."""
        chunks, frequencies = self._gather(piece)
        kept = self._flags.take(chunks).nonzero()[0]
        chunks, frequencies = chunks.take(kept), frequencies.take(kept)
        self._sums[chunks] += piece[0].weight * self._impact(chunks, frequencies)

    def _probe(self, chunks: Array, term: Term) -> tuple[Array, Array]:
        """Which of some ascending chunks a term is in, and what it adds to them."""
        index = self._index
        cuts = chunks.searchsorted(index.bases).tolist()
        places, frequencies = [], []
        for number, start, end in term.postings.slices:
            first, last = cuts[number], cuts[number + 1]
            if first == last:
                continue
            segment = index.segments[number]
            wanted = chunks[first:last] - index.bases[number]
            there, held = segment.look_up(wanted.astype(np.uint32), start, end)
            places.append(there + first)
            frequencies.append(held)
        if not places:
            return np.empty(0, np.int64), np.empty(0)
        found = np.concatenate(places)
        return found, term.weight * self._impact(chunks[found], np.concatenate(frequencies))

    def clean(self) -> None:
        """Zero what was written to."""
        if self._crowded():
            self._sums.fill(0.0)
        else:
            for chunks in self._touched:
                self._sums[chunks] = 0.0


def _nth_best(scores: Array, n: int) -> float:
    at = len(scores) - n
    return float(np.partition(scores, at)[at])


def _distinct(chunks: Array) -> Array:
    """In ascending order, each once."""
    # Not np.unique, which imports numpy.ma.
    chunks = np.sort(chunks)
    return chunks[np.concatenate(([True], chunks[1:] != chunks[:-1]))[: len(chunks)]]
