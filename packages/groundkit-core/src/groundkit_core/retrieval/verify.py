"""Verifying many citations against what a collection recorded of them."""

from collections.abc import Sequence

from groundkit_core.contracts import Citation, SearchResponse, Verification
from groundkit_core.index.view import View
from groundkit_core.retrieval.citations import read_source, resolve_citation
from groundkit_core.retrieval.sources import SourceReader

__all__ = ["Cited", "held_passages", "resolve_all", "with_verdicts"]

Cited = tuple[Citation, str | None]
"""A citation with the cited text, where that is at hand."""


def held_passages(view: View, cited: Sequence[Cited]) -> dict[str, tuple[str, int]]:
    """Text of the cited passages that the collection holds, and how often its document does."""
    wanted = list({citation.chunk_id for citation, _ in cited})
    found = {}
    for row in view.store.fetch("id", wanted):
        times = view.store.rows(
            "SELECT count(*) FROM chunk WHERE hash=? AND doc=(SELECT doc FROM chunk WHERE seq=?)",
            row[9],
            row[0],
        )
        found[row[1]] = (row[11], times[0][0])
    return found


def resolve_all(
    cited: Sequence[Cited], held: dict[str, tuple[str, int]], reader: SourceReader
) -> list[Verification]:
    """Verdicts in the order of the citations; each source is read once."""
    verdicts: dict[int, Verification] = {}
    read_key, source = None, None
    for index in sorted(range(len(cited)), key=lambda i: _source_key(cited[i][0])):
        citation, content = cited[index]
        if source is None or read_key != _source_key(citation):
            read_key, source = _source_key(citation), read_source(citation, reader)
        known, occurrences = held.get(citation.chunk_id, (None, 1))
        verdicts[index] = resolve_citation(
            citation,
            reader,
            content=content if content is not None else known,
            occurrences=occurrences,
            source=source,
        )
    return [verdicts[index] for index in range(len(cited))]


def _source_key(citation: Citation) -> tuple[str, str, str]:
    return citation.source, citation.extractor, citation.encoding or ""


def with_verdicts(response: SearchResponse, verdicts: Sequence[Verification]) -> SearchResponse:
    """The response with a verdict on each result."""
    results = tuple(
        result.model_copy(update={"verification": verdict})
        for result, verdict in zip(response.results, verdicts, strict=True)
    )
    return response.model_copy(update={"results": results})
