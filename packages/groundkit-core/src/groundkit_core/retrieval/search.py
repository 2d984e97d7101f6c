"""From a query to ranked passages with citations."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from groundkit_core.config import DEFAULT_TOP_K, MAX_QUERY_LEN, MAX_TOP_K
from groundkit_core.contracts import (
    Citation,
    Component,
    RetrievalResult,
    SearchMode,
    SearchResponse,
)
from groundkit_core.embedding import EmbeddingIdentity, Vectors
from groundkit_core.errors import (
    CollectionCorruptError,
    CollectionIncompatibleError,
    RetrievalError,
)
from groundkit_core.ids import content_hash
from groundkit_core.index import bm25
from groundkit_core.index.view import View
from groundkit_core.retrieval.legs import (
    FUSION_DEPTH,
    Fusion,
    Ranking,
    by_vectors,
    by_words,
    fuse,
)

__all__ = ["Query", "check_query", "check_space", "citation_of", "passages", "search"]

Row = tuple[Any, ...]
Components = Mapping[int, dict[str, Component]]


def check_query(text: str) -> None:
    """Refuse a query that nothing can search for: blank, over-long or no Unicode."""
    if not text.strip():
        raise RetrievalError("the query is empty")
    if len(text) > MAX_QUERY_LEN:
        raise RetrievalError(f"the query has {len(text)} characters, the limit is {MAX_QUERY_LEN}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RetrievalError("the query is not valid Unicode") from None


@dataclass(frozen=True, slots=True)
class Query:
    """A checked search request."""

    text: str
    top_k: int | None
    mode: SearchMode
    all_copies: bool = False
    vector: Vectors | None = None
    identity: EmbeddingIdentity | None = None
    fusion: Fusion = field(default_factory=Fusion)

    def __post_init__(self) -> None:
        check_query(self.text)
        if self.top_k is not None and not 1 <= self.top_k <= MAX_TOP_K:
            raise RetrievalError(f"top_k is {self.top_k}, it must be 1 to {MAX_TOP_K}")
        if self.mode not in ("bm25", "dense", "hybrid"):
            raise RetrievalError(f"there is no mode {self.mode!r}; it is bm25, dense or hybrid")

    @property
    def k(self) -> int:
        """Number of results asked for."""
        return DEFAULT_TOP_K if self.top_k is None else self.top_k


def search(view: View, query: Query, collection: str) -> SearchResponse:
    """The best passages of one generation, equal texts collapsed unless all copies are wanted."""
    hits, components = _best(view, query)
    rows = {row[0]: row for row in view.store.fetch("seq", [hit.seq for hit in hits])}
    missing = [hit.seq for hit in hits if hit.seq not in rows]
    if missing:
        raise CollectionCorruptError(f"{view.store.path}: passage {missing[0]} has no row")
    copies = {} if query.all_copies else _copies(view, rows.values())
    results = [
        _result(rank, hit, rows[hit.seq], copies.get(rows[hit.seq][9], ()), components)
        for rank, hit in enumerate(
            sorted(hits, key=lambda hit: (-hit.score, rows[hit.seq][1])), start=1
        )
    ]
    return SearchResponse(
        query=query.text,
        mode=query.mode,
        top_k=query.k,
        collection=collection,
        generation=view.contents.manifest.generation,
        results=tuple(results),
    )


def _best(view: View, query: Query) -> tuple[list[bm25.Hit], Components]:
    """The best k hits; asks deeper while copies of one text crowd out other texts."""
    depth = query.k if query.mode != "hybrid" else max(query.k, FUSION_DEPTH)
    while True:
        ranking = _ranking(view, query, depth)
        if query.all_copies:
            return ranking.hits[: query.k], ranking.components
        best: dict[int, bm25.Hit] = {}
        for hit in ranking.hits:
            best.setdefault(hit.content, hit)
        if len(best) >= query.k or ranking.complete:
            return list(best.values())[: query.k], ranking.components
        depth *= 4


def _ranking(view: View, query: Query, depth: int) -> Ranking:
    if query.mode == "bm25":
        return by_words(view, query.text, depth)
    if query.vector is None or query.identity is None:
        raise RetrievalError(f"mode {query.mode} needs an embedder")
    check_space(view, query.identity)
    vectors = by_vectors(view, query.vector, depth, query.fusion.min_similarity)
    if query.mode == "dense":
        return vectors
    return fuse(by_words(view, query.text, depth), vectors, query.fusion)


def check_space(view: View, identity: EmbeddingIdentity) -> None:
    """Refuse an embedder whose vectors cannot be compared with the collection's."""
    space, name = view.contents.space, view.store.path.name
    if space is None:
        raise RetrievalError(f"{name} has no vectors; make them with: grk ingest PATH --dense")
    if space.identity != identity:
        raise CollectionIncompatibleError(
            f"{name}: its vectors are from {space.identity}, the embedder is {identity}; use that "
            f"embedder, or run: grk collections reindex {name} with the --embed options of this one"
        )


def _copies(view: View, rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in view.store.fetch("hash", {row[9] for row in rows}):
        found.setdefault(row[9], []).append(row)
    return found


def _result(
    rank: int, hit: bm25.Hit, row: Row, copies: Iterable[Row], components: Components
) -> RetrievalResult:
    """A result from its row; our copy of the text is never shown after it rotted."""
    citation = citation_of(row)
    try:
        if content_hash(row[11]) == row[9]:
            return RetrievalResult(
                rank=rank,
                score=hit.score,
                content=row[11],
                title=row[12],
                citation=citation,
                copies=tuple(citation_of(other) for other in copies if other[0] != row[0]),
                components=components.get(hit.seq, {}),
            )
    except (AttributeError, TypeError, ValueError):
        pass
    raise CollectionCorruptError(f"passage {row[1]} is damaged; run: grk doctor")


def citation_of(row: Row) -> Citation:
    """The citation of a row that `Store.fetch` gave."""
    try:
        return _citation(row)
    except (TypeError, ValueError, OverflowError):
        raise CollectionCorruptError(
            f"the row of passage {row[1]} is damaged; see grk doctor"
        ) from None


def _citation(row: Row) -> Citation:
    return Citation(
        document_id=row[2],
        chunk_id=row[1],
        source=row[3],
        start=row[5],
        end=row[6],
        source_class=row[15],
        extractor=row[13],
        encoding=row[14],
        content_hash=row[9],
        heading_path=tuple(json.loads(row[10])),
        lines=(row[7], row[8]),
    )


def passages(view: View, doc: int) -> list[tuple[Citation, str]]:
    """Citations and texts of one document's passages, in order."""
    return [(citation_of(row), row[11]) for row in view.store.fetch("doc", [doc])]
