"""Every stage of retrieval over a labelled set."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

from groundkit_core.contracts import Citation, RetrievalResult, SearchMode, SearchResponse
from groundkit_core.contracts import Span as CitedSpan
from groundkit_core.embedding import EmbeddingProtocol, identity_of
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.legs import Fusion
from groundkit_core.retrieval.rerank import RerankerProtocol, reranked

from groundkit_evals.dataset import Dataset
from groundkit_evals.metrics.spans import Span
from groundkit_evals.schema import (
    DatasetInfo,
    EvalReport,
    Found,
    QueryRecord,
    QueryResult,
    RunConfig,
    Stage,
    StageResult,
)
from groundkit_evals.scoring import held, scored

__all__ = ["STRUCTURAL", "Progress", "run", "search_at"]

SHOWN = 10
EXCERPT = 300
STRUCTURAL = {
    "inmemory": "the embedder is a double made of hashes: its numbers are structural and say "
    "nothing about meaning",
    "scripted": "the replies come from a script: its numbers are structural and say nothing "
    "about a model",
}

Progress = Callable[[str, int, int], None]
"""Told the step, how much of it is done, and how much there is."""
_MODES: dict[Stage, SearchMode] = {"bm25": "bm25", "dense": "dense", "fusion": "hybrid"}


@dataclass(frozen=True)
class Answer:
    """A response, and how long it took; a stage that reorders adds to its input's time."""

    response: SearchResponse
    seconds: float


def run(
    dataset: Dataset,
    collection: Collection,
    config: RunConfig | None = None,
    *,
    reranker: RerankerProtocol | None = None,
    progress: Progress | None = None,
) -> EvalReport:
    """Fill a collection with the set and ask it every query, at every stage there is.

    `dense` and `fusion` need the collection's embedder, `rerank` a reranker; it reorders the
    fusion, or what words found where nothing else did.
    """
    config = config or RunConfig()
    tell = progress or (lambda *_: None)
    tell("index", 0, 1)
    dataset.fill(collection, config.chunking, config.language)
    tell("index", 1, 1)
    embedder = collection.embedder
    stages: list[StageResult] = []
    held: list[Answer] = []
    for stage in _stages(embedder, reranker):
        source = _input(stage, embedder)
        results: list[QueryResult] = []
        kept: list[Answer] = []
        if stage in _MODES:
            _search(collection, dataset.queries[0].text, _MODES[stage], config)  # not timed
        for number, query in enumerate(dataset.queries):
            tell(stage, number, len(dataset.queries))
            if stage == "rerank" and reranker is not None:
                found = _rerank(held[number], reranker, config)
            else:
                found = _search(collection, query.text, _MODES[stage], config)
            results.append(_result(query, found))
            if reranker is not None:
                kept.append(found)
        tell(stage, len(dataset.queries), len(dataset.queries))
        held = kept
        model = _model(stage, embedder, reranker)
        stages.append(StageResult(stage=stage, input=source, model=model, results=tuple(results)))
    info = collection.info()
    structural = STRUCTURAL.get(embedder.provider) if embedder else None
    return EvalReport(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        groundkit=version("groundkit-evals"),
        dataset=DatasetInfo(
            name=dataset.name,
            corpus_hash=dataset.corpus_hash,
            judgments_hash=dataset.judgments_hash,
            documents=info.documents,
            passages=info.chunks,
        ),
        config=config,
        warnings=(*dataset.warnings, *([structural] if structural else [])),
        queries=dataset.queries,
        stages=tuple(stages),
    )


def search_at(
    stage: Stage,
    collection: Collection,
    config: RunConfig,
    top_k: int,
    reranker: RerankerProtocol | None = None,
) -> Callable[[str], SearchResponse]:
    """The best `top_k` of a stage, their citations verified, as a function of the query."""

    def search(query: str) -> SearchResponse:
        source = _input(stage, collection.embedder) if stage == "rerank" else stage
        found = _search(collection, query, _MODES[source or stage], config)
        if stage == "rerank" and reranker is not None:
            found = _rerank(found, reranker, config)
        best = found.response.results[:top_k]
        return collection.verified(found.response.model_copy(update={"results": best}))

    return search


def _stages(embedder: EmbeddingProtocol | None, reranker: RerankerProtocol | None) -> list[Stage]:
    stages: list[Stage] = ["bm25"]
    if embedder is not None:
        stages += ["dense", "fusion"]
    if reranker is not None:
        stages.append("rerank")
    return stages


def _input(stage: Stage, embedder: EmbeddingProtocol | None) -> Stage | None:
    """What a stage has to be better than to be worth its cost, besides BM25."""
    if stage == "fusion":
        return "dense"
    if stage == "rerank":
        return "fusion" if embedder else "bm25"
    return None


def _model(
    stage: Stage, embedder: EmbeddingProtocol | None, reranker: RerankerProtocol | None
) -> str | None:
    if stage == "rerank" and reranker is not None:
        return reranker.model_name
    return str(identity_of(embedder)) if embedder and stage in ("dense", "fusion") else None


def _search(collection: Collection, query: str, mode: SearchMode, config: RunConfig) -> Answer:
    fusion = Fusion(min_similarity=None if mode == "bm25" else config.min_similarity)
    begin = time.perf_counter()
    response = collection.search(query, top_k=config.depth, mode=mode, fusion=fusion)
    return Answer(response, time.perf_counter() - begin)


def _rerank(found: Answer, reranker: RerankerProtocol, config: RunConfig) -> Answer:
    """The first of the input in a new order, the rest behind them as they were."""
    begin = time.perf_counter()
    results = found.response.results
    looked_at = found.response.model_copy(update={"results": results[: config.rerank_depth]})
    ordered = reranked(looked_at, reranker, config.rerank_depth).results if results else ()
    whole = (*ordered, *results[config.rerank_depth :])
    response = found.response.model_copy(update={"results": whole})
    return Answer(response, found.seconds + time.perf_counter() - begin)


def _result(query: QueryRecord, answer: Answer) -> QueryResult:
    results = answer.response.results
    places = [_places(result) for result in results]
    brought = held(query, places)
    wanted = {expected.unit for expected in query.expected if expected.gain > 0}
    ranked = [unit for units in brought for unit in units]
    return QueryResult(
        query=query.id,
        seconds=answer.seconds,
        found=tuple(
            _found(result, [unit for unit in units if unit in wanted])
            for result, units in zip(results[:SHOWN], brought, strict=False)
        ),
        ranks={unit: rank for rank, unit in enumerate(ranked, start=1) if unit in wanted},
        metrics=scored(query, places, brought),
    )


def _places(result: RetrievalResult) -> list[Span]:
    return [_span(citation) for citation in (result.citation, *result.copies)]


def _span(citation: Citation) -> Span:
    return citation.source, citation.start, citation.end


def _found(result: RetrievalResult, holds: Sequence[str]) -> Found:
    return Found(
        score=_score(result),
        source=result.citation.source,
        span=CitedSpan(start=result.citation.start, end=result.citation.end),
        excerpt=result.content[:EXCERPT],
        holds=tuple(holds),
    )


def _score(result: RetrievalResult) -> float:
    reordered = result.components.get("rerank")
    return reordered.score if reordered else result.score
