"""Verifying many citations against what a collection recorded of them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from groundkit_core.config import MAX_FILE_BYTES
from groundkit_core.contracts import Citation, SearchResponse, Span, Verification
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.ids import content_hash, hash_bytes
from groundkit_core.index.view import View
from groundkit_core.retrieval.citations import found_at, resolve_citation, stands, starts
from groundkit_core.retrieval.reread import Rereader, SourceText, is_record
from groundkit_core.retrieval.search import citation_of
from groundkit_core.retrieval.sources import SourceReader

__all__ = ["Cited", "Held", "LookUp", "held_passages", "resolve_all", "with_verdicts"]

_BLANK = re.compile(r"[\s\0]")

Cited = tuple[Citation, str | None]
"""A citation with the cited text, where that is at hand."""


@dataclass(frozen=True, slots=True)
class Held:
    """A passage as a collection holds it, and of which bytes that is true.

    `occurrences` is how often its document holds its text, `occurrence` which of them it is.
    """

    citation: Citation
    content: str
    source_hash: str
    occurrences: int = 1
    occurrence: int | None = None

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(start=self.citation.start, end=self.citation.end)


LookUp = Callable[[Sequence[Cited], bool], dict[str, Held]]
"""Called with citations, and whether the occurrences of their texts are wanted."""


def held_passages(view: View, cited: Sequence[Cited], counted: bool) -> dict[str, Held]:
    """The cited passages that the collection still holds, by chunk id."""
    found = {}
    texts: dict[int, tuple[str, str]] = {}
    for row in view.store.fetch("id", {citation.chunk_id for citation, _ in cited}):
        doc, content = row[16], row[11]
        hashed = view.store.rows("SELECT hash FROM document WHERE doc=?", doc)[0][0]
        held = Held(citation_of(row), content, hashed)
        if counted:
            if doc not in texts:
                text = _text(view, doc)
                texts[doc] = text, _BLANK.sub(" ", text)
            places = list(_places(*texts[doc], content))
            which = places.index(row[5]) if row[5] in places else None
            held = replace(held, occurrences=len(places), occurrence=which)
        found[row[1]] = held
    return found


def _places(text: str, spaced: str, content: str) -> Iterator[int]:
    """Where a content stands in a text whose blanks are not all known; `spaced` has only spaces."""
    for at in starts(spaced, _BLANK.sub(" ", content)):
        part = text[at : at + len(content)]
        if part == content or all(a in (b, "\0") for a, b in zip(part, content, strict=True)):
            yield at


def _text(view: View, doc: int) -> str:
    """A document as its passages give it, with NUL for each blank that none of them covers."""
    parts, end = [], 0
    held = view.store.rows("SELECT start, content FROM chunk WHERE doc=? ORDER BY start", doc)
    try:
        for start, content in held:
            if start - end > MAX_FILE_BYTES:
                raise ValueError("no text has as many blanks")
            parts += ["\0" * (start - end), content[max(0, end - start) :]]
            end = max(end, start + len(content))
        return "".join(parts)
    except (TypeError, ValueError):
        raise CollectionCorruptError("passages of a source are damaged; see grk doctor") from None


def resolve_all(
    cited: Sequence[Cited], reader: SourceReader, look_up: LookUp
) -> list[Verification]:
    """Verdicts in the order of the citations; each source is read once.

    What the collection holds is looked up for passages that no longer stand at their span, and for
    those that were extracted: where their file's bytes are the same, so is their text.
    """
    verdicts: dict[int, Verification] = {}
    order = sorted(range(len(cited)), key=lambda index: _source_key(cited[index][0]))
    with Rereader(reader) as rereader:
        for _, group in groupby(order, key=lambda index: _source_key(cited[index][0])):
            indices = list(group)
            some = [cited[index] for index in indices]
            verdicts.update(zip(indices, _resolved(some, rereader, reader, look_up), strict=True))
    return [verdicts[index] for index in range(len(cited))]


def _resolved(
    cited: Sequence[Cited], rereader: Rereader, reader: SourceReader, look_up: LookUp
) -> list[Verification]:
    """Verdicts on citations of one source."""
    first = cited[0][0]
    raw = rereader.raw(first)
    held: dict[str, Held] = {}
    same: dict[int, Verification] = {}
    if first.source_class != "text" and isinstance(raw, bytes) and not is_record(first):
        held = look_up(cited, False)
        hashed = hash_bytes(raw)
        for index, (citation, content) in enumerate(cited):
            if verdict := _of_same_bytes(citation, content, held.get(citation.chunk_id), hashed):
                same[index] = verdict
    if len(same) == len(cited):
        return [same[index] for index in range(len(cited))]
    source = raw if isinstance(raw, SourceText) else rereader.text(first, raw)
    doubtful = [one for one in cited if not _stands_still(one[0], source)]
    if doubtful:
        held = look_up(doubtful, True)
    return [
        same.get(index) or _resolve(one, reader, held.get(one[0].chunk_id), source)
        for index, one in enumerate(cited)
    ]


def _of_same_bytes(
    citation: Citation, content: str | None, held: Held | None, hashed: str
) -> Verification | None:
    """The verdict on a passage whose source's bytes are those that the collection took it from."""
    if held is None or held.source_hash != hashed or held.citation != citation:
        return None
    known = content_hash(held.content) == citation.content_hash
    if not known or content not in (None, held.content):
        return None
    if citation.end - citation.start != len(held.content):
        return None
    return found_at("verified", held.span, citation.lines, citation.pages)


def _resolve(
    one: Cited, reader: SourceReader, known: Held | None, source: SourceText
) -> Verification:
    citation, content = one
    if content is None and known and content_hash(known.content) == citation.content_hash:
        content = known.content
    return resolve_citation(
        citation,
        reader,
        content=content,
        occurrences=known.occurrences if known else 1,
        occurrence=known.occurrence if known else None,
        last_seen=known.span if known else None,
        source=source,
    )


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
