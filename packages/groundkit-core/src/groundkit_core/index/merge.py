"""Merging lexical segments: one file in place of many, no score changed by a bit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from groundkit_core.index.counting import Block, joined
from groundkit_core.index.segment_file import Array

__all__ = ["Part", "due", "merged"]

FANOUT = 8
"""How many neighbours of one tier become one segment of the next."""
_SMALLEST_TIER = 1000
# So many postings are moved at a time, but for those of one term.
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """A segment's arrays and the ordinals of its dead chunks."""

    arrays: dict[str, Array]
    dead: Array

    @property
    def live(self) -> int:
        """Number of live chunks."""
        return len(self.arrays["seq"]) - len(self.dead)


def _tier(live: int) -> int:
    tier, size = 0, _SMALLEST_TIER
    while live >= size:
        tier, size = tier + 1, size * FANOUT
    return tier


def due(sizes: Sequence[tuple[int, int]]) -> range | None:
    """Which neighbouring segments to merge next, given each one's live and dead chunks.

    Eight of one tier in a row, with smaller ones between them, become one; a segment that is mostly
    dead is rewritten alone.
    """
    tiers = [_tier(live) for live, _ in sizes]
    for tier in sorted(set(tiers)):
        end = len(tiers)
        while end > 0:
            start = end
            while start > 0 and tiers[start - 1] <= tier:
                start -= 1
            if tiers[start:end].count(tier) >= FANOUT:
                return range(start, end)
            end = start if start < end else end - 1
    for index, (live, dead) in enumerate(sizes):
        if dead > live:
            return range(index, index + 1)
    return None


def merged(parts: Sequence[Part]) -> dict[str, Array]:
    """The arrays of one segment with the live chunks of all; parts come in order of `seq`."""
    terms = np.sort(np.concatenate([part.arrays["terms"] for part in parts]))
    terms = terms[np.concatenate(([True], terms[1:] != terms[:-1]))[: len(terms)]]
    sources, offset = [], 0
    for part in parts:
        sources.append(_Source(part, terms, offset))
        offset += part.live
    per_term = np.zeros(len(terms), np.int64)
    for source in sources:
        for rows, counts, _, _ in source.blocks():
            per_term[rows] += counts
    kept = per_term > 0
    if not kept.all():
        terms, per_term = terms[kept], per_term[kept]
        places = np.cumsum(kept) - 1
        for source in sources:
            source.rows = places[source.rows]
    blocks = (block for source in sources for block in source.blocks())
    offsets, ordinals, frequencies = joined(per_term, blocks)
    return {
        "terms": terms,
        "offsets": offsets,
        "ordinals": ordinals,
        "frequencies": frequencies,
        **{
            name: np.concatenate([np.delete(part.arrays[name], part.dead) for part in parts])
            for name in ("lengths", "seq", "doc", "content", "id", "embed")
        },
    }


class _Source:
    """The live postings of a part, with the rows and ordinals that they are to have."""

    def __init__(self, part: Part, terms: Array, offset: int) -> None:
        self._arrays = part.arrays
        self.rows = np.searchsorted(terms, part.arrays["terms"])
        self._offset = offset
        self._places: Array | None = None
        if len(part.dead):
            alive = np.ones(len(part.arrays["seq"]), dtype=bool)
            alive[part.dead] = False
            self._places = np.where(alive, np.cumsum(alive) - 1 + offset, -1)

    def blocks(self) -> Iterator[Block]:
        """Some terms at a time."""
        offsets = self._arrays["offsets"].astype(np.int64)
        cuts = [0, *offsets.searchsorted(range(_AT_ONCE, int(offsets[-1]), _AT_ONCE)).tolist()]
        for first, last in pairwise([*cuts, len(offsets) - 1]):
            if first < last:
                yield self._block(offsets[first : last + 1], self.rows[first:last])

    def _block(self, offsets: Array, rows: Array) -> Block:
        start, end = int(offsets[0]), int(offsets[-1])
        ordinals, counts = self._arrays["ordinals"][start:end], np.diff(offsets)
        frequencies = self._arrays["frequencies"][start:end]
        if self._places is None:
            return rows, counts, ordinals + np.uint32(self._offset), frequencies
        ordinals = self._places[ordinals]
        alive = ordinals >= 0
        counts = np.add.reduceat(alive, offsets[:-1] - start, dtype=np.int64)
        held = counts > 0
        return rows[held], counts[held], ordinals[alive], frequencies[alive]
