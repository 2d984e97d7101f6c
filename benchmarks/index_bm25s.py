"""The peer bm25s, with either back end, over term ids."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus, Queries
from benchmarks.index_filters import Filter
from benchmarks.index_queries import Ask, Hits, K

__all__ = ["Bm25s", "Bm25sSearch"]


class Bm25s:
    """Lucene's variant, k1 1.5, b 0.75."""

    def __init__(self, backend: str, *, mapped: bool = False) -> None:
        self._backend, self._mapped = backend, mapped

    def build(self, corpus: Corpus, folder: Path, clock: Clock) -> None:
        """Index the ids and save; what numba compiles, it compiles before."""
        index = bm25s.BM25(method="lucene", k1=1.5, b=0.75, backend=self._backend)
        if self._backend == "numba":
            index.compile(warmup=True)
        lists = corpus.lists(0, corpus.size)
        vocabulary = {word: term for term, word in enumerate(corpus.words)}
        with clock:
            index.index((lists, vocabulary), show_progress=False)
            index.save(str(folder), show_progress=False)

    def open(self, corpus: Corpus, folder: Path) -> "Bm25sSearch":
        """The saved index."""
        index = bm25s.BM25.load(
            str(folder), mmap=self._mapped, show_progress=False, backend=self._backend
        )
        return Bm25sSearch(index, corpus.size)


class Bm25sSearch:
    """Takes lists of term ids, and a mask that was made before."""

    most_threads = 2

    def __init__(self, index: Any, size: int) -> None:
        self._index, self._size, self._k = index, size, min(K, size)
        self._masks: dict[Filter | None, NDArray[np.float32] | None] = {None: None}

    def asked(self, terms: Sequence[int], kept: Filter | None = None) -> Ask:
        query, mask = [list(terms)], self._mask(kept)

        def ask() -> Hits:
            found = self._index.retrieve(query, k=self._k, show_progress=False, weight_mask=mask)
            pairs = zip(found.documents[0].tolist(), found.scores[0].tolist(), strict=True)
            # It fills up with passages that hold none of the terms.
            return [(passage, score) for passage, score in pairs if score > 0]

        return ask

    def ranked(self, terms: Sequence[int]) -> Hits:
        """Every passage that scores."""
        scores = self._index.get_scores_from_ids(list(terms))
        order = np.argsort(-scores, kind="stable")[: np.count_nonzero(scores > 0)]
        return list(zip(order.tolist(), scores[order].tolist(), strict=True))

    def _mask(self, kept: Filter | None) -> NDArray[np.float32] | None:
        if kept is not None and kept not in self._masks:
            mask = np.zeros(self._size, np.float32)
            mask[kept.passages(self._size)] = 1
            self._masks[kept] = mask
        return self._masks[kept]

    def batch(self, queries: Queries, threads: int) -> None:
        self._index.retrieve(
            queries, k=self._k, show_progress=False, n_threads=0 if threads == 1 else threads
        )
