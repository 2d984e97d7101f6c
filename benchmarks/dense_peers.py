"""Raw faiss and LanceDB with the parameters that groundkit uses."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from groundkit_core.embedding import Vectors

from benchmarks.near import K, Mask, Rows, Search

__all__ = ["BREADTH", "BUILD_BREADTH", "LINKS", "RESCORED", "Faiss", "Lance"]

LINKS, BUILD_BREADTH, BREADTH, RESCORED = 32, 200, 512, 4
"""Of the graph; four times k candidates are rescored by their vectors."""
ROWS_PER_BREADTH = 650
_NARROW = 0.2


class Faiss:
    """The same kinds of index in two files, read into memory, refined the same way."""

    def __init__(self, folder: Path, *, graph: bool) -> None:
        self._faiss = import_module("faiss")
        self._faiss.omp_set_num_threads(1)
        self._scan_path = str(folder / "scan.faiss")
        self._graph_path = str(folder / "graph.faiss") if graph else None
        self._read: tuple[Any, Any] | None = None

    def build(self, vectors: Vectors, slots: Rows) -> None:  # noqa: ARG002
        faiss, size = self._faiss, vectors.shape[1]
        half, byte = faiss.ScalarQuantizer.QT_fp16, faiss.ScalarQuantizer.QT_8bit
        scan = faiss.IndexScalarQuantizer(size, half, faiss.METRIC_INNER_PRODUCT)
        scan.add(vectors)
        faiss.write_index(scan, self._scan_path)
        if self._graph_path and not Path(self._graph_path).exists():
            graph = faiss.IndexHNSWSQ(size, byte, LINKS, faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction = BUILD_BREADTH
            graph.train(vectors)
            graph.add(vectors)
            faiss.write_index(graph, self._graph_path)

    def take_graph(self, data: Any) -> None:
        """Use a graph that was built elsewhere with the same parameters."""
        data.tofile(self._graph_path)

    def add(self, vectors: Vectors, slots: Rows) -> None:  # noqa: ARG002
        for index, path in zip(self._indexes(), (self._scan_path, self._graph_path), strict=True):
            if index is not None:
                index.add(vectors)
                self._faiss.write_index(index, path)

    def search(self, below: int | None = None, allowed: Mask | None = None) -> Search:  # noqa: ARG002
        faiss = self._faiss
        scan, graph = self._indexes()
        chosen = None
        if allowed is not None:
            chosen = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        if graph is None or (allowed is not None and allowed.mean() < _NARROW):
            plain = faiss.SearchParameters(sel=chosen) if chosen else None
            return lambda query: _rows(scan.search(query.reshape(1, -1), K, params=plain)[1])
        breadth = max(BREADTH, graph.ntotal // ROWS_PER_BREADTH)
        wide = faiss.SearchParametersHNSW(efSearch=breadth, sel=chosen)

        def refined(query: Vectors) -> Rows:
            rows = _rows(graph.search(query.reshape(1, -1), RESCORED * K, params=wide)[1])
            return rows[np.argsort(-(scan.reconstruct_batch(rows) @ query))[:K]]

        return refined

    def _indexes(self) -> tuple[Any, Any]:
        if self._read is None:
            graph = self._faiss.read_index(self._graph_path) if self._graph_path else None
            self._read = self._faiss.read_index(self._scan_path), graph
        return self._read


def _rows(found: Any) -> Rows:
    rows: Rows = found[0]
    return rows[rows >= 0]


class Lance:
    """A table, with IVF_HNSW_SQ in one partition or without an index; it uses several threads."""

    def __init__(self, folder: Path, *, graph: bool) -> None:
        self._arrow = import_module("pyarrow")
        self._base = import_module("lancedb").connect(str(folder / "lance"))
        self._graph = graph
        self._opened: Any = None

    @property
    def table(self) -> Any:
        """The table that was built."""
        if self._opened is None:
            self._opened = self._base.open_table("vectors")
        return self._opened

    def build(self, vectors: Vectors, slots: Rows) -> None:
        self._opened = self._base.create_table("vectors", self._rows(vectors, slots, 0))
        if self._graph:
            self.table.create_index(
                metric="dot",
                index_type="IVF_HNSW_SQ",
                num_partitions=1,
                vector_column_name="vector",
                m=LINKS,
                ef_construction=BUILD_BREADTH,
            )
        self.table.create_scalar_index("slot", index_type="BITMAP")

    def add(self, vectors: Vectors, slots: Rows) -> None:
        self.table.add(self._rows(vectors, slots, self.table.count_rows()))

    def delete(self, from_slot: int) -> None:
        """Remove the rows whose slot is not below a limit."""
        self.table.delete(f"slot >= {from_slot}")

    def search(self, below: int | None = None, allowed: Mask | None = None) -> Search:  # noqa: ARG002
        def found(query: Vectors) -> Rows:
            asked = self.table.search(query, vector_column_name="vector").distance_type("dot")
            if self._graph:
                asked = asked.ef(BREADTH).refine_factor(RESCORED)
            if below is not None:
                asked = asked.where(f"slot < {below}", prefilter=True)
            rows: Rows = asked.select(["row", "_distance"]).limit(K).to_arrow()["row"].to_numpy()
            return rows

        return found

    def _rows(self, vectors: Vectors, slots: Rows, first: int) -> Any:
        arrow = self._arrow
        flat = arrow.array(vectors.reshape(-1))
        return arrow.table(
            {
                "row": np.arange(first, first + len(vectors)),
                "slot": slots,
                "vector": arrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            }
        )
