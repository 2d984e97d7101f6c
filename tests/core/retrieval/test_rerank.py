"""The results of a search in a reranker's order."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Citation, Collection, RetrievalResult, SearchResponse
from groundkit_core.config import MAX_TOP_K, ChunkingConfig
from groundkit_core.contracts import Component
from groundkit_core.errors import GroundkitError, RerankerNotConfiguredError, RetrievalError
from groundkit_core.ids import chunk_id, content_hash, document_id
from groundkit_core.rerankers.onnx import CrossEncoderReranker
from groundkit_core.retrieval.rerank import RerankerProtocol, reranked

from tests.core.index.support import documents, found
from tests.core.rerankers.cross_encoder import save_model, save_tokenizer

CANARY = "canary-of-query"


class ScriptedReranker:
    """Gives what it was told to and keeps what it was asked."""

    model_name = "scripted"

    def __init__(self, given: Any) -> None:
        self.given = given
        self.asked: list[tuple[str, list[str]]] = []

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        self.asked.append((query, list(passages)))
        if isinstance(self.given, Exception):
            raise self.given
        return self.given  # type: ignore[no-any-return]


def passage(rank: int, source: str) -> RetrievalResult:
    content = f"text of {source}"
    document = document_id(source)
    return RetrievalResult(
        rank=rank,
        score=10.0 - rank,
        content=content,
        citation=Citation(
            document_id=document,
            chunk_id=chunk_id(document, content, 0),
            source=source,
            start=0,
            end=len(content),
            extractor="given@1",
            content_hash=content_hash(content),
        ),
        components={"bm25": Component(rank=rank, score=10.0 - rank)},
    )


def response(*sources: str) -> SearchResponse:
    return SearchResponse(
        query=CANARY,
        mode="bm25",
        top_k=10,
        collection="c",
        generation=1,
        results=tuple(passage(rank, source) for rank, source in enumerate(sources, start=1)),
    )


def test_results_come_in_the_order_of_the_new_scores_and_keep_the_old() -> None:
    before = response("a", "b", "c")
    reranker = ScriptedReranker([0.5, -5.0, 2.0])
    assert isinstance(reranker, RerankerProtocol)
    after = reranked(before, reranker)
    assert reranker.asked == [(CANARY, ["text of a", "text of b", "text of c"])]
    a, b, c = before.results
    assert after == before.model_copy(
        update={
            "results": tuple(
                old.model_copy(
                    update={
                        "rank": rank,
                        "components": {
                            "bm25": old.components["bm25"],
                            "rerank": Component(rank=rank, score=score),
                        },
                    }
                )
                for rank, score, old in [(1, 2.0, c), (2, 0.5, a), (3, -5.0, b)]
            )
        }
    )


def test_negative_scores_are_scores() -> None:
    after = reranked(response("a", "b"), ScriptedReranker([-5.0, -2.1]))
    assert found(after) == ["b", "a"]


def test_equal_scores_come_in_the_order_of_their_chunk_ids() -> None:
    sources = ["a", "b", "c", "d"]
    by_id = sorted(sources, key=lambda source: passage(1, source).citation.chunk_id)
    for order in permutations(sources):
        assert found(reranked(response(*order), ScriptedReranker([1.0] * 4))) == by_id


def test_top_k_keeps_the_best_of_all() -> None:
    after = reranked(response("a", "b", "c"), ScriptedReranker([1.0, 2.0, 3.0]), 2)
    assert (found(after), after.top_k) == (["c", "b"], 2)


def test_without_top_k_that_of_the_search_holds() -> None:
    shorter = response("a", "b", "c").model_copy(update={"top_k": 1})
    assert found(reranked(shorter, ScriptedReranker([1.0, 2.0, 3.0]))) == ["c"]


@pytest.mark.parametrize("top_k", [0, -1, MAX_TOP_K + 1])
def test_top_k_outside_its_limits_is_an_error_before_any_work(top_k: int) -> None:
    reranker = ScriptedReranker([1.0])
    with pytest.raises(RetrievalError, match=f"top_k is {top_k}, it must be 1 to {MAX_TOP_K}"):
        reranked(response("a"), reranker, top_k)
    assert reranker.asked == []


def test_nothing_found_asks_nothing() -> None:
    reranker = ScriptedReranker([])
    assert reranked(response(), reranker) == response()
    assert reranker.asked == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([1.0], "gave 1 scores for 2 passages"),
        ([1.0, 2.0, 3.0], "gave 3 scores for 2 passages"),
        ([], "gave 0 scores for 2 passages"),
        ([[1.0], [2.0]], "gave 2 x 1 scores for 2 passages"),
        (1.0, "gave one scores for 2 passages"),
        (["high", "low"], "failed with ValueError"),
        (None, "gave one scores for 2 passages"),
        (RuntimeError(CANARY), "failed with RuntimeError"),
    ],
)
def test_a_reranker_that_breaks_is_an_error_and_never_skipped(given: Any, reason: str) -> None:
    with pytest.raises(RetrievalError) as caught:
        reranked(response("a", "b"), ScriptedReranker(given))
    assert str(caught.value) == f"the reranker scripted {reason}"


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), None])
def test_a_score_that_is_no_finite_number_names_its_passage(score: float | None) -> None:
    found = response("a", "b")
    with pytest.raises(RetrievalError) as caught:
        reranked(found, ScriptedReranker([1.0, score]))
    chunk = found.results[1].citation.chunk_id
    assert str(caught.value) == f"the reranker scripted gave no finite score for passage {chunk}"


def test_an_error_that_says_what_to_do_passes_unchanged() -> None:
    error: GroundkitError = RerankerNotConfiguredError("install it")
    with pytest.raises(RerankerNotConfiguredError) as caught:
        reranked(response("a"), ScriptedReranker(error))
    assert caught.value is error


def test_a_long_passage_whose_last_sentence_answers_comes_first(tmp_path: Path) -> None:
    save_tokenizer(tmp_path)
    save_model(tmp_path)
    texts = {"short": "w1 w2 w9", "long": "w30 w31 w32 w33 " * 499 + "w1 w2 w3 w1."}
    collection = Collection.open(tmp_path / "c")
    collection.add(documents(texts), chunking=ChunkingConfig(size=2000))
    before = collection.search("w1 w2 w3 w9", top_k=2)
    assert [len(result.content.split()) for result in before.results] == [3, 2000]
    after = reranked(before, CrossEncoderReranker(tmp_path))
    assert found(after) == ["long", "short"]
