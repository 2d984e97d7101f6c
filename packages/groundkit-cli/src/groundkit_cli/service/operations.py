"""The registry: four operations, each with what it takes, what it gives and what runs it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from groundkit_core.contracts import Contract, PassageWindow, SearchResponse

from groundkit_cli.service.fetching import fetch_chunk
from groundkit_cli.service.limits import Limits
from groundkit_cli.service.listing import list_collections
from groundkit_cli.service.requests import (
    FetchChunkRequest,
    IndexStatusRequest,
    ListCollectionsRequest,
    SearchRequest,
)
from groundkit_cli.service.responses import CollectionPage, IndexStatus
from groundkit_cli.service.searching import search
from groundkit_cli.service.shelf import Shelf
from groundkit_cli.service.status import index_status

__all__ = ["OPERATIONS", "Operation"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, as both protocols offer it."""

    name: str
    title: str
    description: str
    request: type[Contract]
    response: type[Contract]
    run: Callable[[Shelf, Limits, Any], Contract]


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "search",
            "Search documents",
            "Find the passages of the indexed documents that fit a query best. Each result is a "
            "passage with its citation: source, chunk_id, exact character span, and whether that "
            "text still stands in its source (verified, moved, drifted, unresolvable). Cite a "
            "passage by its source and chunk_id; read around it with fetch_chunk.",
            SearchRequest,
            SearchResponse,
            search,
        ),
        Operation(
            "fetch_chunk",
            "Read around a passage",
            "Give a passage by its chunk_id with the passages before and after it in its document, "
            "and whether its text still stands in its source now. Cursors lead on to the whole "
            "document, in both directions.",
            FetchChunkRequest,
            PassageWindow,
            fetch_chunk,
        ),
        Operation(
            "list_collections",
            "List collections",
            "List the collections that can be searched, with their size and search modes.",
            ListCollectionsRequest,
            CollectionPage,
            list_collections,
        ),
        Operation(
            "index_status",
            "Describe a collection",
            "Say what a collection holds: documents, passages, language, search modes, and the "
            "metadata keys that a filter can use.",
            IndexStatusRequest,
            IndexStatus,
            index_status,
        ),
    )
}
"""The operations by name."""
