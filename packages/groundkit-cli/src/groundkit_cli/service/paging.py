"""Cursors, and how many passages fit a response."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Literal, TypeVar

from groundkit_core.contracts import Contract, Passage, RetrievalResult
from pydantic import ValidationError

from groundkit_cli.service.errors import ServiceError
from groundkit_cli.service.rendering import render_passage, render_result
from groundkit_cli.service.requests import Request

__all__ = [
    "ENVELOPE",
    "AfterName",
    "AfterResult",
    "Beside",
    "cursor_of",
    "first_that_fit",
    "link_bytes",
    "most_that_fit",
    "read_cursor",
    "sent_bytes",
    "text_bytes",
    "those_that_fit",
]

ENVELOPE = 4_000
"""Bytes for what a response has beside its passages: a protocol's own, cursors, a verdict."""
_LINK = 100
_BETWEEN = 8
_COPIES = 10
_SUM = 8

P = TypeVar("P", RetrievalResult, Passage)
C = TypeVar("C", bound="_Cursor")


class _Cursor(Contract):
    request: str


class AfterResult(_Cursor):
    """Where a search goes on."""

    token: str
    generation: int
    done: int


class Beside(_Cursor):
    """Where a document goes on."""

    chunk_id: str
    document_hash: str
    side: Literal["before", "after"]


class AfterName(_Cursor):
    """Where a list of names goes on."""

    name: str


def cursor_of(kind: type[C], request: Request, **fields: object) -> str:
    """An opaque text that continues the request."""
    held = kind.model_validate({"request": _digest(request), **fields})
    written = held.model_dump_json().encode()
    return urlsafe_b64encode(_sum(written) + written).decode().rstrip("=")


def read_cursor(kind: type[C], request: Request) -> C | None:
    """The place that the request's cursor names; refused beside other arguments than it came of."""
    if request.cursor is None:
        return None
    try:
        padded = request.cursor + "=" * (-len(request.cursor) % 4)
        read = urlsafe_b64decode(padded.encode("ascii"))
        found = kind.model_validate_json(read[_SUM:])
    except (ValueError, ValidationError):
        raise ServiceError("invalid_request", "cursor: it is none of this operation") from None
    if _sum(read[_SUM:]) != read[:_SUM]:
        raise ServiceError("invalid_request", "cursor: it was changed on its way")
    if found.request != _digest(request):
        raise ServiceError("invalid_request", "cursor: the other arguments have changed")
    return found


def _sum(written: bytes) -> bytes:
    return sha256(written).digest()[:_SUM]


def _digest(request: Request) -> str:
    asked = request.model_copy(update={"cursor": None}).model_dump_json()
    return sha256(asked.encode()).hexdigest()[:16]


def sent_bytes(document: str, text: str) -> int:
    """Bytes that a part of a response takes: as JSON, and as text that stands in JSON."""
    return len(document.encode()) + text_bytes(text)


def text_bytes(text: str) -> int:
    """Bytes of a text in JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))


def link_bytes(link: str | None, name: str) -> int:
    """Bytes of a link to a resource, which has its name twice."""
    return 0 if link is None else text_bytes(link) + 2 * text_bytes(name) + _LINK


def _bytes(passage: RetrievalResult | Passage) -> int:
    if isinstance(passage, Passage):
        return sent_bytes(passage.model_dump_json(), render_passage(passage)) + _BETWEEN
    linked = link_bytes(passage.link, passage.title or passage.citation.source)
    return sent_bytes(passage.model_dump_json(), render_result(passage)) + linked + _BETWEEN


def fitted(passage: P, room: int) -> P:
    """The passage, its text cut where it alone is more than there is room for."""
    shorter = passage
    for shorter in _with_fewer_copies(passage):
        if _bytes(shorter) <= room:
            return shorter
    if _bytes(_cut(shorter, 0)) <= room:
        return _longest(shorter, room)
    raise ServiceError(
        "response_too_large",
        f"what is known of {passage.citation.chunk_id} does not fit a response; "
        "the server's --max-response-bytes would have to be larger",
    )


def _with_fewer_copies(passage: P) -> Iterator[P]:
    yield passage
    if isinstance(passage, RetrievalResult):
        for kept in (_COPIES, 0):
            copies, similar = passage.copies[:kept], passage.similar[:kept]
            omitted = len(passage.copies) + len(passage.similar) - len(copies) - len(similar)
            yield passage.model_copy(
                update={"copies": copies, "similar": similar, "omitted": omitted}
            )


def _longest(passage: P, room: int) -> P:
    """With as much of its text as there is room for."""
    least, most = 0, len(passage.content)
    while least < most:
        middle = (least + most + 1) // 2
        if _bytes(_cut(passage, middle)) <= room:
            least = middle
        else:
            most = middle - 1
    return _cut(passage, least)


def _cut(passage: P, length: int) -> P:
    update: dict[str, object] = {"content": passage.content[:length], "cut": True}
    if isinstance(passage, RetrievalResult):
        update["highlights"] = tuple(each for each in passage.highlights if each[1] <= length)
    return passage.model_copy(update=update)


def most_that_fit(passages: Sequence[P], limit: int) -> int:
    """No fewer than will fit, by their texts alone, which stand in a response twice."""
    total = 0
    for count, passage in enumerate(passages):
        total += 2 * len(passage.content)
        if count and total > limit:
            return count
    return len(passages)


def first_that_fit(passages: Sequence[P], limit: int) -> list[P]:
    """As many from the first on as fit a response, one at least, which may be cut."""
    found: list[P] = []
    room = limit - ENVELOPE
    for passage in passages:
        shown = passage if found else fitted(passage, room)
        room -= _bytes(shown)
        if found and room < 0:
            break
        found.append(shown)
    return found


def those_that_fit(passages: Sequence[Passage], at: int, limit: int) -> tuple[list[Passage], int]:
    """The passage at a place with those nearest to it, in order; its place among them."""
    room = limit - ENVELOPE
    cited = fitted(passages[at], room)
    room -= _bytes(cited)
    first = last = at
    going = {1, -1}
    while going:
        for step in sorted(going, reverse=True):
            place = last + 1 if step > 0 else first - 1
            cost = _bytes(passages[place]) if 0 <= place < len(passages) else room + 1
            if cost > room:
                going.discard(step)
                continue
            room -= cost
            first, last = min(first, place), max(last, place)
    return [*passages[first:at], cited, *passages[at + 1 : last + 1]], at - first
