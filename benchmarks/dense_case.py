"""One size and kind of index on every side."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from groundkit_core.embedding import Vectors

from benchmarks.dense_memory import private_megabytes
from benchmarks.dense_peers import Faiss, Lance
from benchmarks.dense_sides import Groundkit, Side, present_sides
from benchmarks.near import Found, Mask, Rows, Search, measured, true_neighbours
from benchmarks.report import Row

__all__ = ["COMMITS", "Case", "measured_case", "slots_of"]

COMMITS = 10
_SLOTS = 100
_FILTERS = (50, 10, 1)
_KEPT = 90
_SHARED_GRAPH = 200_000  # vectors from which a graph is built once, for us and for raw faiss
_MEMORY_QUERIES = 20


@dataclass(frozen=True)
class Case:
    """A row for each side, and one for each kind of search."""

    size: int
    kind: str
    indexes: list[Row]
    searches: list[Row]


def slots_of(rows: int) -> Rows:
    """A number below 100 for each row, by chance: filters and deletes go by it."""
    return np.random.default_rng(5).integers(0, _SLOTS, rows)


def measured_case(vectors: Vectors, more: int, queries: Vectors, *, graph: bool) -> Case:
    """All but `more` vectors are built, and those are added in ten commits."""
    slots, size = slots_of(len(vectors)), len(vectors) - more
    kind = "graph" if graph else "scan"
    with TemporaryDirectory() as name:
        folders = {side: Path(name) / side for side in present_sides()}
        for folder in folders.values():
            folder.mkdir()
        sides = {side: make(folders[side], graph=graph) for side, make in present_sides().items()}
        indexes = []
        for side, made in sides.items():
            seconds = _built(made, sides, vectors[:size], slots[:size], graph=graph)
            disk = _bytes(folders[side])
            memory = private_megabytes(side, folders[side], queries[:_MEMORY_QUERIES], graph=graph)
            indexes.append(
                {
                    "vectors": size,
                    "index": kind,
                    "side": side,
                    "build, s": seconds,
                    "disk": disk / 1e6,
                    "/ float32": disk / vectors[:size].nbytes,
                    "RssAnon": memory,
                }
            )
        searches = _filtered(sides, vectors[:size], slots[:size], queries)
        for row, made in zip(indexes, sides.values(), strict=True):
            row["10 commits, s"] = _added(made, vectors[size:], slots[size:])
        searches["+ 1,000 rows"] = _asked(sides, vectors, queries)
        kept = slots < _KEPT
        lance = sides.get("LanceDB")
        if isinstance(lance, Lance):
            lance.delete(_KEPT)
        searches["- 10 %"] = _asked(sides, vectors, queries, _SLOTS, kept)
    rows = [_row(size, kind, what, found) for what, found in searches.items()]
    return Case(size, kind, indexes, rows)


def _built(
    side: Side, sides: Mapping[str, Side], vectors: Vectors, slots: Rows, *, graph: bool
) -> float | str:
    ours = sides["groundkit"]
    shared = graph and len(vectors) >= _SHARED_GRAPH
    if shared and isinstance(side, Faiss) and isinstance(ours, Groundkit):
        side.take_graph(ours.graph_bytes())
    begin = time.perf_counter()
    side.build(vectors, slots)
    seconds = time.perf_counter() - begin
    return "groundkit's" if shared and isinstance(side, Faiss) else seconds


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _filtered(
    sides: Mapping[str, Side], vectors: Vectors, slots: Rows, queries: Vectors
) -> dict[str, dict[str, Found]]:
    found = {"all": _asked(sides, vectors, queries)}
    for percent in _FILTERS:
        allowed = slots < percent
        found[f"filter {percent} %"] = _asked(sides, vectors, queries, percent, allowed)
    return found


def _asked(
    sides: Mapping[str, Side],
    vectors: Vectors,
    queries: Vectors,
    below: int | None = None,
    allowed: Mask | None = None,
) -> dict[str, Found]:
    searches: dict[str, Search] = {
        name: side.search(below, allowed) for name, side in sides.items()
    }
    return measured(searches, queries, true_neighbours(vectors, queries, allowed))


def _added(side: Side, vectors: Vectors, slots: Rows) -> float:
    begin = time.perf_counter()
    for part, its in zip(np.split(vectors, COMMITS), np.split(slots, COMMITS), strict=True):
        side.add(part, its)
    return time.perf_counter() - begin


def _row(size: int, kind: str, what: str, found: Mapping[str, Found]) -> Row:
    row: Row = {"vectors": size, "index": kind, "rows": what}
    for side, figures in found.items():
        before = "" if side == "groundkit" else f"{side} "
        row |= {
            f"{before}p50": figures.p50,
            f"{before}p95": figures.p95,
            f"{before}recall": figures.recall,
        }
    return row
