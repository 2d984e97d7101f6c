"""Verifying many citations against what a collection recorded of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from groundkit_core.contracts import Citation, SearchResponse, Span, Verification
from groundkit_core.ids import content_hash
from groundkit_core.index.view import View
from groundkit_core.retrieval.citations import (
    SourceText,
    read_source,
    resolve_citation,
    stands,
)
from groundkit_core.retrieval.search import citation_of
from groundkit_core.retrieval.sources import SourceReader

__all__ = ["Cited", "Held", "held_passages", "resolve_all", "with_verdicts"]

Cited = tuple[Citation, str | None]
"""A citation with the cited text, where that is at hand."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a collection holds of a passage: its text, its place, and how often it stands."""

    content: str
    span: Span
    occurrences: int


def held_passages(view: View, cited: Sequence[Cited]) -> dict[str, Held]:
    """The cited passages that the collection still holds, by chunk id."""
    found = {}
    for row in view.store.fetch("id", {citation.chunk_id for citation, _ in cited}):
        times = view.store.rows(
            "SELECT count(*) FROM chunk WHERE hash=? AND doc=(SELECT doc FROM chunk WHERE seq=?)",
            row[9],
            row[0],
        )
        span = citation_of(row)
        found[row[1]] = Held(row[11], Span(start=span.start, end=span.end), times[0][0])
    return found


def resolve_all(
    cited: Sequence[Cited],
    reader: SourceReader,
    look_up: Callable[[Sequence[Cited]], dict[str, Held]],
) -> list[Verification]:
    """Verdicts in the order of the citations; each source is read once.

    What the collection holds is only looked up for passages that no longer stand at their span.
    """
    verdicts: dict[int, Verification] = {}
    order = sorted(range(len(cited)), key=lambda index: _source_key(cited[index][0]))
    for _, group in groupby(order, key=lambda index: _source_key(cited[index][0])):
        indices = list(group)
        source = read_source(cited[indices[0]][0], reader)
        doubtful = [cited[i] for i in indices if not _stands_still(cited[i][0], source)]
        held = look_up(doubtful) if doubtful else {}
        for index in indices:
            citation, content = cited[index]
            known = held.get(citation.chunk_id)
            if content is None and known and content_hash(known.content) == citation.content_hash:
                content = known.content
            verdicts[index] = resolve_citation(
                citation,
                reader,
                content=content,
                occurrences=known.occurrences if known else 1,
                last_seen=known.span if known else None,
                source=source,
            )
    return [verdicts[index] for index in range(len(cited))]


def _stands_still(citation: Citation, source: SourceText) -> bool:
    span = Span(start=citation.start, end=citation.end)
    return source.text is None or stands(citation, source.text, span)


def _source_key(citation: Citation) -> tuple[str, str, str]:
    return citation.source, citation.extractor, citation.encoding or ""


def with_verdicts(response: SearchResponse, verdicts: Sequence[Verification]) -> SearchResponse:
    """The response with a verdict on each result."""
    results = tuple(
        result.model_copy(update={"verification": verdict})
        for result, verdict in zip(response.results, verdicts, strict=True)
    )
    return response.model_copy(update={"results": results})
