"""Segments of vectors, each the vector of one embedded text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groundkit_core.embedding import Vectors
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.index.faiss_bridge import (
    Graph,
    Scan,
    Selector,
    serialised_graph,
    serialised_scan,
)
from groundkit_core.index.segment_file import Array, SegmentFile, damaged_arrays, open_segment

__all__ = ["GRAPH_FROM", "DenseSegment", "Near", "Rows", "build_arrays", "merged", "search"]

GRAPH_FROM = 100_000
"""Vectors from which a compacted segment gets a graph; fewer are scanned as fast."""
_NARROW = 0.2  # below this share of allowed rows a graph misses too much


_I = TypeVar("_I", Scan, Graph)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a segment that a search may give: how many, and which unless it is all."""

    count: int
    selector: Selector | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """An embedded text by its key, and how near it is to the query."""

    score: float
    key: str


def build_arrays(keys: Sequence[str], vectors: Vectors, *, graph: bool = False) -> dict[str, Array]:
    """The arrays of a segment; the n-th vector belongs to the n-th key."""
    scan = serialised_scan(vectors)
    arrays = {"scan": scan, "scan_head": scan[: scan.nbytes - 2 * vectors.size].copy()}
    if graph:
        found = serialised_graph(vectors)
        arrays["graph"] = found
    packed = np.frombuffer(bytes.fromhex("".join(keys)), np.uint8)
    return {**arrays, "keys": packed}


@dataclass(frozen=True)
class DenseSegment:
    """A mapped segment and the rows in it that no passage needs any more."""

    folder: Path
    file: SegmentFile
    dimensions: int
    dead: NDArray[np.uint32] = field(repr=False)

    @cached_property
    def _arrays(self) -> dict[str, Array]:
        arrays = open_segment(self.folder, self.file)
        # faiss reads sizes from these bytes, so they must be the ones that were written.
        head = arrays["scan_head"]
        if not len(head) or not np.array_equal(arrays["scan"][: len(head)], head):
            raise CollectionCorruptError(f"{self.folder / self.file.file}: scan is damaged")
        return arrays

    @cached_property
    def scan(self) -> Scan:
        """The vectors, ready to be searched."""
        scan = self._opened(Scan, "scan")
        if scan.dimensions != self.dimensions or scan.size * 16 != len(self._arrays["keys"]):
            raise CollectionCorruptError(f"{self.folder / self.file.file}: its arrays disagree")
        return scan

    @cached_property
    def graph(self) -> Graph | None:
        """The graph beside the vectors, if the segment has one."""
        if "graph" not in self._arrays:
            return None
        # A graph is followed through its bytes, so every one of them has to be right.
        if damaged_arrays(self.folder, self.file, "graph"):
            raise CollectionCorruptError(f"{self.folder / self.file.file}: graph is damaged")
        return self._opened(Graph, "graph")

    def _opened(self, kind: type[_I], name: str) -> _I:
        try:
            return kind(self._arrays[name])
        except ValueError:
            pass
        raise CollectionCorruptError(f"{self.folder / self.file.file}: {name} is damaged")

    @cached_property
    def _alive(self) -> NDArray[np.bool_]:
        alive = np.ones(self.scan.size, dtype=bool)
        if len(self.dead):
            if int(self.dead.max()) >= self.scan.size:
                raise CollectionCorruptError(
                    f"{self.folder.parent}: the list of dead vectors is damaged; see grk doctor"
                )
            alive[self.dead] = False
        return alive

    @cached_property
    def _live_rows(self) -> Rows:
        return Rows(self.live, Selector(self._alive) if len(self.dead) else None)

    def rows_of(self, embedded: NDArray[np.uint64]) -> Rows:
        """The live rows whose keys begin as one of these, which ascend."""
        heads = self._arrays["keys"].reshape(-1, 16)[:, :8].copy().view(">u8").ravel()
        at = np.searchsorted(embedded, heads.astype(np.uint64))
        found = np.append(embedded, np.uint64(0))[at] == heads
        found &= (at < len(embedded)) & self._alive
        return Rows(int(found.sum()), Selector(found))

    @property
    def live(self) -> int:
        """Number of vectors that can be found."""
        return self.scan.size - len(self.dead)

    def key(self, row: int) -> str:
        """The key of a row."""
        return bytes(self._arrays["keys"][16 * row : 16 * row + 16]).hex()

    def search(self, query: Vectors, k: int, rows: Rows | None = None) -> list[Near]:
        """The nearest k of the live vectors, or of some of them, nearest first."""
        rows = rows or self._live_rows
        if not rows.count:
            return []
        if self.graph is None or rows.count < _NARROW * self.scan.size:
            scores, found = self.scan.search(query, k, rows.selector)
        else:
            found = self.graph.candidates(query, k, rows.selector)
            scores, found = self.scan.rescored(query, found, k)
        return [
            Near(float(score), self.key(int(row))) for score, row in zip(scores, found, strict=True)
        ]

    def keys(self) -> list[str]:
        """The keys of all rows, in order."""
        packed = bytes(self._arrays["keys"])
        return [packed[at : at + 16].hex() for at in range(0, len(packed), 16)]

    def live_part(self) -> tuple[list[str], Vectors]:
        """Keys and vectors of the live rows."""
        rows = np.delete(np.arange(self.scan.size), self.dead)
        return [self.key(int(row)) for row in rows], self.scan.vectors()[rows]


def merged(
    segments: Sequence[DenseSegment], *, graph: bool = False
) -> tuple[list[str], dict[str, Array]]:
    """Keys and arrays of one segment with the live vectors of all; a graph where it pays."""
    parts = [segment.live_part() for segment in segments]
    keys = [key for part, _ in parts for key in part]
    vectors = np.concatenate([vectors for _, vectors in parts])
    return keys, build_arrays(keys, vectors, graph=graph and len(keys) >= GRAPH_FROM)


def search(
    segments: Sequence[DenseSegment],
    query: Vectors,
    k: int,
    rows: Callable[[DenseSegment], Rows | None] = lambda _: None,
) -> list[Near]:
    """The nearest k of all segments, and whatever is as near as the last of them."""
    depth = k + 8
    while True:
        found = [near for each in segments for near in each.search(query, depth, rows(each))]
        found.sort(key=lambda near: (-near.score, near.key))
        if len(found) <= k:
            return found
        tied = [near for near in found if near.score >= found[k - 1].score]
        # A segment that gave all it was asked for may hold more that are as near.
        if len(tied) < depth:
            return tied
        depth *= 4
