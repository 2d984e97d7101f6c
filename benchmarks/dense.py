"""Search among vectors of real text, beside raw faiss and LanceDB and by brute force."""

import asyncio
import sys

import numpy as np
from groundkit_core.embedders.onnx import OnnxEmbedder
from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.errors import EmbeddingProviderNotConfiguredError

from benchmarks.cached import MINILM_TOKENS, CachedEmbedder, minilm_folder, vector_folder
from benchmarks.dense_case import Case, measured_case
from benchmarks.dense_collection import in_collection
from benchmarks.dense_peers import BREADTH, BUILD_BREADTH, LINKS, RESCORED
from benchmarks.dense_sides import missing_sides
from benchmarks.near import SIGMA, K, augmented
from benchmarks.report import BenchmarkError, Report, Row, Table, Target
from benchmarks.sentences import asked, sentences
from scripts.models import DifferentHashError, FetchError

__all__ = ["run"]

REAL, AUGMENTED = (10_000, 50_000), 1_000_000
MORE = 1_000
QUERIES, FEW_QUERIES = 300, 100
_INDEXES = (
    "indexes: scan is exact over half precision; graph is HNSW over a byte a dimension "
    f"({LINKS} links, {BUILD_BREADTH} and {BREADTH} wide), {RESCORED} x {K} rescored from the "
    "scan; MB"
)
_SEARCHES = (
    f"nearest {K}: ms, and recall@{K} against brute force in float32; groundkit has no filters of "
    "metadata yet, so its filters bar rows as deletes do"
)
_COLLECTIONS = (
    f"whole collections of texts, scanned: s to embed from memory, then {MORE} more in 10 commits, "
    "then a tenth removed; ms to search"
)
_SOURCES = (
    "vectors: sentences of scifact and paragraphs of docs_fastapi, docs_rust_book and docs_peps; "
    f"{AUGMENTED:,} are those again with noise of sigma {SIGMA} a dimension, at segment level"
)


def run(*, quick: bool, size: int | None) -> Report:
    """Build, disk, memory, times and recall of each kind of index at each size."""
    sizes = _sizes(quick, size)
    embedder = _embedder()
    texts = sentences()[: min(max(sizes), max(REAL)) + MORE]
    vectors = _vectors(embedder, texts, "document")
    queries = _vectors(embedder, asked()[:QUERIES], "query")
    cases: list[Case] = []
    whole: list[Row] = []
    for rows in sizes:
        if rows == AUGMENTED:
            _say(f"{rows} vectors, graph ...")
            many = augmented(vectors, rows + MORE)
            cases.append(measured_case(many, MORE, queries[:FEW_QUERIES], graph=True))
            continue
        for graph in (False, True):
            _say(f"{rows} vectors, {'graph' if graph else 'scan'} ...")
            cases.append(measured_case(vectors[: rows + MORE], MORE, queries, graph=graph))
        _say(f"{rows} texts in a collection ...")
        whole.append(in_collection(texts[: rows + MORE], vectors[: rows + MORE], MORE, queries))
    absent = missing_sides()
    tables = [
        Table(_INDEXES, [row for case in cases for row in case.indexes]),
        Table(_SEARCHES, [row for case in cases for row in case.searches]),
        Table(_COLLECTIONS, whole),
        Table("not measured", [{"side": side, "why": why} for side, why in absent.items()]),
        Table(_SOURCES, [embedder.row()]),
    ]
    return Report(
        benchmark="dense",
        quick=quick,
        peers=[name for name in ("faiss-cpu", "lancedb") if name not in absent],
        tables=[table for table in tables if table.rows],
        targets=[target for case in cases for target in _targets(case)],
    )


def _sizes(quick: bool, only: int | None) -> tuple[int, ...]:
    if only is None:
        return REAL[:1] if quick else (*REAL, AUGMENTED)
    known = (*REAL, AUGMENTED)
    if only not in known:
        raise BenchmarkError(f"{only} is no size; one of: {', '.join(map(str, known))}")
    return (only,)


def _targets(case: Case) -> list[Target]:
    name = f"{case.size} {case.kind}"
    found = [
        Target(
            f"{name}: p50 / (1.2 x raw faiss + 0.3 ms), the largest",
            max(row["p50"] / (1.2 * row["faiss p50"] + 0.3) for row in case.searches),
            at_most=1.0,
        ),
        Target(
            f"{name}: vector files / float32 vectors", case.indexes[0]["/ float32"], at_most=1.3
        ),
    ]
    if case.kind == "graph":
        least = min(row["recall"] for row in case.searches)
        found.append(Target(f"{name}: recall@{K}, the least", least, at_least=0.98))
    return found


def _embedder() -> CachedEmbedder:
    try:
        minilm = OnnxEmbedder(minilm_folder(), max_tokens=MINILM_TOKENS)
    except (FetchError, DifferentHashError, EmbeddingProviderNotConfiguredError) as error:
        raise BenchmarkError(str(error)) from error
    return CachedEmbedder(minilm, vector_folder())


def _vectors(embedder: CachedEmbedder, texts: list[str], purpose: Purpose) -> Vectors:
    _say(f"vectors of {len(texts)} texts ...")
    return np.ascontiguousarray(asyncio.run(embedder.embed(texts, purpose=purpose)))


def _say(text: str) -> None:
    print(text, file=sys.stderr)
