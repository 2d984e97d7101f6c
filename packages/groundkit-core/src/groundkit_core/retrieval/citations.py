"""Checking a citation by reading its source again, and a quote against what is cited."""

from collections.abc import Iterator
from typing import Literal

from groundkit_core.contracts import Citation, Span, Verification
from groundkit_core.ids import chunk_id, content_hash
from groundkit_core.retrieval.quotes import (
    Attribution,
    QuoteMatch,
    attribute_quote,
    locate_quote,
)
from groundkit_core.retrieval.reread import SourceText, read_source
from groundkit_core.retrieval.sources import SourceReader
from groundkit_core.spans import line_range, page_range

__all__ = [
    "Attribution",
    "QuoteMatch",
    "attribute_quote",
    "found_at",
    "locate_quote",
    "resolve_citation",
    "stands",
    "starts",
]

_MOST_PLACES = 20
_LONGEST_SEARCH = 2_000_000


def resolve_citation(
    citation: Citation,
    reader: SourceReader,
    *,
    content: str | None = None,
    occurrences: int = 1,
    occurrence: int | None = None,
    last_seen: Span | None = None,
    source: SourceText | None = None,
) -> Verification:
    """Whether the cited text still stands in its source.

    `content` is the cited text, which a citation itself holds only as a hash; `occurrences` is how
    often the document held it, `occurrence` which of them was cited, from 0 (by default the one
    that the chunk id names), `last_seen` where this passage was found since; `source` spares the
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
        return _found("verified", citation, cited, source)
    if last_seen is not None and stands(citation, text, last_seen):
        return _found("moved", citation, last_seen, source)
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
    if occurrence is None:
        occurrence = _occurrence(citation, passage, occurrences)
    place = places[occurrence]
    return _found("moved", citation, place, source)


def stands(citation: Citation, text: str, span: Span) -> bool:
    """Whether the cited text stands at a span of the text."""
    return (
        0 <= span.start < span.end <= len(text)
        and content_hash(text[span.start : span.end]) == citation.content_hash
    )


def found_at(
    status: Literal["verified", "moved"],
    span: Span,
    lines: tuple[int, int] | None,
    pages: tuple[int, int] | None,
) -> Verification:
    """The verdict on a passage that stands in its source."""
    where = "at its span" if status == "verified" else "elsewhere in the source"
    reason = f"the cited text stands {where}"
    return Verification(status=status, reason=reason, span=span, lines=lines, pages=pages)


def _found(
    status: Literal["verified", "moved"], citation: Citation, span: Span, source: SourceText
) -> Verification:
    start, end, text = span.start, span.end, source.text or ""
    lines = line_range(text, start, end) if citation.source_class == "text" else None
    pages = page_range(source.pages, start, end) if source.pages else None
    return found_at(status, span, lines, pages)


def starts(text: str, content: str) -> Iterator[int]:
    """Where a content stands in a text, none overlapping another."""
    at = text.find(content)
    while at >= 0:
        yield at
        at = text.find(content, at + len(content))


def _places(text: str, citation: Citation, content: str | None) -> Iterator[Span]:
    """Spans where the cited text stands, found by itself or else by its length and hash."""
    length = citation.end - citation.start if content is None else len(content)
    if length < 1:
        return
    if content is not None:
        yield from (Span(start=at, end=at + length) for at in starts(text, content))
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
