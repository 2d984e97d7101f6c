"""Merging lexical segments: one file in place of many, no score changed by a bit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundkit_core.index.segment_file import Array

__all__ = ["Part", "due", "merged"]

FANOUT = 8
"""How many neighbours of one tier become one segment of the next."""
_SMALLEST_TIER = 1000


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
    places = _new_ordinals(parts)
    terms = np.unique(np.concatenate([part.arrays["terms"] for part in parts]))
    lists = [_live_postings(part, place, terms) for part, place in zip(parts, places, strict=True)]
    per_term = np.vstack([counts for counts, _, _ in lists]).sum(axis=0)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(per_term)))
    ordinals = np.empty(int(starts[-1]), np.uint32)
    frequencies = np.empty(
        int(starts[-1]), np.result_type(*(part.arrays["frequencies"] for part in parts))
    )
    filled = starts[:-1].copy()
    for counts, live_ordinals, live_frequencies in lists:
        # A part's postings of a term follow those of the parts before it.
        first = np.cumsum(counts) - counts
        target = np.repeat(filled - first, counts) + np.arange(len(live_ordinals))
        ordinals[target] = live_ordinals
        frequencies[target] = live_frequencies
        filled += counts
    kept = per_term > 0
    return {
        "terms": terms[kept],
        "offsets": np.concatenate(([0], np.cumsum(per_term[kept]))).astype(np.uint64),
        "ordinals": ordinals,
        "frequencies": frequencies,
        **{
            name: np.concatenate([np.delete(part.arrays[name], part.dead) for part in parts])
            for name in ("lengths", "seq", "doc", "content", "id")
        },
    }


def _new_ordinals(parts: Sequence[Part]) -> list[Array]:
    """For each part, the merged ordinal of every chunk, -1 for a dead one."""
    found, offset = [], 0
    for part in parts:
        alive = np.ones(len(part.arrays["seq"]), dtype=bool)
        alive[part.dead] = False
        found.append(np.where(alive, np.cumsum(alive) - 1 + offset, -1))
        offset += int(alive.sum())
    return found


def _live_postings(part: Part, place: Array, terms: Array) -> tuple[Array, Array, Array]:
    """Live postings per merged term, and all of them with their merged ordinals."""
    arrays = part.arrays
    offsets = arrays["offsets"].astype(np.int64)
    widths = offsets[1:] - offsets[:-1]
    term = np.repeat(np.searchsorted(terms, arrays["terms"]), widths)
    ordinals = place[arrays["ordinals"]]
    alive = ordinals >= 0
    counts = np.bincount(term[alive], minlength=len(terms))
    return counts, ordinals[alive], arrays["frequencies"][alive]
