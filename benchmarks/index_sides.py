"""What is measured beside what, and whether all of it is here."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus
from benchmarks.index_queries import Searcher
from benchmarks.report import BenchmarkError

__all__ = [
    "BUILDERS",
    "COLLECTION",
    "EIGHT",
    "EMPTY",
    "FTS5",
    "MODULES",
    "NUMBA",
    "NUMPY",
    "OPENERS",
    "OURS",
    "TANTIVY",
    "Builder",
    "Opener",
    "check_peers",
    "folder_of",
]

OURS, COLLECTION, EMPTY = "groundkit", "groundkit Collection", "groundkit, empty"
NUMBA, NUMPY, FTS5 = "bm25s numba", "bm25s numpy", "FTS5"
TANTIVY, EIGHT = "tantivy", "tantivy, 8 commits"
MODULES = ("bm25s", "numba", "tantivy")


class Builds(Protocol):
    """A side that writes an index."""

    def build(self, corpus: Corpus, folder: Path, clock: Clock) -> None:
        """Write it to an empty folder; the clock runs during the side's own work."""


class Opens(Protocol):
    """A side that searches what was built."""

    def open(self, corpus: Corpus, folder: Path) -> Searcher:
        """Open it."""


@dataclass(frozen=True)
class Builder:
    """A side to build, and whether it is given term ids or text."""

    given: str
    make: Callable[[], Builds]


@dataclass(frozen=True)
class Opener:
    """A side to open, and the side that built what it opens."""

    built: str
    make: Callable[[], Opens]


class _Nothing:
    def build(self, corpus: Corpus, folder: Path, clock: Clock) -> None:  # noqa: ARG002
        """Only what the sides are given."""
        corpus.lists(0, corpus.size)


def _side(name: str, *values: Any, **settings: Any) -> Callable[[], Any]:
    """Makes a side; its library is not imported before, so that memory is the side's own."""
    module, _, kind = name.partition(".")
    return lambda: getattr(import_module(f"benchmarks.{module}"), kind)(*values, **settings)


_COLLECTION = _side("index_collection.InCollection")
_BM25S = {name: _side("index_bm25s.Bm25s", name) for name in ("numba", "numpy")}
_FTS5, _TANTIVY = _side("index_fts5.Fts5"), _side("index_tantivy.Tantivy")

BUILDERS: dict[str, Builder] = {
    "the ids alone": Builder("ids", _Nothing),
    OURS: Builder("ids", _side("index_groundkit.Segments", at_once=True)),
    "groundkit, 20,000 at once": Builder("ids", _side("index_groundkit.Segments", at_once=False)),
    NUMBA: Builder("ids", _BM25S["numba"]),
    NUMPY: Builder("ids", _BM25S["numpy"]),
    FTS5: Builder("text", _FTS5),
    TANTIVY: Builder("text", _TANTIVY),
    EIGHT: Builder("text", _side("index_tantivy.Tantivy", eight=True)),
    COLLECTION: Builder("text", _COLLECTION),
}
OPENERS: dict[str, Opener] = {
    EMPTY: Opener(EMPTY, _COLLECTION),
    COLLECTION: Opener(COLLECTION, _COLLECTION),
    NUMBA: Opener(NUMBA, _BM25S["numba"]),
    "bm25s numba, mmap": Opener(NUMBA, _side("index_bm25s.Bm25s", "numba", mapped=True)),
    NUMPY: Opener(NUMBA, _BM25S["numpy"]),
    FTS5: Opener(FTS5, _FTS5),
    TANTIVY: Opener(TANTIVY, _TANTIVY),
    EIGHT: Opener(EIGHT, _TANTIVY),
}


def folder_of(base: Path, side: str) -> Path:
    """Where a side builds."""
    return base / side.replace(",", "").replace(" ", "-")


def check_peers() -> None:
    """Refuse to measure without one of the peers."""
    for name in MODULES:
        try:
            import_module(name)
        except (ImportError, OSError) as error:
            raise BenchmarkError(
                f"{name} cannot be measured here ({type(error).__name__}: {error}); "
                "run: hatch run bench index"
            ) from error
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        except sqlite3.OperationalError as error:
            raise BenchmarkError(f"FTS5 cannot be measured here: {error}") from error
