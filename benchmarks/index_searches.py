"""Times and throughput of searches at one size, after their scores were found equal."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from groundkit_core.index.lexical import LexicalSegment
from groundkit_core.index.view import Contents

from benchmarks.index_collection import SearchIn
from benchmarks.index_corpus import Corpus, Queries
from benchmarks.index_groundkit import Kernel
from benchmarks.index_queries import (
    Name,
    Searcher,
    Times,
    check_parity,
    interleaved,
    throughput,
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
_OURS = (OURS, COMMITTED, COLLECTION)
_PEERS = (NUMBA, NUMPY, FTS5, TANTIVY, EIGHT)
_FILTERS = ("filter 1 %", "filter 10 %")
_CHECKED = 30
_SHORT, _LONG, _MOST = 300, 100, 1_000
_BUDGET, _BATCH_SECONDS = 20.0, 5.0


def checked_searchers(
    corpus: Corpus,
    base: Path,
    committed: Contents,
    compacted: Contents,
    eight: Sequence[LexicalSegment],
) -> dict[Name, Searcher]:
    """All sides, opened; those of groundkit give the scores that bm25s gives."""
    collection = folder_of(base, COLLECTION)
    ours: dict[Name, Searcher] = {
        (OURS, 1): Kernel(corpus, compacted.segments),
        (OURS, len(eight)): Kernel(corpus, eight),
        (COMMITTED, len(committed.segments)): Kernel(corpus, committed.segments),
        (COLLECTION, 1): OPENERS[COLLECTION].make().open(corpus, collection),
        (COLLECTION, len(eight)): SearchIn.over(collection, eight),
    }
    peers = _peers(corpus, base)
    oracle = peers[(NUMBA, 1)]
    check_parity(ours, oracle, [*corpus.queries[:_CHECKED], *corpus.long_queries[:_CHECKED]])
    return {**ours, **peers}


def _peers(corpus: Corpus, base: Path) -> dict[Name, Searcher]:
    found: dict[Name, Searcher] = {}
    for side in _PEERS:
        opener = OPENERS[side]
        searcher = opener.make().open(corpus, folder_of(base, opener.built))
        found[(side, getattr(searcher, "segments", 1))] = searcher
    return found


def search_rows(corpus: Corpus, searchers: Mapping[Name, Searcher]) -> list[Row]:
    """A row for each side and length of query; what cannot be measured yet says so."""
    rows: list[Row] = []
    for kind, queries in (
        (SHORT, corpus.queries[:_SHORT]),
        (LONG, corpus.long_queries[:_LONG]),
    ):
        times = interleaved(searchers, queries, _BUDGET)
        peer = times[(NUMBA, 1)]
        rows += [_row(corpus, kind, name, found, peer) for name, found in times.items()]
        if kind == SHORT:
            rows += [_no_row(corpus, f"{kind}, {what}") for what in _FILTERS]
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


def _no_row(corpus: Corpus, kind: str) -> Row:
    missing = dict.fromkeys(("segments", "asked", "p50", "p95", "p50 / bm25s numba"), "not yet")
    return {"corpus": corpus.name, "queries": kind, "side": OURS, **missing}


def batch_rows(
    corpus: Corpus, searchers: Mapping[Name, Searcher], searches: list[Row]
) -> list[Row]:
    """Queries a second on one thread and on all; as many as take some seconds."""
    threads = os.cpu_count() or 1
    rows: list[Row] = []
    for name, searcher in searchers.items():
        side, segments = name
        p50 = next(row["p50"] for row in searches if (row["side"], row["segments"]) == name)
        queries: Queries = corpus.queries[: min(_MOST, max(20, int(1000 * _BATCH_SECONDS / p50)))]
        rows.append(
            {
                "corpus": corpus.name,
                "side": side,
                "segments": segments,
                "batch": len(queries),
                "one thread": throughput(searcher, queries, 1),
                "all cores": throughput(searcher, queries, threads),
            }
        )
    return rows
