"""One corpus on every side."""

import statistics
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from benchmarks.index_changes import change_rows, seconds_to_merge
from benchmarks.index_collection import SEGMENTS, contents_of, make_empty
from benchmarks.index_corpus import Corpus
from benchmarks.index_filters import FILTERS
from benchmarks.index_groundkit import eight_files, mapped, merge_seconds
from benchmarks.index_process import built, searched
from benchmarks.index_progress import say
from benchmarks.index_searches import batch_rows, checked_searchers, search_rows
from benchmarks.index_sides import BUILDERS, COLLECTION, EMPTY, NUMBA, OPENERS, folder_of
from benchmarks.report import Row

__all__ = ["Case", "measured_case"]

_FEW = 20_000
_REPEATS = 3


@dataclass(frozen=True)
class Case:
    """The rows of each table."""

    size: int
    name: str
    builds: list[Row]
    opens: list[Row]
    searches: list[Row]
    batches: list[Row]
    changes: list[Row]


def measured_case(corpus: Corpus, base: Path) -> Case:
    """Build, open and search on every side, then change what was built."""
    builds = _builds(corpus, base)
    opens = _opens(corpus, base)
    collection = folder_of(base, COLLECTION)
    # Its files go when they are merged; what is mapped of them stays.
    committed = contents_of(collection)
    say(f"{corpus.name}: merging ...")
    compacting = seconds_to_merge(base)
    compacted = contents_of(collection)
    say(f"{corpus.name}: cutting in eight ...")
    parts = base / "eight"
    parts.mkdir()
    files = eight_files(corpus, compacted, parts)
    eight = mapped(parts, files)
    merging = merge_seconds(parts, files)
    say(f"{corpus.name}: checking ...")
    searchers = checked_searchers(corpus, base, committed, compacted, eight)
    searches = search_rows(corpus, searchers)
    say(f"{corpus.name}: searching in threads and batches ...")
    batches = batch_rows(corpus, searchers, searches)
    del searchers
    say(f"{corpus.name}: changing ...")
    changes = change_rows(corpus, base, compacting, merging)
    return Case(corpus.size, corpus.name, builds, opens, searches, batches, changes)


def _builds(corpus: Corpus, base: Path) -> list[Row]:
    """A row for each side; a small corpus is built several times, for its time is not steady."""
    figures = {}
    for side in BUILDERS:
        say(f"{corpus.name}: building {side} ...")
        runs = []
        for _ in range(_REPEATS if corpus.size <= _FEW else 1):
            rmtree(folder_of(base, side), ignore_errors=True)
            runs.append(built(side, corpus, base))
        figures[side] = {
            **{name: statistics.median(run[name] for run in runs) for name in runs[0]},
            "disk": megabytes(folder_of(base, side)),
        }
    peer = figures[NUMBA]
    rows: list[Row] = []
    for side, its in figures.items():
        rows.append(
            {
                "corpus": corpus.name,
                "side": side,
                "from": BUILDERS[side].given,
                "build": its["seconds"],
                "/ bm25s numba": its["seconds"] / peer["seconds"],
                "CPU": its["cpu"],
                "peak": its["peak"],
                "disk": its["disk"],
                "disk / bm25s": its["disk"] / peer["disk"],
            }
        )
        if side == COLLECTION:
            segments = megabytes(folder_of(base, side) / SEGMENTS)
            none = dict.fromkeys(("from", "build", "/ bm25s numba", "CPU", "peak"), "-")
            what = {"disk": segments, "disk / bm25s": segments / peer["disk"]}
            rows.append({**rows[-1], "side": "its segments", **none, **what})
    return rows


def _opens(corpus: Corpus, base: Path) -> list[Row]:
    folder_of(base, EMPTY).mkdir()
    make_empty(folder_of(base, EMPTY))
    rows: list[Row] = []
    for side in OPENERS:
        say(f"{corpus.name}: opening {side} ...")
        figures = searched(side, corpus, base)
        rows.append(
            {
                "corpus": corpus.name,
                "side": side,
                "open": figures["open"],
                "first query": figures["first"],
                **{f"first, {kept.name}": figures.get(kept.name, "-") for kept in FILTERS},
                "RssAnon": figures["private"],
            }
        )
    return rows


def megabytes(folder: Path) -> float:
    """What the files below a folder hold."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
