"""The registry: four operations, each with what it takes, what it gives and what runs it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from groundkit_core.contracts import Contract, PassageWindow, SearchResponse
from groundkit_core.errors import GroundkitError

from groundkit_cli.service import fetching, searching
from groundkit_cli.service.errors import service_error
from groundkit_cli.service.limits import Limits
from groundkit_cli.service.paging import ENVELOPE, AfterName, cursor_of, read_cursor, sent_bytes
from groundkit_cli.service.requests import (
    FetchChunkRequest,
    IndexStatusRequest,
    ListCollectionsRequest,
    SearchRequest,
)
from groundkit_cli.service.responses import (
    CollectionEntry,
    CollectionPage,
    IndexStatus,
    Unusable,
)
from groundkit_cli.service.shelf import Shelf

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


def _list_collections(
    shelf: Shelf, limits: Limits, request: ListCollectionsRequest
) -> CollectionPage:
    cursor = read_cursor(AfterName, request)
    names = [name for name in shelf.names() if cursor is None or name > cursor.name]
    room = limits.response_bytes - ENVELOPE
    usable: list[CollectionEntry] = []
    unusable: list[Unusable] = []
    more = None
    for number, name in enumerate(names):
        entry = _entry(shelf, name)
        told = entry.model_dump_json()
        room -= sent_bytes(told, told)
        if number and room < 0:
            more = cursor_of(AfterName, request, name=names[number - 1])
            break
        if isinstance(entry, CollectionEntry):
            usable.append(entry)
        else:
            unusable.append(entry)
    return CollectionPage(
        default=shelf.default,
        collections=tuple(usable),
        unusable=tuple(unusable),
        truncated=more is not None,
        next_cursor=more,
    )


def _entry(shelf: Shelf, name: str) -> CollectionEntry | Unusable:
    try:
        held = shelf.summary(name)
    except GroundkitError as error:
        told = service_error(error)
        return Unusable(name=name, code=told.code, message=str(told))
    return CollectionEntry(
        name=name,
        documents=held.documents,
        chunks=held.chunks,
        generation=held.generation,
        modes=searching.modes(held.embedding),
    )


def _index_status(shelf: Shelf, limits: Limits, request: IndexStatusRequest) -> IndexStatus:
    collection = shelf.collection(request.collection)
    info = collection.info()
    shelf.seen(collection)
    status = IndexStatus(
        collection=info.name,
        generation=info.generation,
        documents=info.documents,
        chunks=info.chunks,
        terms=info.terms,
        bytes=info.bytes,
        language=info.language,
        embedding=info.embedding,
        vectors=info.vectors,
        vector_index=info.vector_index,
        modes=searching.modes(info.embedding),
        metadata={},
    )
    room = limits.response_bytes - 2 * ENVELOPE
    kept = {}
    for key, held in info.metadata.items():
        told = f"{json.dumps(key)}:{held.model_dump_json()},"
        room -= sent_bytes(told, told)
        if room < 0:
            break
        kept[key] = held
    truncated = len(kept) < len(info.metadata)
    return status.model_copy(update={"metadata": kept, "truncated": truncated})


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
            searching.search,
        ),
        Operation(
            "fetch_chunk",
            "Read around a passage",
            "Give a passage by its chunk_id with the passages before and after it in its document, "
            "and whether its text still stands in its source now. Cursors lead on to the whole "
            "document, in both directions.",
            FetchChunkRequest,
            PassageWindow,
            fetching.fetch_chunk,
        ),
        Operation(
            "list_collections",
            "List collections",
            "List the collections that can be searched, with their size and search modes.",
            ListCollectionsRequest,
            CollectionPage,
            _list_collections,
        ),
        Operation(
            "index_status",
            "Describe a collection",
            "Say what a collection holds: documents, passages, language, search modes, and the "
            "metadata keys that a filter can use.",
            IndexStatusRequest,
            IndexStatus,
            _index_status,
        ),
    )
}
"""The operations by name."""
