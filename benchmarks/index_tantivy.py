"""The peer tantivy: frequencies without positions, on one thread, no text stored."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus, eight_parts, word
from benchmarks.index_edits import Edit
from benchmarks.index_filters import FILTERS, Filter, groups_of
from benchmarks.index_queries import Ask, Hits, K

__all__ = ["Tantivy"]

_AT_ONCE = 20_000
# So much that a million passages are written in one segment.
_HEAP, _SMALL_HEAP = 2_000_000_000, 50_000_000


class Tantivy:
    """Merged by its own policy: one commit, or eight that it leaves apart if they are large."""

    def __init__(self, *, eight: bool = False) -> None:
        self._eight = eight
        self._tantivy = import_module("tantivy")

    def build(self, corpus: Corpus, folder: Path, clock: Clock) -> None:
        """Add all and commit, once or for each part."""
        with clock:
            writer = self._index(folder).writer(_HEAP, 1)
        for part in eight_parts(corpus.size) if self._eight else [range(corpus.size)]:
            for start in range(part.start, part.stop, _AT_ONCE):
                texts = corpus.texts(start, min(start + _AT_ONCE, part.stop))
                with clock:
                    for passage, text in enumerate(texts, start):
                        writer.add_document(self._document(passage, text))
            with clock:
                writer.commit()
        with clock:
            writer.wait_merging_threads()

    def open(self, corpus: Corpus, folder: Path) -> "_TantivySearch":  # noqa: ARG002
        """The index with its searcher."""
        return _TantivySearch(self._tantivy, self._index(folder))

    def commit(self, folder: Path, edits: Sequence[Edit]) -> None:
        """Replace and add passages in one commit."""
        index = self._index(folder)
        writer = index.writer(_SMALL_HEAP, 1)
        for each in edits:
            if each.before is not None:
                its = self._tantivy.Query.term_query(index.schema, "passage", each.passage)
                writer.delete_documents_by_query(its)
            writer.add_document(self._document(each.passage, each.after))
        writer.commit()
        writer.wait_merging_threads()

    def _index(self, folder: Path) -> Any:
        schema = (
            self._tantivy.SchemaBuilder()
            .add_unsigned_field("passage", indexed=True, fast=True)
            .add_text_field("text", tokenizer_name="whitespace", index_option="freq")
        )
        for each in FILTERS:
            schema.add_unsigned_field(each.field, indexed=True)
        return self._tantivy.Index(schema.build(), path=str(folder))

    def _document(self, passage: int, text: str) -> Any:
        document = self._tantivy.Document()
        document.add_unsigned("passage", passage)
        document.add_text("text", text)
        for field, number in groups_of(passage).items():
            document.add_unsigned(field, number)
        return document


class _TantivySearch:
    """Takes a query object of terms, any of which may match."""

    def __init__(self, tantivy: Any, index: Any) -> None:
        self._tantivy, self._schema = tantivy, index.schema
        self._searcher = index.searcher()

    @property
    def segments(self) -> int:
        """How many it searches."""
        found: int = self._searcher.num_segments
        return found

    def asked(self, terms: Sequence[int], kept: Filter | None = None) -> Ask:
        query, must = self._query(terms), self._tantivy.Occur.Must
        if kept is not None:
            group = self._tantivy.Query.term_query(self._schema, kept.field, kept.kept)
            # Which group it is must not count in the score.
            scored = self._tantivy.Query.const_score_query(group, 0.0)
            query = self._tantivy.Query.boolean_query([(must, query), (must, scored)])
        return lambda: self._found(query, K)

    def ranked(self, terms: Sequence[int]) -> Hits:
        """Every passage that matches."""
        return self._found(self._query(terms), self._searcher.num_docs)

    def _query(self, terms: Sequence[int]) -> Any:
        query, should = self._tantivy.Query, self._tantivy.Occur.Should
        words = [word(term) for term in terms]
        return query.boolean_query(
            [(should, query.term_query(self._schema, "text", word, "freq")) for word in words]
        )

    def _found(self, query: Any, most: int) -> Hits:
        found = self._searcher.search(query, most, count=False).hits
        addresses = [address for _, address in found]
        passages = self._searcher.fast_field_values("passage", addresses)
        return [(at, score) for at, (score, _) in zip(passages, found, strict=True)]
