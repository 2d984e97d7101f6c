"""Passages to answer from, and models that reply by script."""

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

from groundkit_core.contracts import (
    Citation,
    RetrievalResult,
    SearchMode,
    SearchResponse,
    Verification,
    VerificationStatus,
)
from groundkit_core.ids import chunk_id, content_hash, document_id
from groundkit_providers.testing import RecordingChat, ScriptedChatProvider

__all__ = [
    "CANARY",
    "RecordingSearch",
    "background",
    "context_of",
    "passage",
    "passages",
    "response",
    "run",
    "scripted",
]

T = TypeVar("T")

CANARY = "canary-7319"
TEXTS = ("The pump stops in ten seconds.", "The valve opens slowly.", "The safe holds a ledger.")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, in an event loop of its own."""
    return asyncio.run(coroutine)


def passage(number: int, content: str, status: VerificationStatus | None = None) -> RetrievalResult:
    """One result, whose rank is not its place in the list."""
    source = f"docs/page-{number}.md"
    document = document_id(source)
    citation = Citation(
        document_id=document,
        chunk_id=chunk_id(document, content, 0),
        source=source,
        start=10 * number,
        end=10 * number + len(content),
        extractor="text@1",
        content_hash=content_hash(content),
        lines=(number, number),
    )
    verdict = None if status is None else Verification(status=status, reason="as the test says")
    return RetrievalResult(
        rank=2 * number + 5,
        score=1.0 / number,
        content=content,
        citation=citation,
        verification=verdict,
    )


def passages(*contents: str) -> tuple[RetrievalResult, ...]:
    """Results in this order; three innocent ones if no text is given."""
    return tuple(passage(n, content) for n, content in enumerate(contents or TEXTS, 1))


def response(*contents: str, query: str = "found") -> SearchResponse:
    """What a search for these passages returns."""
    return SearchResponse(
        query=query,
        mode="bm25",
        top_k=10,
        collection="default",
        generation=1,
        results=passages(*contents),
    )


def scripted(*replies: str) -> RecordingChat:
    """A model that gives these replies and keeps what it was asked."""
    return RecordingChat(ScriptedChatProvider(replies))


class RecordingSearch:
    """A search that always finds the same and keeps what it was asked."""

    def __init__(self, found: SearchResponse | Exception) -> None:
        self.found = found
        self.calls: list[tuple[str, int | None, SearchMode]] = []

    async def __call__(
        self, query: str, *, top_k: int | None = None, mode: SearchMode = "bm25"
    ) -> SearchResponse:
        self.calls.append((query, top_k, mode))
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def context_of(prompt: str) -> str:
    """The block of sources in a prompt."""
    begin, end = "<retrieved_context>", "</retrieved_context>"
    assert prompt.count(begin) == prompt.count(end) == 1
    return prompt[prompt.index(begin) : prompt.index(end) + len(end)]


def background(error: BaseException) -> Iterator[str]:
    """Everything that an error and those behind it would show."""
    seen: BaseException | None = error
    while seen is not None:
        yield f"{seen} {seen!r} {vars(seen)}"
        seen = seen.__cause__ or seen.__context__
