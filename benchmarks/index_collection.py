"""A whole collection of texts: documents of one passage each, whose source is their number."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from groundkit_core import ChunkingConfig, Collection, Document, SearchResponse
from groundkit_core.index.lexical import LexicalSegment
from groundkit_core.index.view import Contents, Reader, View
from groundkit_core.retrieval import search as searching

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus, Queries, word
from benchmarks.index_edits import Edit
from benchmarks.index_queries import Ask, Hits, K, in_turn

__all__ = ["SEGMENTS", "InCollection", "SearchIn", "contents_of", "make_empty"]

SEGMENTS = Path("collection/segments")
"""Where the segment files are, below a side's folder."""
_WHOLE = ChunkingConfig(strategy="fixed", size=1_000_000)
_AT_ONCE = 20_000


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
        return SearchIn(lambda text: collection.search(text, top_k=K))

    def commit(self, folder: Path, edits: Sequence[Edit]) -> None:
        """Replace and add passages in one commit."""
        with _opened(folder) as collection:
            _add(collection, [(each.passage, each.after) for each in edits])

    def merge(self, folder: Path) -> None:
        """All in one segment, and the database shrunk."""
        with _opened(folder) as collection:
            collection.compact()


class SearchIn:
    """A whole search: takes a text, gives passages with citations."""

    def __init__(self, search: Callable[[str], SearchResponse]) -> None:
        self._search = search

    @classmethod
    def over(cls, folder: Path, segments: Sequence[LexicalSegment]) -> "SearchIn":
        """The same with other segments of the same passages."""
        reader, name = Reader(_opened(folder).path), "collection"

        def search(text: str) -> SearchResponse:
            asked = searching.Query(text, K, "bm25")

            def run(view: View) -> SearchResponse:
                contents = replace(view.contents, segments=tuple(segments))
                return searching.search(View(view.store, contents), asked, name)

            return reader.run(run)

        return cls(search)

    def asked(self, terms: Sequence[int]) -> Ask:
        text = " ".join(map(word, terms))

        def ask() -> Hits:
            results = self._search(text).results
            return [(int(result.citation.source), result.score) for result in results]

        return ask

    def batch(self, queries: Queries, threads: int) -> None:
        in_turn(self, queries, threads)


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
    documents = [Document.from_text(str(passage), text) for passage, text in texts]
    settled = collection.exists()
    collection.add(
        documents, chunking=None if settled else _WHOLE, language=None if settled else "none"
    )
