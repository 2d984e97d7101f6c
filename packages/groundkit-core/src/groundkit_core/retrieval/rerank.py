"""A second look at what a search found: the same results in a reranker's order."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from groundkit_core.config import MAX_TOP_K
from groundkit_core.contracts import Component, RetrievalResult, SearchResponse
from groundkit_core.errors import GroundkitError, RetrievalError

__all__ = ["RerankerProtocol", "reranked"]


@runtime_checkable
class RerankerProtocol(Protocol):
    """Scores passages against a query; any finite number is a score, a higher one is better."""

    @property
    def model_name(self) -> str:
        """The name that errors and reports call it by."""
        ...

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, in their order; it may not depend on the other passages."""
        ...


def reranked(
    response: SearchResponse, reranker: RerankerProtocol, top_k: int | None = None
) -> SearchResponse:
    """The results in the reranker's order, all of them or the best `top_k`.

    A result keeps the score that it was found with; `components["rerank"]` holds the new one.
    """
    if top_k is not None and not 1 <= top_k <= MAX_TOP_K:
        raise RetrievalError(f"top_k is {top_k}, it must be 1 to {MAX_TOP_K}")
    k = response.top_k if top_k is None else top_k
    scores = _scores(response, reranker) if response.results else []
    order = sorted(
        zip(scores, response.results, strict=True),
        key=lambda pair: (-pair[0], pair[1].citation.chunk_id),
    )
    results = [_placed(result, rank, score) for rank, (score, result) in enumerate(order, start=1)]
    return response.model_copy(update={"top_k": k, "results": tuple(results[:k])})


def _placed(result: RetrievalResult, rank: int, score: float) -> RetrievalResult:
    components = {**result.components, "rerank": Component(rank=rank, score=score)}
    return result.model_copy(update={"rank": rank, "components": components})


def _scores(response: SearchResponse, reranker: RerankerProtocol) -> list[float]:
    """One finite number a result, or an error that names the reranker."""
    who = f"the reranker {reranker.model_name}"
    passages = [result.content for result in response.results]
    try:
        found = np.asarray(reranker.scores(response.query, passages), dtype=np.float64)
    except GroundkitError:
        raise
    except Exception as error:
        # It is the caller's own code, and a search that asked for it has no other answer.
        raise RetrievalError(f"{who} failed with {type(error).__name__}") from error
    if found.shape != (len(passages),):
        shape = " x ".join(map(str, found.shape)) or "one"
        raise RetrievalError(f"{who} gave {shape} scores for {len(passages)} passages")
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        chunk = response.results[bad[0]].citation.chunk_id
        raise RetrievalError(f"{who} gave no finite score for passage {chunk}")
    scores: list[float] = found.tolist()
    return scores
