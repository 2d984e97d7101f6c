"""One side in a process of its own: `python -m benchmarks.index_process build|search ...`."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus
from benchmarks.index_filters import FILTERS, Filter
from benchmarks.index_queries import Searcher
from benchmarks.index_sides import BUILDERS, EMPTY, OPENERS, folder_of
from benchmarks.report import BenchmarkError

__all__ = ["built", "searched"]

_SEARCHES = 20
_OPENS = 7


def built(side: str, corpus: Corpus, base: Path) -> dict[str, float]:
    """Build a side below a folder; `seconds`, those of the `cpu`, and `peak` memory in MB."""
    folder_of(base, side).mkdir()
    return _run("build", side, corpus, base)


def searched(side: str, corpus: Corpus, base: Path) -> dict[str, float]:
    """Milliseconds to `open`, for the `first` query and for the first under each filter by its
    name, and `private` memory in MB.
    """
    return _run("search", side, corpus, base)


def _run(what: str, side: str, corpus: Corpus, base: Path) -> dict[str, float]:
    command = [sys.executable, "-m", __name__, what, side, str(corpus.folder), str(base)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BenchmarkError(f"{side} failed to {what}:\n{done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _build(side: str, corpus: Corpus, base: Path) -> dict[str, float]:
    clock = Clock()
    BUILDERS[side].make().build(corpus, folder_of(base, side), clock)
    return {"seconds": clock.seconds, "cpu": clock.cpu, "peak": _megabytes("VmHWM")}


def _search(side: str, corpus: Corpus, base: Path) -> dict[str, float]:
    opener = OPENERS[side]
    made, folder = opener.make(), folder_of(base, opener.built)
    asked = corpus.queries[:_SEARCHES]
    opens, searches = [], []
    for turn in range(_OPENS):
        begin = time.perf_counter()
        searcher = made.open(corpus, folder)
        opens.append(time.perf_counter() - begin)
        for terms in asked if turn == 0 else []:
            ask = searcher.asked(terms)
            begin = time.perf_counter()
            ask()
            searches.append(time.perf_counter() - begin)
        if turn == 0:
            private = _megabytes("RssAnon")
            # Nothing in an empty collection has a field to filter by.
            filters = () if side == EMPTY else FILTERS
            filtered = {kept.name: _first(searcher, asked[0], kept) for kept in filters}
        del searcher
    return {
        "open": 1000 * statistics.median(opens),
        "first": 1000 * searches[0],
        "private": private,
        **filtered,
    }


def _first(searcher: Searcher, terms: Sequence[int], kept: Filter) -> float:
    """Milliseconds to make a filter ready and to search under it."""
    begin = time.perf_counter()
    searcher.asked(terms, kept)()
    return 1000 * (time.perf_counter() - begin)


def _megabytes(what: str) -> float:
    """A line of this process's status; NaN where the system does not tell."""
    path = Path("/proc/self/status")
    lines = path.read_text("ascii").splitlines() if path.exists() else []
    found = (int(line.split()[1]) / 1000 for line in lines if line.startswith(what))
    return next(found, float("nan"))


if __name__ == "__main__":
    _, what, side, folder, base = sys.argv
    run = {"build": _build, "search": _search}[what]
    print(json.dumps(run(side, Corpus(Path(folder)), Path(base))))
