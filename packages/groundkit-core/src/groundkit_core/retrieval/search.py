"""From a query to ranked passages with citations."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
from groundkit_core.index.given import read_json
from groundkit_core.index.view import View
from groundkit_core.retrieval.diversity import Diversity, Picked, pick
from groundkit_core.retrieval.legs import (
    FUSION_DEPTH,
    Fusion,
    Ranking,
    by_vectors,
    by_words,
    fuse,
)
from groundkit_core.retrieval.links import web_link

if TYPE_CHECKING:
    from groundkit_core.index.allowed import Allowed
    from groundkit_core.retrieval.filters import Filter

__all__ = ["Query", "check_query", "check_space", "citation_of", "passages", "search"]

Row = tuple[Any, ...]
Components = Mapping[int, Mapping[str, Component]]


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
    filters: "Filter | None" = None
    diversity: Diversity = field(default_factory=Diversity)

    def __post_init__(self) -> None:
        check_query(self.text)
        if self.top_k is not None and not 1 <= self.top_k <= MAX_TOP_K:
            raise RetrievalError(f"top_k is {self.top_k}, it must be 1 to {MAX_TOP_K}")
        if self.mode not in ("bm25", "dense", "hybrid"):
            raise RetrievalError(f"there is no mode {self.mode!r}; it is bm25, dense or hybrid")
        if self.all_copies and self.diversity.near_duplicates is not None:
            raise RetrievalError("all copies cannot be listed and near-duplicates left out")
        if self.filters is not None:
            from groundkit_core.retrieval.filters import check_filter

            check_filter(self.filters)

    @property
    def k(self) -> int:
        """Number of results asked for."""
        return DEFAULT_TOP_K if self.top_k is None else self.top_k


def search(view: View, query: Query, collection: str) -> SearchResponse:
    """The best passages of one generation, equal texts collapsed unless all copies are wanted."""
    allowed = view.allowed(query.filters) if query.filters else None
    found, components = _best(view, query, allowed)
    rows = _rows(view, [seq for each in found for seq in (each.hit.seq, *each.similar)])
    shown = [rows[each.hit.seq] for each in found]
    copies = {} if query.all_copies else _copies(view, shown, allowed)
    found.sort(key=lambda each: (-each.hit.score, rows[each.hit.seq][1]))
    told = view.store.metadata([row[16] for row in shown])
    results = [
        _result(
            rank,
            each.hit.score,
            rows[each.hit.seq],
            told.get(rows[each.hit.seq][16]),
            copies.get(rows[each.hit.seq][9], ()),
            [rows[seq] for seq in each.similar],
            components.get(each.hit.seq, {}),
        )
        for rank, each in enumerate(found, start=1)
    ]
    return SearchResponse(
        query=query.text,
        mode=query.mode,
        top_k=query.k,
        collection=collection,
        generation=view.contents.manifest.generation,
        results=tuple(results),
    )


def _rows(view: View, seqs: Sequence[int]) -> dict[int, Row]:
    """The rows of passages by number."""
    rows = {row[0]: row for row in view.store.fetch("seq", seqs)}
    if missing := [seq for seq in seqs if seq not in rows]:
        raise CollectionCorruptError(f"{view.store.path}: passage {missing[0]} has no row")
    return rows


def _best(view: View, query: Query, allowed: "Allowed | None") -> tuple[list[Picked], Components]:
    """The best k hits; asks deeper while copies of one text crowd out other texts."""

    def texts(seqs: Sequence[int]) -> dict[int, str]:
        return {seq: row[11] for seq, row in _rows(view, seqs).items()}

    depth = query.k if query.mode != "hybrid" else max(query.k, FUSION_DEPTH)
    while True:
        ranking = _ranking(view, query, depth, allowed)
        found = pick(ranking.hits, query.diversity, query.k, texts, copies=query.all_copies)
        if len(found) >= query.k or ranking.complete:
            return found, ranking.components
        depth *= 4


def _ranking(view: View, query: Query, depth: int, allowed: "Allowed | None") -> Ranking:
    if query.mode == "bm25":
        return by_words(view, query.text, depth, allowed)
    if query.vector is None or query.identity is None:
        raise RetrievalError(f"mode {query.mode} needs an embedder")
    check_space(view, query.identity)
    vectors = by_vectors(view, query.vector, depth, query.fusion.min_similarity, allowed)
    if query.mode == "dense":
        return vectors
    return fuse(by_words(view, query.text, depth, allowed), vectors, query.fusion)


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


def _copies(view: View, rows: Iterable[Row], allowed: "Allowed | None") -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in view.store.fetch("hash", {row[9] for row in rows}):
        if allowed is None or allowed.lets(row[16]):
            found.setdefault(row[9], []).append(row)
    return found


def _result(
    rank: int,
    score: float,
    row: Row,
    told: Any,
    copies: Iterable[Row],
    similar: Iterable[Row],
    components: Mapping[str, Component],
) -> RetrievalResult:
    """A result from its row; our copy of the text is never shown after it rotted."""
    citation = citation_of(row)
    try:
        if content_hash(row[11]) == row[9]:
            return RetrievalResult(
                rank=rank,
                score=score,
                content=row[11],
                title=row[12],
                metadata=read_json(told),
                citation=citation,
                link=web_link(citation, row[11]),
                copies=tuple(citation_of(other) for other in copies if other[0] != row[0]),
                similar=tuple(citation_of(other) for other in similar),
                components=dict(components),
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
        lines=(row[7], row[8]) if row[15] == "text" else None,
        pages=(row[17], row[18]) if row[17] is not None else None,
    )


def passages(view: View, doc: int) -> list[tuple[Citation, str]]:
    """Citations and texts of one document's passages, in order."""
    return [(citation_of(row), row[11]) for row in view.store.fetch("doc", [doc])]
