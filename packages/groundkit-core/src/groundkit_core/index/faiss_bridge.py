"""The only module that imports faiss: exact scans in half precision, and graphs beside them.

Vectors have length 1, so the inner product is their cosine.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundkit_core.embedding import Vectors
from groundkit_core.errors import EmbeddingProviderNotConfiguredError

__all__ = ["Graph", "Scan", "Selector", "serialised_graph", "serialised_scan"]

Bytes = NDArray[np.uint8]
Found = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Scores and rows, best first."""

_LINKS = 32
_BUILD_BREADTH = 200
_LEAST_BREADTH = 512
_ROWS_PER_BREADTH = 650  # what keeps recall as the graph grows
_RESCORED = 4  # how many candidates of the graph are rescored for each one that is wanted


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise EmbeddingProviderNotConfiguredError(
            "vectors need faiss, which is not installed; run: pip install 'groundkit-core[dense]'"
        ) from None
    # A search in a forked child hangs if it and its parent use several threads, and the number
    # of threads belongs to each Python thread.
    faiss.omp_set_num_threads(1)
    return faiss


def serialised_scan(vectors: Vectors) -> Bytes:
    """The bytes of an exact index over the vectors, in half precision."""
    faiss = _faiss()
    index = faiss.IndexScalarQuantizer(
        vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    index.add(np.ascontiguousarray(vectors, np.float32))
    found: Bytes = faiss.serialize_index(index)
    return found


def serialised_graph(vectors: Vectors) -> Bytes:
    """The bytes of an approximate index over the vectors, a byte a dimension."""
    faiss = _faiss()
    index = faiss.IndexHNSWSQ(
        vectors.shape[1], faiss.ScalarQuantizer.QT_8bit, _LINKS, faiss.METRIC_INNER_PRODUCT
    )
    index.hnsw.efConstruction = _BUILD_BREADTH
    index.train(vectors)
    index.add(vectors)
    found: Bytes = faiss.serialize_index(index)
    return found


class Selector:
    """The rows that a search may give."""

    def __init__(self, allowed: NDArray[np.bool_]) -> None:
        self.of_faiss: Any = _faiss().IDSelectorBitmap(np.packbits(allowed, bitorder="little"))


class _Mapped:
    """An index over mapped bytes, which are read where they lie; `ValueError` if they are none."""

    def __init__(self, data: Bytes) -> None:
        faiss = _faiss()
        self._data = data  # faiss does not hold it
        reader = faiss.ZeroCopyIOReader(faiss.swig_ptr(data), data.nbytes)
        try:
            self._index = faiss.read_index(reader, faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError:
            raise ValueError("these bytes are no index") from None

    def _search(self, query: Vectors, k: int, parameters: Any) -> Found:
        scores, rows = self._index.search(query.reshape(1, -1), k, params=parameters)
        found = rows[0] >= 0
        return scores[0][found], rows[0][found]


class Scan(_Mapped):
    """Every vector is compared."""

    @property
    def size(self) -> int:
        """Number of vectors."""
        return int(self._index.ntotal)

    @property
    def dimensions(self) -> int:
        """Numbers in a vector."""
        return int(self._index.d)

    def search(self, query: Vectors, k: int, allowed: Selector | None) -> Found:
        """The best k allowed rows; fewer if there are fewer."""
        faiss = _faiss()
        parameters = None if allowed is None else faiss.SearchParameters(sel=allowed.of_faiss)
        return self._search(query, min(k, self.size), parameters)

    def rescored(self, query: Vectors, rows: NDArray[np.int64], k: int) -> Found:
        """The best k of some rows by their exact scores."""
        scores = self._index.reconstruct_batch(rows) @ query.reshape(-1)
        order = np.argsort(-scores, kind="stable")[:k]
        return scores[order], rows[order]

    def vectors(self) -> Vectors:
        """All vectors, as they were rounded."""
        found: Vectors = self._index.reconstruct_n(0, self.size)
        return found


class Graph(_Mapped):
    """Neighbours are followed: fast, and now and then one is missed."""

    def candidates(self, query: Vectors, k: int, allowed: Selector | None) -> NDArray[np.int64]:
        """More than k rows among which the best k nearly always are."""
        faiss = _faiss()
        wanted = _RESCORED * k
        parameters = faiss.SearchParametersHNSW(
            efSearch=max(_LEAST_BREADTH, wanted, self._index.ntotal // _ROWS_PER_BREADTH),
            sel=None if allowed is None else allowed.of_faiss,
        )
        return self._search(query, wanted, parameters)[1]
