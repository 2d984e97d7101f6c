"""From a query to ranked passages with citations."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from groundkit_core.config import DEFAULT_TOP_K, MAX_QUERY_LEN, MAX_TOP_K
from groundkit_core.contracts import Citation, RetrievalResult, SearchMode, SearchResponse
from groundkit_core.errors import CollectionCorruptError, RetrievalError
from groundkit_core.ids import content_hash
from groundkit_core.index import bm25
from groundkit_core.index.view import View
from groundkit_core.terms import term_hash

__all__ = ["Query", "check_query", "citation_of", "passages", "search"]

Row = tuple[Any, ...]


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

    def __post_init__(self) -> None:
        check_query(self.text)
        if self.top_k is not None and not 1 <= self.top_k <= MAX_TOP_K:
            raise RetrievalError(f"top_k is {self.top_k}, it must be 1 to {MAX_TOP_K}")
        if self.mode != "bm25":
            raise RetrievalError(f"mode {self.mode!r} needs vectors, and the collection has none")

    @property
    def k(self) -> int:
        """Number of results asked for."""
        return DEFAULT_TOP_K if self.top_k is None else self.top_k


def search(view: View, query: Query, collection: str) -> SearchResponse:
    """The best passages of one generation, equal texts collapsed unless all copies are wanted."""
    contents = view.contents
    asked = contents.analyzer.query_terms(query.text)
    terms = {term_hash(term): weight for term, weight in asked.items()}
    stats = bm25.statistics(contents.segments, contents.chunks, contents.terms, terms)
    hits = _best(view, query, terms, stats)
    rows = {row[0]: row for row in view.store.fetch("seq", [hit.seq for hit in hits])}
    missing = [hit.seq for hit in hits if hit.seq not in rows]
    if missing:
        raise CollectionCorruptError(f"{view.store.path}: passage {missing[0]} has no row")
    copies = {} if query.all_copies else _copies(view, rows.values())
    results = [
        _result(rank, hit.score, rows[hit.seq], copies.get(rows[hit.seq][9], ()))
        for rank, hit in enumerate(
            sorted(hits, key=lambda hit: (-hit.score, rows[hit.seq][1])), start=1
        )
    ]
    return SearchResponse(
        query=query.text,
        mode=query.mode,
        top_k=query.k,
        collection=collection,
        generation=contents.manifest.generation,
        results=tuple(results),
    )


def _best(
    view: View, query: Query, terms: Mapping[int, float], stats: bm25.Statistics
) -> list[bm25.Hit]:
    """The best k hits; asks deeper while copies of one text crowd out other texts."""
    depth = query.k
    while True:
        hits = bm25.search(view.contents.segments, terms, stats, depth)
        if query.all_copies:
            return hits
        best: dict[int, bm25.Hit] = {}
        for hit in hits:
            best.setdefault(hit.content, hit)
        if len(best) >= query.k or len(hits) < depth:
            return list(best.values())[: query.k]
        depth *= 4


def _copies(view: View, rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in view.store.fetch("hash", {row[9] for row in rows}):
        found.setdefault(row[9], []).append(row)
    return found


def _result(rank: int, score: float, row: Row, copies: Iterable[Row]) -> RetrievalResult:
    """A result from its row; our copy of the text is never shown after it rotted."""
    citation = citation_of(row)
    try:
        if content_hash(row[11]) == row[9]:
            return RetrievalResult(
                rank=rank,
                score=score,
                content=row[11],
                title=row[12],
                citation=citation,
                copies=tuple(citation_of(other) for other in copies if other[0] != row[0]),
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
