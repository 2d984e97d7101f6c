"""The same vectors in groundkit's segments, in raw faiss and in LanceDB, each in a folder."""

import json
from collections.abc import Callable
from dataclasses import astuple
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from groundkit_core.embedding import Vectors
from groundkit_core.index.dense import DenseSegment, build_arrays, merged, search
from groundkit_core.index.merge import due
from groundkit_core.index.segment_file import SegmentFile, open_segment, write_segment

from benchmarks.dense_peers import Faiss, Lance
from benchmarks.near import K, Mask, Rows, Search

__all__ = ["SIDES", "Groundkit", "Side", "missing_sides", "present_sides"]

Held = tuple[SegmentFile, int, int]
"""A segment, its rows and their dimensions."""


class Side(Protocol):
    """Rows count from 0 in the order in which they came; a slot is what a filter asks for."""

    def build(self, vectors: Vectors, slots: Rows) -> None:
        """Write an index."""

    def add(self, vectors: Vectors, slots: Rows) -> None:
        """Write some more rows durably."""

    def search(self, below: int | None = None, allowed: Mask | None = None) -> Search:
        """A search of all rows, or of those whose slot is below a limit, given as a mask too."""


class Groundkit:
    """Segments as a collection holds and merges them; a filter bars rows as deletes do."""

    def __init__(self, folder: Path, *, graph: bool) -> None:
        self._folder, self._graph = folder, graph
        self._list = folder / "segments.json"

    def build(self, vectors: Vectors, slots: Rows) -> None:  # noqa: ARG002
        self._write(vectors, graph=self._graph)

    def add(self, vectors: Vectors, slots: Rows) -> None:  # noqa: ARG002
        self._write(vectors, graph=False)
        held = self._held()
        while (chosen := due([(rows, 0) for _, rows, _ in held])) is not None:
            parts = [self._segment(*held[at]) for at in chosen]
            keys, arrays = merged(parts)
            file = write_segment(self._folder, "vec", arrays)
            held[chosen.start : chosen.stop] = [(file, len(keys), held[0][2])]
        self._note(held)

    def search(self, below: int | None = None, allowed: Mask | None = None) -> Search:  # noqa: ARG002
        segments, start = [], 0
        for file, rows, dimensions in self._held():
            barred = None if allowed is None else np.flatnonzero(~allowed[start : start + rows])
            segments.append(self._segment(file, rows, dimensions, barred))
            start += rows
        return lambda query: np.array(
            [int(near.key, 16) for near in search(segments, query.reshape(1, -1), K)[:K]]
        )

    def graph_bytes(self) -> Any:
        """The graph as faiss wrote it."""
        file, *_ = self._held()[0]
        return open_segment(self._folder, file)["graph"]

    def _segment(
        self, file: SegmentFile, _rows: int, dimensions: int, barred: Rows | None = None
    ) -> DenseSegment:
        dead = np.empty(0, np.uint32) if barred is None else barred.astype(np.uint32)
        return DenseSegment(self._folder, file, dimensions, dead)

    def _write(self, vectors: Vectors, *, graph: bool) -> None:
        held = self._held()
        first = sum(rows for _, rows, _ in held)
        keys = [f"{row:032x}" for row in range(first, first + len(vectors))]
        file = write_segment(self._folder, "vec", build_arrays(keys, vectors, graph=graph))
        self._note([*held, (file, *vectors.shape)])

    def _note(self, held: list[Held]) -> None:
        listed = [[*astuple(file), rows, dimensions] for file, rows, dimensions in held]
        self._list.write_text(json.dumps(listed), "utf-8")

    def _held(self) -> list[Held]:
        if not self._list.exists():
            return []
        listed = json.loads(self._list.read_text("utf-8"))
        return [(SegmentFile(*file), rows, dimensions) for *file, rows, dimensions in listed]


SIDES: dict[str, Callable[..., Side]] = {
    "groundkit": Groundkit,
    "faiss": Faiss,
    "LanceDB": Lance,
}


def missing_sides() -> dict[str, str]:
    """Why LanceDB cannot be measured here, by its distribution; empty if it can."""
    try:
        import_module("lancedb")
    except (ImportError, OSError) as error:
        return {"lancedb": f"{type(error).__name__}: {error}"}
    return {}


def present_sides() -> dict[str, Callable[..., Side]]:
    """The sides that can be measured here."""
    return {name: make for name, make in SIDES.items() if name != "LanceDB" or not missing_sides()}
