"""The frozen models that cross groundkit's boundaries.

Spans are half-open offsets in Unicode code points of the document's text.
"""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from groundkit_core.config import ChunkingConfig, ExtractionConfig
from groundkit_core.ids import document_id
from groundkit_core.metadata import Metadata, Scalar, normalised

__all__ = [
    "Chunk",
    "Citation",
    "CollectionInfo",
    "CollectionSummary",
    "Component",
    "Contract",
    "Document",
    "FileOutcome",
    "IngestReport",
    "MetadataKey",
    "Passage",
    "PassageWindow",
    "RetrievalResult",
    "SearchMode",
    "SearchResponse",
    "SourceClass",
    "Span",
    "Verification",
    "VerificationStatus",
]

SearchMode = Literal["bm25", "dense", "hybrid"]
SourceClass = Literal["text", "extracted", "snapshot"]
VerificationStatus = Literal["verified", "moved", "drifted", "unresolvable"]
FileStatus = Literal["indexed", "changed", "partial", "refused", "removed", "missing"]

Range = tuple[int, int]


class Contract(BaseModel):
    """A model that is frozen, takes no unknown field and turns no type into another."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Span(Contract):
    """A half-open range of code points in a document's text."""

    start: int
    end: int


class Document(Contract):
    """A text with the source that it was read from."""

    id: str
    source: str
    text: str
    title: str | None = None
    media_type: str = "text/plain"
    source_class: SourceClass = "text"
    extractor: str
    encoding: str | None = None
    metadata: Metadata = {}

    @classmethod
    def from_text(
        cls,
        source: str,
        text: str,
        *,
        title: str | None = None,
        media_type: str = "text/plain",
        metadata: Mapping[str, object] | None = None,
    ) -> Self:
        """A document that is no file: `source` is what the application's own reader takes.

        `metadata` may hold dates, lists and mappings; searches can be filtered by it.
        """
        return cls(
            id=document_id(source),
            source=source,
            text=text,
            title=title,
            media_type=media_type,
            extractor="given@1",
            metadata=normalised(metadata or {}),
        )


class Chunk(Contract):
    """A contiguous slice of a document: `content == text[start:end]`.

    `heading_path` runs from the outermost heading inwards; `lines` and `pages` count from 1, both
    ends included.
    """

    id: str
    document_id: str
    ordinal: int
    start: int
    end: int
    content: str
    heading_path: tuple[str, ...] = ()
    lines: Range
    pages: Range | None = None


class Citation(Contract):
    """Where a passage stands, precise enough for a machine to check it against the source.

    `lines` and `pages` count from 1, both ends included; only a `text` has lines that a person can
    look up.
    """

    document_id: str
    chunk_id: str
    source: str
    start: int
    end: int
    unit: Literal["code_point"] = "code_point"
    source_class: SourceClass = "text"
    extractor: str
    encoding: str | None = None
    content_hash: str
    heading_path: tuple[str, ...] = ()
    lines: Range | None = None
    pages: Range | None = None


class Verification(Contract):
    """What reading the source again said about a citation.

    `span`, `lines` and `pages` are where the passage stands now (`verified`, `moved`); `places` are
    the candidates when a `drifted` passage stands at several.
    """

    status: VerificationStatus
    reason: str
    span: Span | None = None
    lines: Range | None = None
    pages: Range | None = None
    places: tuple[Span, ...] = ()


class Component(Contract):
    """A result's place and score in one of the rankings that made its own."""

    rank: int
    score: float


