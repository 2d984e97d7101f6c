"""Results of a search, made by hand."""

from groundkit_core.contracts import (
    Citation,
    RetrievalResult,
    SearchResponse,
    Verification,
    VerificationStatus,
)
from groundkit_core.ids import chunk_id, content_hash, document_id

__all__ = ["response", "result"]


def result(
    content: str,
    *,
    rank: int = 1,
    source: str = "manual/a.md",
    start: int = 0,
    status: VerificationStatus | None = None,
) -> RetrievalResult:
    document = document_id(source)
    return RetrievalResult(
        rank=rank,
        score=1 / rank,
        content=content,
        citation=Citation(
            document_id=document,
            chunk_id=chunk_id(document, content, 0),
            source=source,
            start=start,
            end=start + len(content),
            extractor="text@1",
            content_hash=content_hash(content),
        ),
        verification=None if status is None else Verification(status=status, reason=status),
    )


def response(*results: RetrievalResult) -> SearchResponse:
    return SearchResponse(
        query="hose",
        mode="bm25",
        top_k=10,
        collection="default",
        generation=1,
        results=results,
    )
