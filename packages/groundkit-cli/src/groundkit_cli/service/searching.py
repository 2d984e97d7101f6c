"""The operation `search`."""

from groundkit_core.blocking import result_of
from groundkit_core.contracts import SearchMode, SearchResponse
from groundkit_core.errors import CollectionIncompatibleError, RetrievalError
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.diversity import Diversity
from groundkit_core.retrieval.search import Query

from groundkit_cli.service.errors import ServiceError
from groundkit_cli.service.limits import Limits
from groundkit_cli.service.paging import (
    AfterResult,
    cursor_of,
    first_that_fit,
    most_that_fit,
    read_cursor,
    text_bytes,
)
from groundkit_cli.service.requests import SearchRequest
from groundkit_cli.service.shelf import Shelf

__all__ = ["modes", "search"]


def modes(embedding: str | None) -> tuple[SearchMode, ...]:
    """The modes in which a collection can be searched."""
    return ("bm25", "dense", "hybrid") if embedding else ("bm25",)


def search(shelf: Shelf, limits: Limits, request: SearchRequest) -> SearchResponse:
    """The best passages, as many at a time as fit a response."""
    top_k = request.top_k
    if "top_k" not in request.model_fields_set:
        top_k = min(top_k, limits.top_k)
    elif top_k > limits.top_k:
        raise RetrievalError(f"top_k is {top_k}, this server gives at most {limits.top_k}")
    cursor = read_cursor(AfterResult, request)
    collection = shelf.collection(request.collection)
    token, _ = shelf.seen(collection)
    found = _found(shelf, collection, request, top_k)
    if cursor is not None and (cursor.token, cursor.generation) != (token, found.generation):
        raise ServiceError("stale_cursor", "the collection has changed since; search again")
    done = cursor.done if cursor else 0
    wanted = found.results[done:]
    room = limits.response_bytes - text_bytes(request.query)
    response = found.model_copy(update={"results": wanted[: most_that_fit(wanted, room)]})
    if request.verify:
        response = collection.verified(response)
    if request.highlight:
        response = _highlighted(collection, response)
    shown = first_that_fit(response.results, room)
    left = len(wanted) - len(shown)
    more = {"token": token, "generation": found.generation, "done": done + len(shown)}
    return response.model_copy(
        update={
            "results": tuple(shown),
            "truncated": left > 0,
            "next_cursor": cursor_of(AfterResult, request, **more) if left else None,
        }
    )


def _found(
    shelf: Shelf, collection: Collection, request: SearchRequest, top_k: int
) -> SearchResponse:
    query = Query(
        request.query,
        top_k,
        request.mode,
        filters=request.where,
        diversity=Diversity(
            per_document=request.per_document, near_duplicates=request.near_duplicates
        ),
    )
    if request.mode == "bm25":
        return collection.run([query])[0]
    while True:
        before = collection.embedding()
        embedder = shelf.embedder(collection)
        try:
            asked = result_of(collection.with_vectors([query], embedder))
            return collection.run(asked)[0]
        except CollectionIncompatibleError:
            # Once more where all vectors were made anew while the query got its own.
            if collection.embedding() == before:
                raise


def _highlighted(collection: Collection, response: SearchResponse) -> SearchResponse:
    spans = collection.matches(response.query, [result.content for result in response.results])
    return response.model_copy(
        update={
            "results": tuple(
                result.model_copy(update={"highlights": tuple(matched)})
                for result, matched in zip(response.results, spans, strict=True)
            )
        }
    )
