"""What the four operations take; the descriptions are read by models that choose the values.

No field can name a path, a URL or an index directory.
"""

from typing import Annotated

from groundkit_core.config import DEFAULT_TOP_K, MAX_QUERY_LEN, MAX_TOP_K
from groundkit_core.contracts import Contract, SearchMode
from groundkit_core.retrieval.filters import Filter
from groundkit_core.retrieval.window import MAX_NEIGHBOURS
from pydantic import BeforeValidator, Field

__all__ = [
    "FetchChunkRequest",
    "IndexStatusRequest",
    "ListCollectionsRequest",
    "Request",
    "SearchRequest",
]


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


# JSON has one kind of number: 3.0 is an integer there.
_WHOLE = BeforeValidator(_whole)
_Collection = Annotated[
    str | None,
    Field(
        description="Name of a collection, as list_collections gives it. Default: the server's.",
        pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$",
    ),
]
_Cursor = Annotated[
    str | None,
    Field(
        description="A cursor of the last response, to go on from there; repeat the other "
        "arguments as they were.",
        max_length=1000,
    ),
]
_Verify = Annotated[
    bool,
    Field(description="Read the sources again and say whether the cited text still stands there."),
]


class Request(Contract):
    """What every operation takes."""

    cursor: _Cursor = None


class SearchRequest(Request):
    """Words to find passages for, and what narrows the search."""

    query: Annotated[
        str,
        Field(
            description="What to look for, in the language of the documents: a question or a few "
            "telling words. Names, codes and rare words find best.",
            min_length=1,
            max_length=MAX_QUERY_LEN,
        ),
    ]
    collection: _Collection = None
    top_k: Annotated[int, Field(description="Number of passages.", ge=1, le=MAX_TOP_K), _WHOLE] = (
        DEFAULT_TOP_K
    )
    mode: Annotated[
        SearchMode,
        Field(
            description="bm25 finds words; dense finds meaning, hybrid joins both: they need a "
            "collection with vectors (see the modes in index_status)."
        ),
    ] = "bm25"
    where: Annotated[
        Filter | None,
        Field(
            description="Only passages of documents that pass this filter, over source, title, "
            'media_type and the metadata keys of index_status: {"key": "year", "at_least": 2020}, '
            '{"key": "source", "prefix": "docs/"}, {"all_of": [...]}, any_of, none_of.'
        ),
    ] = None
    per_document: Annotated[
        int | None, Field(description="Most passages of one document.", ge=1, le=MAX_TOP_K), _WHOLE
    ] = None
    near_duplicates: Annotated[
        float | None,
        Field(
            description="Leave out a passage that shares this part of its wording, as 0.8, with a "
            "better one.",
            gt=0,
            le=1,
        ),
    ] = None
    verify: _Verify = True
    highlight: Annotated[
        bool, Field(description="Say which ranges of each passage match the query.")
    ] = False


class FetchChunkRequest(Request):
    """A passage, and how much of its document around it."""

    chunk_id: Annotated[
        str,
        Field(
            description="The chunk_id of a citation that search gave.", min_length=1, max_length=200
        ),
    ]
    collection: _Collection = None
    before: Annotated[
        int,
        Field(description="Passages before it.", ge=0, le=MAX_NEIGHBOURS),
        _WHOLE,
    ] = 0
    after: Annotated[
        int,
        Field(description="Passages after it.", ge=0, le=MAX_NEIGHBOURS),
        _WHOLE,
    ] = 0
    verify: _Verify = True


class ListCollectionsRequest(Request):
    """Nothing but where to go on."""


class IndexStatusRequest(Contract):
    """The collection to describe."""

    collection: _Collection = None
