"""Times and throughput of searches at one size, after their scores were found equal."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from groundkit_core.index.lexical import LexicalSegment
from groundkit_core.index.view import Contents

from benchmarks.index_collection import SearchIn
from benchmarks.index_corpus import Corpus, Queries
from benchmarks.index_filters import FILTERS
from benchmarks.index_groundkit import Kernel
from benchmarks.index_parity import check_filters, check_parity
from benchmarks.index_progress import say
from benchmarks.index_queries import (
    Name,
    Ranker,
    Searcher,
    Times,
    at_once,
    interleaved,
    per_second,
)
from benchmarks.index_sides import (
    COLLECTION,
    EIGHT,
    FTS5,
    NUMBA,
    NUMPY,
    OPENERS,
    OURS,
    TANTIVY,
    folder_of,
)
from benchmarks.report import Row

__all__ = ["COMMITTED", "LONG", "SHORT", "batch_rows", "checked_searchers", "search_rows"]

COMMITTED = "groundkit, as committed"
SHORT, LONG = "short", "30 terms"
_PEERS = (NUMBA, NUMPY, FTS5, TANTIVY, EIGHT)
_CHECKED, _CHECKED_FILTERED, _CHECKED_PEERS = 30, 10, 3
_SHORT, _LONG = 300, 100
_BUDGET = 8.0
_MOST, _LEAST, _BATCH_SECONDS, _ROUNDS = 1_000, 5, 1.0, 3


def checked_searchers(
    corpus: Corpus,
    base: Path,
    committed: Contents,
    compacted: Contents,
    eight: Sequence[LexicalSegment],
) -> dict[Name, Searcher]:
    """All sides, opened; those of groundkit give the scores that bm25s gives.

    Under a filter each gives the first that it keeps of the ranking of all.
    """
    collection = folder_of(base, COLLECTION)
    ours: dict[Name, Searcher] = {
        (OURS, 1): Kernel(corpus, compacted.lexical.segments),
        (OURS, len(eight)): Kernel(corpus, eight),
        (COMMITTED, len(committed.lexical.segments)): Kernel(corpus, committed.lexical.segments),
        (COLLECTION, 1): OPENERS[COLLECTION].make().open(corpus, collection),
        (COLLECTION, len(eight)): SearchIn.over(collection, eight),
    }
    peers = _peers(corpus, base)
    oracle = peers[(NUMBA, 1)]
    check_parity(ours, oracle, _some(corpus, _CHECKED))
    check_filters(ours, oracle, _some(corpus, _CHECKED_FILTERED))
    for name, peer in peers.items():
        check_filters({name: peer}, peer, _some(corpus, _CHECKED_PEERS))
    return {**ours, **peers}


def _some(corpus: Corpus, count: int) -> Queries:
    return [*corpus.queries[:count], *corpus.long_queries[:count]]


def _peers(corpus: Corpus, base: Path) -> dict[Name, Ranker]:
    found: dict[Name, Ranker] = {}
    for side in _PEERS:
        opener = OPENERS[side]
        searcher = opener.make().open(corpus, folder_of(base, opener.built))
        assert isinstance(searcher, Ranker)
        found[(side, getattr(searcher, "segments", 1))] = searcher
    return found


def search_rows(corpus: Corpus, searchers: Mapping[Name, Searcher]) -> list[Row]:
    """A row for each side, length of query and filter."""
    rows: list[Row] = []
    for length, queries in (
        (SHORT, corpus.queries[:_SHORT]),
        (LONG, corpus.long_queries[:_LONG]),
    ):
        for kept in (None, *FILTERS):
            kind = f"{length}, {kept.name}" if kept else length
            say(f"{corpus.name}: searching, {kind} ...")
            times = interleaved(searchers, queries, _BUDGET, kept)
            peer = times[(NUMBA, 1)]
            rows += [_row(corpus, kind, name, found, peer) for name, found in times.items()]
    return rows


def _row(corpus: Corpus, kind: str, name: Name, found: Times, peer: Times) -> Row:
    side, segments = name
    return {
        "corpus": corpus.name,
        "queries": kind,
        "side": side,
        "segments": segments,
        "asked": found.queries,
        "p50": found.p50,
        "p95": found.p95,
        "p50 / bm25s numba": found.p50 / peer.p50,
    }


def batch_rows(
    corpus: Corpus, searchers: Mapping[Name, Searcher], searches: list[Row]
) -> list[Row]:
    """Queries a second, the median of some rounds; as many as take a second."""
    asked = {name: _as_many(corpus, searches, name) for name in searchers}
    rounds = [
        {name: _speeds(searcher, asked[name]) for name, searcher in searchers.items()}
        for _ in range(_ROUNDS)
    ]
    rows: list[Row] = []
    for name in searchers:
        side, segments = name
        speeds = {what: _median([its[name][what] for its in rounds]) for what in rounds[0][name]}
        about = {"corpus": corpus.name, "side": side, "segments": segments}
        rows.append({**about, "asked": len(asked[name]), **speeds})
    return rows


def _median(speeds: Sequence[float | None]) -> float | str:
    found = [speed for speed in speeds if speed is not None]
    return statistics.median(found) if found else "-"


def _as_many(corpus: Corpus, searches: list[Row], name: Name) -> Queries:
    p50 = next(row["p50"] for row in searches if (row["side"], row["segments"]) == name)
    return corpus.queries[: min(_MOST, max(_LEAST, int(1000 * _BATCH_SECONDS / p50)))]


def _speeds(searcher: Searcher, queries: Queries) -> dict[str, float | None]:
    asks = [searcher.asked(terms) for terms in queries]
    return {
        "1 thread": per_second(asks, 1),
        "2 threads": per_second(asks, 2),
        "in one call": at_once(searcher, queries, 1),
        "in one call, 2 threads": at_once(searcher, queries, 2),
    }
