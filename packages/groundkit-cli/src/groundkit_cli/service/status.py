"""The operation `index_status`."""

import json

from groundkit_cli.service.limits import Limits
from groundkit_cli.service.paging import ENVELOPE, sent_bytes
from groundkit_cli.service.requests import IndexStatusRequest
from groundkit_cli.service.responses import IndexStatus
from groundkit_cli.service.searching import modes
from groundkit_cli.service.shelf import Shelf

__all__ = ["index_status"]


def index_status(shelf: Shelf, limits: Limits, request: IndexStatusRequest) -> IndexStatus:
    """What a collection holds, with as many metadata keys as fit a response."""
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
        modes=modes(info.embedding),
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
