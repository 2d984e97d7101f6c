"""The operation `fetch_chunk`."""

from groundkit_core.contracts import PassageWindow
from groundkit_core.errors import PassageNotFoundError
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.links import web_link
from groundkit_core.retrieval.window import MAX_NEIGHBOURS

from groundkit_cli.service.errors import ServiceError
from groundkit_cli.service.limits import Limits
from groundkit_cli.service.paging import (
    Beside,
    cursor_of,
    link_bytes,
    read_cursor,
    sent_bytes,
    those_that_fit,
)
from groundkit_cli.service.requests import FetchChunkRequest
from groundkit_cli.service.shelf import Shelf

__all__ = ["fetch_chunk"]


def fetch_chunk(shelf: Shelf, limits: Limits, request: FetchChunkRequest) -> PassageWindow:
    """A passage and those around it, as many as fit a response."""
    cursor = read_cursor(Beside, request)
    collection = shelf.collection(request.collection)
    if cursor is None:
        before, after = request.before, request.after
        found = collection.fetch(request.chunk_id, before=before, after=after)
    else:
        found = _beside(collection, cursor, request.before + request.after + 1)
    shelf.seen(collection)
    # It is verified in its full length, although it may be cut below.
    cited, asked = found.passages[found.at], len(found.passages)
    linked = link_bytes(found.link, found.title or cited.citation.source)
    bare = found.model_copy(update={"passages": ()}).model_dump_json()
    room = limits.response_bytes - sent_bytes(bare, found.title or "") - linked
    passages, at = those_that_fit(found.passages, found.at, room)
    first = found.before + found.at - at
    last = found.after + asked - found.at - (len(passages) - at)
    verdict = collection.verify(cited.citation, content=cited.content) if request.verify else None
    ends = {
        side: cursor_of(
            Beside,
            request,
            chunk_id=passage.citation.chunk_id,
            document_hash=found.document_hash,
            side=side,
        )
        for side, passage, left in (
            ("before", passages[0], first),
            ("after", passages[-1], last),
        )
        if left
    }
    return found.model_copy(
        update={
            "passages": tuple(passages),
            "at": at,
            "before": first,
            "after": last,
            "verification": verdict,
            "truncated": len(passages) < asked,
            "next_cursor": ends.get("after"),
            "previous_cursor": ends.get("before"),
        }
    )


def _beside(collection: Collection, cursor: Beside, count: int) -> PassageWindow:
    """Up to so many passages after, or before, the one that the cursor names; the nearest cited."""
    count = min(count, MAX_NEIGHBOURS)
    onward = cursor.side == "after"
    try:
        window = collection.fetch(
            cursor.chunk_id, before=0 if onward else count, after=count if onward else 0
        )
    except PassageNotFoundError:
        raise ServiceError("stale_cursor", "the document has changed since; fetch again") from None
    passages = window.passages[1:] if onward else window.passages[:-1]
    if not passages or window.document_hash != cursor.document_hash:
        raise ServiceError("stale_cursor", "the document has changed since; fetch again")
    at = 0 if onward else len(passages) - 1
    cited = passages[at]
    return window.model_copy(
        update={
            "passages": passages,
            "at": at,
            "before": window.before + onward,
            "after": window.after + (not onward),
            "link": web_link(cited.citation, cited.content),
        }
    )
