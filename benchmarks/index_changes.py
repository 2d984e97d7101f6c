"""What changes of an index cost once it is built."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.index_clock import Clock
from benchmarks.index_collection import InCollection
from benchmarks.index_corpus import Corpus, zipf_corpus
from benchmarks.index_edits import Edit, added, changed
from benchmarks.index_fts5 import Fts5
from benchmarks.index_sides import COLLECTION, FTS5, NUMBA, TANTIVY, folder_of
from benchmarks.index_tantivy import Tantivy
from benchmarks.report import Row

__all__ = ["ADDED", "BESIDE", "LARGE", "SMALL", "change_rows", "seconds_to_merge"]

BESIDE = "groundkit Collection, beside"
SMALL, LARGE = 10_000, 1_000_000
ADDED = 1_000
_CHANGED = 11


class _Changing(Protocol):
    def commit(self, folder: Path, edits: Sequence[Edit]) -> None:
        """Replace and add passages, durably."""


def seconds_to_merge(base: Path) -> float:
    """Compaction of the collection as its commits left it."""
    return _timed(lambda: InCollection().merge(folder_of(base, COLLECTION)))


def change_rows(corpus: Corpus, base: Path, compacted: float, eight: float) -> list[Row]:
    """A row for each side, with the seconds that ours took to merge before."""
    fts5 = Fts5()
    sides = [_Side(corpus, COLLECTION, InCollection(), folder_of(base, COLLECTION))]
    if corpus.size == LARGE:
        sides.append(_small_one(base / "beside"))
    sides += [
        _Side(corpus, FTS5, fts5, folder_of(base, FTS5)),
        _Side(corpus, TANTIVY, Tantivy(), folder_of(base, TANTIVY)),
    ]
    rows = _changed_rows(sides)
    merging = _timed(lambda: fts5.merge(folder_of(base, FTS5)))
    for row in rows:
        row["to one, s"] = {COLLECTION: compacted, FTS5: merging}.get(row["side"], "-")
    return [
        *rows,
        _row(corpus, "groundkit, 8 segments", "-", "-", eight),
        _row(corpus, NUMBA, *["rebuild"] * 3),
    ]


@dataclass(frozen=True)
class _Side:
    corpus: Corpus
    name: str
    changing: _Changing
    folder: Path

    def seconds(self, edits: Sequence[Edit]) -> float:
        """To commit them."""
        return _timed(lambda: self.changing.commit(self.folder, edits))


def _small_one(base: Path) -> _Side:
    """A small collection, to be changed by the side of a large one."""
    corpus, ours = zipf_corpus(base / "corpus", SMALL), InCollection()
    folder = folder_of(base, COLLECTION)
    folder.mkdir()
    ours.build(corpus, folder, Clock())
    ours.merge(folder)
    return _Side(corpus, BESIDE, ours, folder)


def _changed_rows(sides: Sequence[_Side]) -> list[Row]:
    """The sides take turns."""
    edits = [changed(side.corpus, _CHANGED) for side in sides]
    taken = [
        [side.seconds([its[turn]]) for side, its in zip(sides, edits, strict=True)]
        for turn in range(_CHANGED)
    ]
    ones = [statistics.median(its) for its in zip(*taken, strict=True)]
    return [
        _row(
            side.corpus,
            side.name,
            1000 * one,
            1000 * side.seconds(added(side.corpus, ADDED)),
            "-",
        )
        for side, one in zip(sides, ones, strict=True)
    ]


def _row(corpus: Corpus, side: str, one: float | str, many: float | str, merge: float | str) -> Row:
    return {
        "corpus": corpus.name,
        "side": side,
        "1 changed, ms": one,
        f"{ADDED:,} added, ms": many,
        "to one, s": merge,
    }


def _timed(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
