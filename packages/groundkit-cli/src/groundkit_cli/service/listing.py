"""The operation `list_collections`."""

from groundkit_core.errors import GroundkitError

from groundkit_cli.service.errors import service_error
from groundkit_cli.service.limits import Limits
from groundkit_cli.service.paging import ENVELOPE, AfterName, cursor_of, read_cursor, sent_bytes
from groundkit_cli.service.requests import ListCollectionsRequest
from groundkit_cli.service.responses import CollectionEntry, CollectionPage, Unusable
from groundkit_cli.service.searching import modes
from groundkit_cli.service.shelf import Shelf

__all__ = ["list_collections"]


def list_collections(
    shelf: Shelf, limits: Limits, request: ListCollectionsRequest
) -> CollectionPage:
    """The collections by name, as many at a time as fit a response."""
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
        modes=modes(held.embedding),
    )