class RetrievalResult(Contract):
    """One passage found, with its score, its citation and the other places that hold its text.

    `metadata` is its document's; `link` opens a URL where it is cited; `similar` are the
    near-duplicates that were left out for it. `highlights` are ranges of `content` that match,
    where they were asked for. To fit a response `content` may be shorter, which `cut` says, and so
    many `copies` and `similar` ones be left out as `omitted` says.
    `components` holds its places in the rankings that were fused or reordered: `bm25`, `dense`,
    `rerank`.
    """

    rank: int
    score: float
    content: str
    title: str | None = None
    metadata: Metadata = {}
    citation: Citation
    link: str | None = None
    verification: Verification | None = None
    copies: tuple[Citation, ...] = ()
    similar: tuple[Citation, ...] = ()
    components: dict[str, Component] = {}
    highlights: tuple[Range, ...] = ()
    cut: bool = False
    omitted: int = 0


class Passage(Contract):
    """A passage as a collection holds it; one that is `cut` is shorter, to fit a response."""

    content: str
    citation: Citation
    cut: bool = False


class PassageWindow(Contract):
    """A passage with those around it in its document, in order.

    `at` is its place among them; `before` and `after` count the passages that are left out.
    `title` and `metadata` are the document's, and `document_hash` tells its version. A service
    that gives fewer than were asked for says `truncated`; its cursors lead to the pages beside.
    """

    schema_version: Literal[1] = 1
    collection: str
    generation: int
    document_hash: str
    title: str | None = None
    metadata: Metadata = {}
    passages: tuple[Passage, ...]
    at: int
    before: int
    after: int
    link: str | None = None
    verification: Verification | None = None
    truncated: bool = False
    next_cursor: str | None = None
    previous_cursor: str | None = None


class SearchResponse(Contract):
    """The results of one query against one generation of a collection.

    A service that gives fewer at once than there are says `truncated`; its cursor leads to more.
    """

    schema_version: Literal[1] = 1
    query: str
    mode: SearchMode
    top_k: int
    collection: str
    generation: int
    results: tuple[RetrievalResult, ...] = ()
    truncated: bool = False
    next_cursor: str | None = None


class MetadataKey(Contract):
    """Of how many documents the metadata has a key, and of what kinds its values are."""

    documents: int
    kinds: tuple[Literal["boolean", "number", "text"], ...]


class CollectionSummary(Contract):
    """What can be said of a collection at once."""

    name: str
    generation: int
    documents: int
    chunks: int
    embedding: str | None = None


class CollectionInfo(Contract):
    """What a collection holds and how it was made; `bytes` is its size on disk.

    `vector_index` says how its vectors are searched: by an exact `scan`, or along a `graph`;
    `given` is the metadata that documents at and beneath a path are given, None where a path
    around it gives a key that does not hold there.
    """

    name: str
    path: str
    generation: int
    documents: int
    chunks: int
    terms: int
    segments: int
    bytes: int
    language: str
    analysis: str
    chunking: ChunkingConfig
    extraction: ExtractionConfig = ExtractionConfig()
    embedding: str | None = None
    vectors: int = 0
    vector_index: Literal["scan", "graph", "scan and graph"] | None = None
    roots: dict[str, str]
    metadata: dict[str, MetadataKey] = {}
    given: dict[str, dict[str, Scalar | tuple[Scalar, ...] | None]] = {}


class FileOutcome(Contract):
    """What a run did with one source that it did not leave as it was."""

    source: str
    status: FileStatus
    chunks: int = 0
    reason: str | None = None
    warnings: tuple[str, ...] = ()


class IngestReport(Contract):
    """What one run did: counts of sources and passages, and each source that changed.

    `read` counts files whose bytes were read; `added` and `dropped` count passages, `embedded`
    texts that were given a vector.
    """

    schema_version: Literal[1] = 1
    collection: str
    generation: int
    unchanged: int = 0
    read: int = 0
    added: int = 0
    dropped: int = 0
    embedded: int = 0
    documents: int = 0
    chunks: int = 0
    files: tuple[FileOutcome, ...] = ()
    warnings: tuple[str, ...] = ()

    def count(self, status: FileStatus) -> int:
        """Number of sources with a status."""
        return sum(outcome.status == status for outcome in self.files)
