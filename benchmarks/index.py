"""The index beside bm25s, SQLite FTS5 and tantivy, on the same terms."""

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.index_case import Case, measured_case
from benchmarks.index_corpus import zipf_corpus
from benchmarks.index_progress import say
from benchmarks.index_real import real_corpus, why_missing
from benchmarks.index_sides import MODULES, check_peers
from benchmarks.index_targets import targets
from benchmarks.report import BenchmarkError, Report, Row, Table

__all__ = ["run"]

SIZES = (10_000, 100_000, 1_000_000)
_BUILDS = (
    "built in a process of its own: s, and those of the CPU, peak memory and disk in MB; from ids "
    "that are held as lists, or from text of a word for each; bm25s is compiled before; FTS5 "
    "(SQLite {sqlite}, optimized) and tantivy (one thread, no positions) hold no text, a "
    "Collection does; these three hold two numbers of each passage for the filters"
)
_OPENS = (
    "a process that only searches: ms to open, the median of seven, for the first query, and for "
    "the first under a filter, its mask made; private memory after twenty, MB; the Collection is "
    "as its commits left it"
)
_SEARCHES = (
    "ten best, ms; sides take turns at each query; ids and scores only, but for Collection, which "
    "is the whole search; short: 3-7 terms of a passage that are not frequent, or a claim of "
    "scifact's; eight segments: four of 18 % and four of 7 %, as tantivy merges eight alike; a "
    "filter keeps one number: groundkit and bm25s are given masks that were made before, a "
    "Collection gets a condition on metadata, FTS5 rowid IN (SELECT ...) of an indexed table, "
    "tantivy a must on an indexed number"
)
_BATCHES = (
    "short queries a second: one by one, by two threads that share one index, and in one call "
    "where a side has one"
)
_CHANGES = (
    "ms to open, commit and close, one changed passage being the median of eleven; sides take "
    "turns, at a million with a small Collection beside them; s to merge all: the Collection as "
    "committed, with its database shrunk, and eight segment files alone"
)


def run(*, quick: bool, size: int | None) -> Report:
    """Build, disk, memory, searches and changes of each corpus on every side."""
    sizes = _sizes(quick, size)
    check_peers()
    missing = why_missing() if sizes == SIZES else "measured in a whole run only"
    if sizes == SIZES and missing:
        say(f"NOT MEASURED: real text: {missing}")
    cases = [_case(rows) for rows in sizes]
    if not missing:
        cases.append(_case(None))
    tables = [
        Table(_BUILDS.format(sqlite=sqlite3.sqlite_version), _rows(cases, "builds")),
        Table(_OPENS, _rows(cases, "opens")),
        Table(_SEARCHES, _rows(cases, "searches")),
        Table(_BATCHES, _rows(cases, "batches")),
        Table(_CHANGES, _rows(cases, "changes")),
        Table("not measured", [{"corpus": "real", "why": missing}] if missing else []),
    ]
    return Report(
        benchmark="index",
        quick=quick,
        peers=(*MODULES, "numpy"),
        tables=[table for table in tables if table.rows],
        targets=targets(cases),
    )


def _sizes(quick: bool, only: int | None) -> tuple[int, ...]:
    if only is None:
        return SIZES[:1] if quick else SIZES
    if only not in SIZES:
        raise BenchmarkError(f"{only} is no size; one of: {', '.join(map(str, SIZES))}")
    return (only,)


def _case(size: int | None) -> Case:
    """The made-up corpus of a size, or the real one."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        base = Path(name)
        say("the real corpus ..." if size is None else f"{size:,} passages ...")
        folder = base / "corpus"
        corpus = real_corpus(folder) if size is None else zipf_corpus(folder, size)
        return measured_case(corpus, base)


def _rows(cases: list[Case], table: str) -> list[Row]:
    return [row for case in cases for row in getattr(case, table)]
