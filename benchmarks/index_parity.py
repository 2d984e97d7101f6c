"""Whether searches find what they have to, before any of them is timed."""

from collections.abc import Mapping

import numpy as np

from benchmarks.index_corpus import Queries
from benchmarks.index_filters import FILTERS, Filter
from benchmarks.index_queries import Hits, K, Name, Ranker, Searcher
from benchmarks.report import BenchmarkError

__all__ = ["check_filters", "check_parity"]

_TOLERANCE = 1e-5


def check_parity(searchers: Mapping[Name, Searcher], oracle: Searcher, queries: Queries) -> None:
    """Refuse to go on where the best scores are not those of the oracle."""
    for terms in queries:
        wanted = [score for _, score in oracle.asked(terms)()]
        for (side, segments), searcher in searchers.items():
            found = [score for _, score in searcher.asked(terms)()]
            if not _alike(found, wanted):
                raise BenchmarkError(
                    f"{side}, {segments} segments: the best scores for the terms {terms} are "
                    f"{found}; bm25s gives {wanted}"
                )


def check_filters(searchers: Mapping[Name, Searcher], ranker: Ranker, queries: Queries) -> None:
    """Refuse to go on where hits under a filter are not the first that it keeps of a full ranking.

    Of passages with one score any may come first.
    """
    for terms in queries:
        ranking = ranker.ranked(terms)
        scores = dict(ranking)
        for kept in FILTERS:
            wanted = _best(ranking, kept)
            for (side, segments), searcher in searchers.items():
                hits = searcher.asked(terms, kept)()
                given = [scores.get(at, 0.0) if kept.holds(at) else 0.0 for at, _ in hits]
                found = [score for _, score in hits]
                if not (_alike(found, wanted) and _alike(given, wanted)):
                    raise BenchmarkError(
                        f"{side}, {segments} segments, {kept.name}: the hits for the terms {terms} "
                        f"are {hits}; the first scores of the full ranking are {wanted}"
                    )


def _best(ranking: Hits, kept: Filter) -> list[float]:
    return [score for passage, score in ranking if kept.holds(passage)][:K]


def _alike(found: list[float], wanted: list[float]) -> bool:
    return len(found) == len(wanted) and np.allclose(found, wanted, rtol=_TOLERANCE, atol=0)
