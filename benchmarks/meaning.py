"""What words find, what vectors find and what both find, for two embedders."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from statistics import fmean
from tempfile import TemporaryDirectory

from groundkit_core import Collection
from groundkit_core.contracts import SearchMode
from groundkit_core.embedders.onnx import OnnxEmbedder
from groundkit_core.embedders.static import StaticEmbedder
from groundkit_core.errors import EmbeddingProviderNotConfiguredError
from groundkit_evals.metrics import ndcg, recall

from benchmarks.cached import MINILM_TOKENS, CachedEmbedder, minilm_folder, vector_folder
from benchmarks.fusion_settings import PREFIXES, Prefixes, fusion_settings
from benchmarks.labelled import LabelledSet, load
from benchmarks.quality import DEPTH, QUICK_QUESTIONS, WHOLE, collection_of, covered, hits, ranked
from benchmarks.report import BenchmarkError, Report, Row, Table, Target
from scripts.models import DifferentHashError, FetchError

__all__ = ["documents_found", "passages_found", "run"]

MEANING = ("scifact", "covid_faq_en", "covid_faq_de", "xquad/en", "xquad/de", "xquad/zh")
ACROSS = ("xquad/en", "xquad/de")
PASSAGES = "chunk_eval"
GAIN = 0.02
Figures = dict[str, dict[str, float]]
"""For each measure, a figure for each ranking."""


def run(*, quick: bool) -> Report:
    """nDCG, recall and character recall of BM25, dense and hybrid, side by side."""
    embedders = _embedders()
    rows: list[Row] = []
    for data in _sets(quick):
        print(f"{data.name} ...", file=sys.stderr)
        measure = passages_found if data.name == PASSAGES else documents_found
        for name, figures in measure(data, embedders).items():
            rows.append(
                {
                    "set": data.name,
                    "documents": len(data.texts),
                    "queries": len(data.questions),
                    "measure": name,
                    **figures,
                }
            )
    tables = [Table("by words, by vectors and by both; documents are indexed whole", rows)]
    if not quick:
        tables += fusion_settings({prefixes: _minilm(prefixes) for prefixes in PREFIXES})
    tables += [Table("vectors", [embedder.row() for embedder in embedders.values()])]
    return Report(
        benchmark="meaning",
        quick=quick,
        peers=("faiss-cpu", "onnxruntime", "tokenizers", "wordllama"),
        tables=tables,
        targets=[
            Target(
                "nDCG@10 on scifact, hybrid with MiniLM less BM25",
                row["MiniLM hybrid"] - row["BM25"],
                at_least=GAIN,
            )
            for row in rows
            if (row["set"], row["measure"]) == ("scifact", "nDCG@10") and not quick
        ],
    )


def _embedders() -> dict[str, CachedEmbedder]:
    try:
        static = CachedEmbedder(StaticEmbedder(), vector_folder())
        return {"static": static, "MiniLM": _minilm(("", ""))}
    except (FetchError, DifferentHashError, EmbeddingProviderNotConfiguredError) as error:
        raise BenchmarkError(str(error)) from error


def _minilm(prefixes: Prefixes) -> CachedEmbedder:
    document, query = prefixes
    minilm = OnnxEmbedder(
        minilm_folder(),
        max_tokens=MINILM_TOKENS,
        document_prefix=document,
        query_prefix=query,
    )
    return CachedEmbedder(minilm, vector_folder())


def _sets(quick: bool) -> list[LabelledSet]:
    asking, answering = map(load, ACROSS)
    across = replace(answering, name="xquad/en to de", questions=asking.questions)
    found = [*map(load, MEANING), across, load(PASSAGES)]
    if not quick:
        return found
    return [replace(data, questions=data.questions[:QUICK_QUESTIONS]) for data in found]


def documents_found(data: LabelledSet, embedders: Mapping[str, CachedEmbedder]) -> Figures:
    """Whether the right documents are found."""

    def measured(collection: Collection, mode: SearchMode) -> dict[str, float]:
        found = ranked(
            data.questions, lambda query: [s for s, *_ in hits(collection, query, DEPTH, mode)]
        )
        return {
            "nDCG@10": fmean(ndcg(ids, asked.gains, 10) for asked, ids in found),
            f"recall@{DEPTH}": fmean(recall(ids, asked.gains, DEPTH) for asked, ids in found),
        }

    with TemporaryDirectory() as folder:
        static, *_ = embedders.values()
        with collection_of(folder, data, WHOLE, static) as collection:
            return _rankings(collection, embedders, measured)


def passages_found(data: LabelledSet, embedders: Mapping[str, CachedEmbedder]) -> Figures:
    """How much of the answers' characters is returned."""

    def measured(collection: Collection, mode: SearchMode) -> dict[str, float]:
        found = partial(hits, collection, mode=mode)
        return {f"character recall@{k}": covered(data, partial(found, k=k)) for k in (5, 10)}

    with TemporaryDirectory() as folder:
        static, *_ = embedders.values()
        with collection_of(folder, data, embedder=static) as collection:
            return _rankings(collection, embedders, measured)


def _rankings(
    collection: Collection,
    embedders: Mapping[str, CachedEmbedder],
    measured: Callable[[Collection, SearchMode], dict[str, float]],
) -> Figures:
    columns = {"BM25": measured(collection, "bm25")}
    for name, embedder in embedders.items():
        collection.change_embedder(embedder)
        columns[name] = measured(collection, "dense")
        columns[f"{name} hybrid"] = measured(collection, "hybrid")
    measures = columns["BM25"]
    return {
        measure: {column: figures[measure] for column, figures in columns.items()}
        for measure in measures
    }
