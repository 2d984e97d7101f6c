"""Passages from your documents, each with a citation that a machine can check."""

from groundkit_core.config import ChunkingConfig, ExtractionConfig
from groundkit_core.contracts import (
    Chunk,
    Citation,
    CollectionInfo,
    Document,
    FileOutcome,
    IngestReport,
    PassageWindow,
    RetrievalResult,
    SearchResponse,
    Span,
    Verification,
)
from groundkit_core.errors import GroundkitError
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.citations import resolve_citation
from groundkit_core.retrieval.retriever import Retriever
from groundkit_core.retrieval.sources import SourceReader

__all__ = [
    "Chunk",
    "ChunkingConfig",
    "Citation",
    "Collection",
    "CollectionInfo",
    "Document",
    "ExtractionConfig",
    "FileOutcome",
    "GroundkitError",
    "IngestReport",
    "PassageWindow",
    "RetrievalResult",
    "Retriever",
    "SearchResponse",
    "SourceReader",
    "Span",
    "Verification",
    "resolve_citation",
]
