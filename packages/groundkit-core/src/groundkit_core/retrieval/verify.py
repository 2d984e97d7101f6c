"""Verifying many citations against what a collection recorded of them."""

from collections.abc import Callable, Sequence
from itertools import groupby

from groundkit_core.contracts import Citation, SearchResponse, Verification
from groundkit_core.index.view import View
from groundkit_core.retrieval.citations import read_source, resolve_citation
from groundkit_core.retrieval.sources import SourceReader

__all__ = ["Cited", "held_passages", "resolve_all", "with_verdicts"]

Cited = tuple[Citation, str | None]
"""A citation with the cited text, where that is at hand."""

Held = dict[str, tuple[str, int]]
"""By chunk id: the text, and how often its document holds it."""


def held_passages(view: View, cited: Sequence[Cited]) -> Held:
    """Text of the cited passages that the collection holds, and how often its document does."""
    found = {}
    for row in view.store.fetch("id", {citation.chunk_id for citation, _ in cited}):
        times = view.store.rows(
            "SELECT count(*) FROM chunk WHERE hash=? AND doc=(SELECT doc FROM chunk WHERE seq=?)",
            row[9],
            row[0],
        )
        found[row[1]] = (row[11], times[0][0])
    return found


def resolve_all(
    cited: Sequence[Cited], reader: SourceReader, look_up: Callable[[Sequence[Cited]], Held]
) -> list[Verification]:
    """Verdicts in the order of the citations; each source is read once.

    What the collection holds is only looked up for passages that no longer stand at their span.
    """
    verdicts: dict[int, Verification] = {}
    order = sorted(range(len(cited)), key=lambda index: _source_key(cited[index][0]))
    for _, group in groupby(order, key=lambda index: _source_key(cited[index][0])):
        indices = list(group)
        source = read_source(cited[indices[0]][0], reader)
        for index in indices:
            citation, content = cited[index]
            verdicts[index] = resolve_citation(citation, reader, content=content, source=source)
        doubtful = [i for i in indices if verdicts[i].status in ("moved", "drifted")]
        held = look_up([cited[index] for index in doubtful]) if doubtful else {}
        for index in doubtful:
            citation, content = cited[index]
            known, occurrences = held.get(citation.chunk_id, (None, 1))
            verdicts[index] = resolve_citation(
                citation,
                reader,
                content=known if content is None else content,
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
