"""A whole collection of texts: documents of one passage each, whose source is their number."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from groundkit_core import ChunkingConfig, Collection, Document, SearchResponse
from groundkit_core.index.lexical import LexicalIndex, LexicalSegment
from groundkit_core.index.view import Contents, Reader, View
from groundkit_core.retrieval import search as searching
from groundkit_core.retrieval.filters import Condition

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus, Queries, word
from benchmarks.index_edits import Edit
from benchmarks.index_filters import Filter, groups_of
from benchmarks.index_queries import Ask, Hits, K

__all__ = ["SEGMENTS", "InCollection", "SearchIn", "contents_of", "make_empty"]

SEGMENTS = Path("collection/segments")
"""Where the segment files are, below a side's folder."""
_WHOLE = ChunkingConfig(strategy="fixed", size=1_000_000)
_AT_ONCE = 20_000

_Search = Callable[[Sequence[searching.Query]], list[SearchResponse]]


class InCollection:
    """Text in, text out; the words are terms as they are."""

    def build(self, corpus: Corpus, folder: Path, clock: Clock) -> None:
        """Make documents and add them."""
        with _opened(folder) as collection:
            for start in range(0, corpus.size, _AT_ONCE):
                texts = corpus.texts(start, min(start + _AT_ONCE, corpus.size))
                with clock:
                    _add(collection, list(enumerate(texts, start)))

    def open(self, corpus: Corpus, folder: Path) -> "SearchIn":  # noqa: ARG002
        """The collection with its segments mapped."""
        collection = _opened(folder)
        collection.embedding()  # the least that maps them
        return SearchIn(collection.run)

    def commit(self, folder: Path, edits: Sequence[Edit]) -> None:
        """Replace and add passages in one commit."""
        with _opened(folder) as collection:
            _add(collection, [(each.passage, each.after) for each in edits])

    def merge(self, folder: Path) -> None:
        """All in one segment, and the database shrunk."""
        with _opened(folder) as collection:
            collection.compact()


class SearchIn:
    """A whole search: takes a text and a filter, gives passages with citations."""

    most_threads = 1

    def __init__(self, search: _Search) -> None:
        self._search = search

    @classmethod
    def over(cls, folder: Path, segments: Sequence[LexicalSegment]) -> "SearchIn":
        """The same with other segments of the same passages."""
        reader, lexical = Reader(_opened(folder).path), LexicalIndex(segments)

        def search(asked: Sequence[searching.Query]) -> list[SearchResponse]:
            def run(view: View) -> list[SearchResponse]:
                other = View(view.store, replace(view.contents, lexical=lexical))
                return [searching.search(other, each, "collection") for each in asked]

            return reader.run(run)

        return cls(search)

    def asked(self, terms: Sequence[int], kept: Filter | None = None) -> Ask:
        text = " ".join(map(word, terms))
        condition = None if kept is None else Condition(key=kept.field, equals=kept.kept)

        def ask() -> Hits:
            asked = searching.Query(text, K, "bm25", filters=condition)
            (response,) = self._search([asked])
            return [(int(each.citation.source), each.score) for each in response.results]

        return ask

    def batch(self, queries: Queries, threads: int) -> None:  # noqa: ARG002
        self._search([searching.Query(" ".join(map(word, terms)), K, "bm25") for terms in queries])


def make_empty(folder: Path) -> None:
    """A collection without a passage."""
    with _opened(folder) as collection:
        _add(collection, [])


def contents_of(folder: Path) -> Contents:
    """What a search would see now."""
    return Reader(_opened(folder).path).run(lambda view: view.contents)


def _opened(folder: Path) -> Collection:
    return Collection.open(folder / SEGMENTS.parent)


def _add(collection: Collection, texts: Sequence[tuple[int, str]]) -> None:
    documents = [
        Document.from_text(str(passage), text, metadata=groups_of(passage))
        for passage, text in texts
    ]
    settled = collection.exists()
    collection.add(
        documents, chunking=None if settled else _WHOLE, language=None if settled else "none"
    )
