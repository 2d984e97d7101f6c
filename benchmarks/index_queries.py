"""How long searches take, asked in turn, and whether they find the same."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from benchmarks.index_corpus import Queries
from benchmarks.report import BenchmarkError

__all__ = [
    "Ask",
    "Hits",
    "K",
    "Name",
    "Searcher",
    "Times",
    "check_parity",
    "in_turn",
    "interleaved",
    "throughput",
]

K = 10
_WARM = 3
_TOLERANCE = 1e-5

Hits = list[tuple[int, float]]
"""Passages with their scores, best first."""
Ask = Callable[[], Hits]
Name = tuple[str, int]
"""A side and how many segments it searches."""


class Searcher(Protocol):
    """A side that was opened."""

    def asked(self, terms: Sequence[int]) -> Ask:
        """A query in the form that the side takes; only calling it is timed."""

    def batch(self, queries: Queries, threads: int) -> None:
        """Answer many queries."""


@dataclass(frozen=True)
class Times:
    """Milliseconds over so many queries."""

    queries: int
    p50: float
    p95: float


def interleaved(
    searchers: Mapping[Name, Searcher], queries: Queries, budget: float
) -> dict[Name, Times]:
    """Times of each side, in another order at each query.

    A side that has taken `budget` seconds is not asked any more.
    """
    rng = np.random.default_rng(1)
    names = list(searchers)
    taken: dict[Name, list[float]] = {name: [] for name in names}
    for searcher in searchers.values():
        for terms in queries[:_WARM]:
            searcher.asked(terms)()
    for terms in queries:
        for at in rng.permutation(len(names)):
            name = names[at]
            if sum(taken[name]) < budget:
                ask = searchers[name].asked(terms)
                begin = time.perf_counter()
                ask()
                taken[name].append(time.perf_counter() - begin)
    return {
        name: Times(
            len(its), 1000 * float(np.percentile(its, 50)), 1000 * float(np.percentile(its, 95))
        )
        for name, its in taken.items()
    }


def throughput(searcher: Searcher, queries: Queries, threads: int) -> float:
    """Queries a second, after what a first batch compiles."""
    searcher.batch(queries[:_WARM], threads)
    begin = time.perf_counter()
    searcher.batch(queries, threads)
    return len(queries) / (time.perf_counter() - begin)


def in_turn(searcher: Searcher, queries: Queries, threads: int) -> None:
    """A batch for a side that takes one query at a time."""
    asks = [searcher.asked(terms) for terms in queries]
    if threads == 1:
        for ask in asks:
            ask()
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda ask: ask(), asks))


def check_parity(searchers: Mapping[Name, Searcher], oracle: Searcher, queries: Queries) -> None:
    """Refuse to go on where the best scores are not those of the oracle."""
    for terms in queries:
        wanted = [score for _, score in oracle.asked(terms)()]
        for (side, segments), searcher in searchers.items():
            found = [score for _, score in searcher.asked(terms)()]
            if len(found) != len(wanted) or not np.allclose(found, wanted, rtol=_TOLERANCE, atol=0):
                raise BenchmarkError(
                    f"{side}, {segments} segments: the best scores for the terms {terms} are "
                    f"{found}; bm25s gives {wanted}"
                )
