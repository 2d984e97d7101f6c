"""How long searches take, asked in turn."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from benchmarks.index_corpus import Queries
from benchmarks.index_filters import Filter

__all__ = [
    "Ask",
    "Batcher",
    "Hits",
    "K",
    "Name",
    "Ranker",
    "Searcher",
    "Times",
    "at_once",
    "interleaved",
    "per_second",
]

K = 10
_WARM, _WARM_SECONDS = 3, 1.0

Hits = list[tuple[int, float]]
"""Passages with their scores, best first."""
Ask = Callable[[], Hits]
Name = tuple[str, int]
"""A side and how many segments it searches."""


class Searcher(Protocol):
    """A side that was opened."""

    def asked(self, terms: Sequence[int], kept: Filter | None = None) -> Ask:
        """A query in the form that the side takes; only calling it is timed."""


@runtime_checkable
class Ranker(Searcher, Protocol):
    """One that can rank all that it finds."""

    def ranked(self, terms: Sequence[int]) -> Hits:
        """Every passage with one of the terms."""


@runtime_checkable
class Batcher(Searcher, Protocol):
    """One that takes many queries at once."""

    most_threads: int

    def batch(self, queries: Queries, threads: int) -> None:
        """Answer them."""


@dataclass(frozen=True)
class Times:
    """Milliseconds over so many queries."""

    queries: int
    p50: float
    p95: float


def interleaved(
    searchers: Mapping[Name, Searcher],
    queries: Queries,
    budget: float,
    kept: Filter | None = None,
) -> dict[Name, Times]:
    """Times of each side, in another order at each query.

    A side that has taken `budget` seconds is not asked any more.
    """
    rng = np.random.default_rng(1)
    names = list(searchers)
    taken: dict[Name, list[float]] = {name: [] for name in names}
    for searcher in searchers.values():
        _warm(searcher, queries, kept)
    for terms in queries:
        for at in rng.permutation(len(names)):
            name = names[at]
            if sum(taken[name]) < budget:
                ask = searchers[name].asked(terms, kept)
                begin = time.perf_counter()
                ask()
                taken[name].append(time.perf_counter() - begin)
    return {
        name: Times(
            len(its), 1000 * float(np.percentile(its, 50)), 1000 * float(np.percentile(its, 95))
        )
        for name, its in taken.items()
    }


def _warm(searcher: Searcher, queries: Queries, kept: Filter | None) -> None:
    """Ask a few queries, or fewer if they are slow."""
    begin = time.perf_counter()
    for terms in queries[:_WARM]:
        searcher.asked(terms, kept)()
        if time.perf_counter() - begin > _WARM_SECONDS:
            return


def per_second(asks: Sequence[Ask], threads: int) -> float:
    """Queries a second; each thread asks its share of them one after another."""
    shares = [asks[at::threads] for at in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        begin = time.perf_counter()
        list(pool.map(_ask_all, shares))
        return len(asks) / (time.perf_counter() - begin)


def at_once(searcher: Searcher, queries: Queries, threads: int) -> float | None:
    """Queries a second in one call, after what a first one compiles; None if it takes none such."""
    if not isinstance(searcher, Batcher) or threads > searcher.most_threads:
        return None
    searcher.batch(queries[:_WARM], threads)
    begin = time.perf_counter()
    searcher.batch(queries, threads)
    return len(queries) / (time.perf_counter() - begin)


def _ask_all(asks: Sequence[Ask]) -> None:
    for ask in asks:
        ask()
