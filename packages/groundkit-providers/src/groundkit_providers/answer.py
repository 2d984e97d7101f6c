"""Rewrite, search, synthesis and judgement composed into one report.

Every collaborator is given: nothing here chooses a model or opens a collection.
"""

from typing import Protocol

from groundkit_core.contracts import (
    Citation,
    Contract,
    RetrievalResult,
    SearchMode,
    SearchResponse,
)
from groundkit_core.retrieval.search import check_query

from groundkit_providers.judge import FaithfulnessJudge, FaithfulnessVerdict
from groundkit_providers.query_rewrite import QueryRewriter
from groundkit_providers.synthesis import Synthesizer

__all__ = ["AnswerPipeline", "AnswerReport", "SearchCallable"]


class SearchCallable(Protocol):
    """What `Retriever.search` is: a coroutine function from a query to a response."""

    async def __call__(
        self, query: str, *, top_k: int | None = None, mode: SearchMode = "bm25"
    ) -> SearchResponse: ...


class AnswerReport(Contract):
    """An answer, what it cites and everything that it was made from.

    The marker `[n]` cites `results[n-1]`; `citations` holds each cited one once, in order of
    first mention, and is empty when the model abstained.
    """

    query: str
    rewritten_query: str | None = None
    answer: str
    citations: tuple[Citation, ...] = ()
    results: tuple[RetrievalResult, ...] = ()
    verdict: FaithfulnessVerdict | None = None


class AnswerPipeline:
    """Answers questions with the collaborators it was given; their errors come through as is."""

    def __init__(
        self,
        search: SearchCallable,
        synthesizer: Synthesizer,
        *,
        rewriter: QueryRewriter | None = None,
        judge: FaithfulnessJudge | None = None,
    ) -> None:
        self._search = search
        self._synthesizer = synthesizer
        self._rewriter = rewriter
        self._judge = judge

    async def answer(
        self, query: str, *, top_k: int | None = None, mode: SearchMode = "bm25"
    ) -> AnswerReport:
        """Search with the rewritten query if there is a rewriter; answer the original one.

        The judge sees every passage that the model saw, and its verdict changes nothing.
        """
        check_query(query)
        rewritten = await self._rewriter.rewrite(query) if self._rewriter else None
        response = await self._search(
            query if rewritten is None else rewritten, top_k=top_k, mode=mode
        )
        made = await self._synthesizer.synthesize(query, response.results)
        verdict = None
        if self._judge is not None:
            sources = [result.content for result in response.results]
            verdict = await self._judge.judge(query=query, answer=made.answer, sources=sources)
        return AnswerReport(
            query=query,
            rewritten_query=rewritten,
            answer=made.answer,
            citations=made.citations,
            results=response.results,
            verdict=verdict,
        )
