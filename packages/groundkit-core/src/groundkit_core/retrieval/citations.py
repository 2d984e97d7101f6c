"""Checking a citation by reading its source again."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from groundkit_core.contracts import Citation, Span, Verification
from groundkit_core.errors import SourceError
from groundkit_core.ids import chunk_id, content_hash
from groundkit_core.loading.detect import decode, decode_as
from groundkit_core.loading.formats import FORMATS
from groundkit_core.retrieval.sources import SourceReader
from groundkit_core.spans import line_range

__all__ = ["SourceText", "read_source", "resolve_citation", "stands"]

_MOST_PLACES = 20
_LONGEST_SEARCH = 2_000_000
_EXTRACTORS = {"given@1", *(known.identity for known in FORMATS)}


@dataclass(frozen=True, slots=True)
class SourceText:
    """What a source holds now, or why that cannot be told."""

    text: str | None
    reason: str = ""


def read_source(citation: Citation, reader: SourceReader) -> SourceText:
    """The text of a citation's source, read in this call with the recorded encoding."""
    if citation.extractor not in _EXTRACTORS:
        return SourceText(
            None,
            f"it was read by {citation.extractor}, which this version lacks; ingest it again",
        )
    try:
        found = reader.read(citation.source)
        if isinstance(found, str):
            return SourceText(found)
        if citation.encoding is not None:
            return SourceText(decode_as(found, citation.encoding))
        return SourceText(decode(found).text)
    except SourceError as error:
        return SourceText(None, str(error))


def resolve_citation(
    citation: Citation,
    reader: SourceReader,
    *,
    content: str | None = None,
    occurrences: int = 1,
    last_seen: Span | None = None,
    source: SourceText | None = None,
) -> Verification:
    """Whether the cited text still stands in its source.

    `content` is the cited text, which a citation itself holds only as a hash; `occurrences` is how
    often the document held it, `last_seen` where this passage was found since; `source` spares the
    read to a caller that has just done it.
    """
    if content is not None and content_hash(content) != citation.content_hash:
        return Verification(status="drifted", reason="the given text is not the cited text")
    source = source or read_source(citation, reader)
    text = source.text
    if text is None:
        return Verification(status="unresolvable", reason=source.reason)
    cited = Span(start=citation.start, end=citation.end)
    if stands(citation, text, cited):
        return _found("verified", "the cited text stands at its span", cited, text)
    if last_seen is not None and stands(citation, text, last_seen):
        return _found("moved", "the cited text stands elsewhere in the source", last_seen, text)
    if content is None and len(text) > _LONGEST_SEARCH:
        reason = "not at its span, and the source is too long to search by hash alone"
        return Verification(status="drifted", reason=reason)
    places = list(_places(text, citation, content))
    if not places:
        return Verification(
            status="drifted", reason="the cited text no longer stands in the source"
        )
    if len(places) != occurrences:
        return Verification(
            status="drifted",
            reason=f"the cited text stands {len(places)} times in the source, before {occurrences}",
            places=tuple(places[:_MOST_PLACES]),
        )
    passage = text[places[0].start : places[0].end]
    place = places[_occurrence(citation, passage, occurrences)]
    return _found("moved", "the cited text stands elsewhere in the source", place, text)


def stands(citation: Citation, text: str, span: Span) -> bool:
    """Whether the cited text stands at a span of the text."""
    return (
        0 <= span.start < span.end <= len(text)
        and content_hash(text[span.start : span.end]) == citation.content_hash
    )


def _found(
    status: Literal["verified", "moved"], reason: str, span: Span, text: str
) -> Verification:
    lines = line_range(text, span.start, span.end)
    return Verification(status=status, reason=reason, span=span, lines=lines)


def _places(text: str, citation: Citation, content: str | None) -> Iterator[Span]:
    """Spans where the cited text stands, found by itself or else by its length and hash."""
    length = citation.end - citation.start if content is None else len(content)
    if length < 1:
        return
    if content is not None:
        at = text.find(content)
        while at >= 0:
            yield Span(start=at, end=at + length)
            at = text.find(content, at + length)
        return
    at = 0
    while at + length <= len(text):
        if content_hash(text[at : at + length]) == citation.content_hash:
            yield Span(start=at, end=at + length)
            at += length
        else:
            at += 1


def _occurrence(citation: Citation, content: str, most: int) -> int:
    """Which of the document's equal passages the citation's chunk id names."""
    for index in range(most):
        if chunk_id(citation.document_id, content, index) == citation.chunk_id:
            return index
    return 0
