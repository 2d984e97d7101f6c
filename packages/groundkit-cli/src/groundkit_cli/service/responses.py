"""What the service gives beside the core's contracts."""

from typing import Literal

from groundkit_core.contracts import Contract, MetadataKey, SearchMode

__all__ = [
    "CollectionEntry",
    "CollectionPage",
    "Failure",
    "Health",
    "IndexStatus",
    "Problem",
    "Unusable",
]


class Problem(Contract):
    """What went wrong: a code for programs, a sentence for people, and the id in the log."""

    code: str
    message: str
    request_id: str


class Failure(Contract):
    """What any operation gives instead of its response when it fails."""

    error: Problem


class Health(Contract):
    """That the process answers, or that it is ready to search."""

    status: Literal["ok", "ready"]


class CollectionEntry(Contract):
    """A collection that can be searched, and in which modes."""

    name: str
    documents: int
    chunks: int
    generation: int
    modes: tuple[SearchMode, ...]


class Unusable(Contract):
    """A collection that cannot be searched, and why."""

    name: str
    code: str
    message: str


class CollectionPage(Contract):
    """Collections by name; `default` is searched where a request names none."""

    schema_version: Literal[1] = 1
    default: str
    collections: tuple[CollectionEntry, ...]
    unusable: tuple[Unusable, ...]
    truncated: bool = False
    next_cursor: str | None = None


class IndexStatus(Contract):
    """What a collection holds; `truncated` says that metadata keys were left out."""

    schema_version: Literal[1] = 1
    collection: str
    generation: int
    documents: int
    chunks: int
    terms: int
    bytes: int
    language: str
    embedding: str | None
    vectors: int
    vector_index: Literal["scan", "graph", "scan and graph"] | None
    modes: tuple[SearchMode, ...]
    metadata: dict[str, MetadataKey]
    truncated: bool = False
