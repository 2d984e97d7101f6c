"""Chunks made up for the kernel: as a segment, and scored one by one."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from typing import NamedTuple

import numpy as np
import pytest
from groundkit_core.index import maxscore
from groundkit_core.index.lexical import LexicalSegment
from groundkit_core.index.segment_file import Array
from groundkit_core.terms import term_hash

K1, B = 1.5, 0.75
VOCABULARY = [term_hash(f"term {n}") for n in range(7)]

Query = Mapping[int, float]
"""Weights by the term's number in the vocabulary."""


class Entry(NamedTuple):
    """A chunk: frequency of each term, its length, a number for its id, and whether it is live."""

    tf: tuple[int, ...]
    length: int
    id: int
    alive: bool


def segment(name: str, chunks: Sequence[Entry]) -> LexicalSegment:
    """A segment of some chunks."""
    order = sorted(range(len(VOCABULARY)), key=lambda term: VOCABULARY[term])
    postings = [
        (term, at, chunk.tf[term])
        for term in order
        for at, chunk in enumerate(chunks)
        if chunk.tf[term]
    ]
    held = Counter(term for term, _, _ in postings)
    terms = [term for term in order if held[term]]
    arrays: dict[str, Array] = {
        "terms": np.array([VOCABULARY[term] for term in terms], np.uint64),
        "offsets": np.array([0, *np.cumsum([held[term] for term in terms])], np.uint64),
        "ordinals": np.array([at for _, at, _ in postings], np.uint32),
        "frequencies": np.array([tf for _, _, tf in postings], np.uint8),
        "lengths": np.array([chunk.length for chunk in chunks], np.uint32),
        "seq": np.array([chunk.id for chunk in chunks], np.uint64),
        "id": np.array([chunk.id for chunk in chunks], np.uint64),
        "content": np.array([chunk.id for chunk in chunks], np.uint64),
        "doc": np.array([chunk.id for chunk in chunks], np.uint32),
        "embed": np.array([chunk.id for chunk in chunks], np.uint64),
    }
    dead = [at for at, chunk in enumerate(chunks) if not chunk.alive]
    return LexicalSegment(name, arrays, np.array(dead, np.uint32))


def scan(
    chunks: Sequence[Entry], query: Query, k: int, allowed: Sequence[bool] | None = None
) -> list[tuple[float, int]]:
    """The best k by scoring every live chunk, terms added from the heaviest to the lightest."""
    live = [chunk for chunk in chunks if chunk.alive]
    average = sum(chunk.length for chunk in live) / len(live) if live else 0.0
    weights = []
    for term, weight in query.items():
        df = sum(chunk.tf[term] > 0 for chunk in live)
        weights.append((weight * log(1 + (len(live) - df + 0.5) / (df + 0.5)), term))
    scores = []
    for chunk, let_through in zip(chunks, allowed or [True] * len(chunks), strict=True):
        if not chunk.alive or not let_through:
            continue
        total = 0.0
        for weight, term in sorted(weights, key=lambda pair: (-pair[0], VOCABULARY[pair[1]])):
            norm = chunk.length * (K1 * B / average) + K1 * (1 - B)
            total += weight * (chunk.tf[term] / (chunk.tf[term] + norm)) if chunk.tf[term] else 0.0
        if total > 0:
            scores.append((total, chunk.id))
    return sorted(scores, key=lambda hit: (-hit[0], hit[1]))[:k]


COSTS: tuple[dict[str, int], ...] = (
    {},
    {"_FEW": 1, "_GROWTH": 1},
    {"_FEW": 1, "_GROWTH": 0, "_AT_ONCE": 2, "_IN_A_ROW": 0, "_ROWS": 2},
    {"_FEW": 1, "_LOOK_UP": 0, "_IN_A_ROW": 0, "_ROWS": 1},
    {"_FEW": 4, "_LOOK_UP": 10**6, "_AT_ONCE": 3, "_IN_A_ROW": 0},
    {"_FEW": 2, "_IN_A_ROW": 10**6, "_LOOK_UP": 1},
)
"""Settings that make the kernel take each of its ways on a few chunks."""


@contextmanager
def costs(settings: Mapping[str, int]) -> Iterator[None]:
    """The kernel as it would decide were its steps to cost otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setattr(maxscore, name, value)
        yield
