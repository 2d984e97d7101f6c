"""What changes of an index cost once it is built."""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from benchmarks.index_collection import InCollection
from benchmarks.index_corpus import Corpus
from benchmarks.index_edits import Edit, added, changed
from benchmarks.index_fts5 import Fts5
from benchmarks.index_sides import COLLECTION, FTS5, NUMBA, TANTIVY, folder_of
from benchmarks.index_tantivy import Tantivy
from benchmarks.report import Row

__all__ = ["ADDED", "change_rows", "seconds_to_merge"]

ADDED = 1_000
_CHANGED = 7


class _Changing(Protocol):
    def commit(self, folder: Path, edits: Sequence[Edit]) -> None:
        """Replace and add passages, durably."""


def seconds_to_merge(base: Path) -> float:
    """Compaction of the collection as its commits left it."""
    begin = time.perf_counter()
    InCollection().merge(folder_of(base, COLLECTION))
    return time.perf_counter() - begin


def change_rows(corpus: Corpus, base: Path, compacted: float, eight: float) -> list[Row]:
    """A row for each side, with the seconds that ours took to merge before."""
    changes, more = changed(corpus, _CHANGED), added(corpus, ADDED)

    def row(side: str, changing: _Changing) -> Row:
        folder = folder_of(base, side)
        one = statistics.median(_seconds(changing, folder, [each]) for each in changes)
        return _row(corpus, side, 1000 * one, 1000 * _seconds(changing, folder, more), "-")

    fts5 = Fts5()
    rows = [
        {**row(COLLECTION, InCollection()), "to one, s": compacted},
        _row(corpus, "groundkit, 8 segments", "-", "-", eight),
        _row(corpus, NUMBA, *["rebuild"] * 3),
        row(FTS5, fts5),
        row(TANTIVY, Tantivy()),
    ]
    begin = time.perf_counter()
    fts5.merge(folder_of(base, FTS5))
    rows[3]["to one, s"] = time.perf_counter() - begin
    return rows


def _row(corpus: Corpus, side: str, one: float | str, many: float | str, merge: float | str) -> Row:
    return {
        "corpus": corpus.name,
        "side": side,
        "1 changed, ms": one,
        f"{ADDED:,} added, ms": many,
        "to one, s": merge,
    }


def _seconds(changing: _Changing, folder: Path, edits: Sequence[Edit]) -> float:
    begin = time.perf_counter()
    changing.commit(folder, edits)
    return time.perf_counter() - begin
