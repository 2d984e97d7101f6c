"""Vectors in a whole collection: made, added to, removed from and searched."""

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from groundkit_core import ChunkingConfig, Collection, Document
from groundkit_core.embedding import EmbeddingIdentity, Purpose, Vectors, identity_of
from groundkit_core.retrieval.search import Query

from benchmarks.dense_case import COMMITS
from benchmarks.near import Found, K, Mask, Rows, Search, measured, true_neighbours
from benchmarks.report import Row

__all__ = ["in_collection"]

_WHOLE = ChunkingConfig(strategy="fixed", size=1_000_000)


class _Given:
    """An embedder whose vectors are at hand."""

    provider = "given"
    model_name = "from-memory"
    document_prefix = query_prefix = ""

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        self.dimensions: int = vectors.shape[1]
        self._rows = {text: row for row, text in enumerate(texts)}
        self._vectors = vectors

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:  # noqa: ARG002
        return self._vectors[[self._rows[text] for text in texts]]


def in_collection(texts: Sequence[str], vectors: Vectors, more: int, queries: Vectors) -> Row:
    """Seconds of each step, and searches with the query's vector at hand before and after."""
    size = len(texts) - more
    embedder = _Given(texts, vectors)
    identity = identity_of(embedder)
    with TemporaryDirectory() as name:
        path = Path(name) / "measured"
        with Collection.open(path, embedder=embedder) as vectored, Collection.open(path) as plain:
            plain.add(_documents(texts, 0, size), chunking=_WHOLE)
            embedding = _seconds_to_embed(vectored)
            first = _searched(vectored, identity, queries, vectors[:size])
            adding = 0.0
            for part in np.split(np.arange(size, len(texts)), COMMITS):
                plain.add(_documents(texts, int(part[0]), int(part[-1]) + 1))
                adding += _seconds_to_embed(vectored)
            kept = np.arange(len(texts)) % 10 != 0
            begin = time.perf_counter()
            plain.remove(str(row) for row in np.flatnonzero(~kept))
            removing = time.perf_counter() - begin
            last = _searched(vectored, identity, queries, vectors, kept)
            segments = len(list((path / "segments").glob("*.vec")))
            disk = sum(file.stat().st_size for file in (path / "segments").glob("*.vec"))
    return {
        "texts": size,
        "embed, s": embedding,
        "10 commits, s": adding,
        "remove, s": removing,
        "p50": first.p50,
        "p95": first.p95,
        "recall": first.recall,
        "p50 after": last.p50,
        "p95 after": last.p95,
        "recall after": last.recall,
        "vector files": segments,
        "their MB": disk / 1e6,
    }


def _documents(texts: Sequence[str], start: int, end: int) -> list[Document]:
    return [Document.from_text(str(row), texts[row]) for row in range(start, end)]


def _seconds_to_embed(collection: Collection) -> float:
    begin = time.perf_counter()
    collection.embed()
    return time.perf_counter() - begin


def _searched(
    collection: Collection,
    identity: EmbeddingIdentity,
    queries: Vectors,
    vectors: Vectors,
    allowed: Mask | None = None,
) -> Found:
    def search(vector: Vectors) -> Rows:
        asked = Query("given", K, "dense", vector=vector.reshape(1, -1), identity=identity)
        return np.array(
            [int(result.citation.source) for result in collection.run([asked])[0].results]
        )

    searches: dict[str, Search] = {"groundkit": search}
    truth = true_neighbours(vectors, queries, allowed)
    return measured(searches, queries, truth)["groundkit"]
