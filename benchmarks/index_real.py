"""Passages of abstracts and documents, as the terms that groundkit makes of them."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from groundkit_core import Collection, Document
from groundkit_core.terms import Analyzer

from benchmarks.index_corpus import Corpus, write_corpus
from benchmarks.labelled import data_folder, load
from benchmarks.report import BenchmarkError

__all__ = ["real_corpus", "why_missing"]

_FOLDERS = ("docs_fastapi", "docs_rust_book", "docs_peps")


def why_missing() -> str | None:
    """Why there is no real corpus here; None if there is."""
    try:
        for name in ("scifact", *_FOLDERS):
            data_folder(name)
    except BenchmarkError as error:
        return str(error)
    return None


def real_corpus(folder: Path) -> Corpus:
    """Distinct passages; the queries are scifact's, without stop words."""
    from groundkit_core.index.bm25s_bridge import stop_words

    analyzer = Analyzer("english", stop_words("english"))
    table: dict[str, int] = {}
    passages = {
        tuple(table.setdefault(term, len(table)) for term in analyzer.terms(text)): None
        for text in _passages()
    }
    queries = [
        [table[term] for term in analyzer.query_terms(question.text) if term in table]
        for question in load("scifact").questions
    ]
    lengths = np.fromiter(map(len, passages), np.int64, len(passages))
    ids = np.fromiter(chain.from_iterable(passages), np.int32, int(lengths.sum()))
    name = f"real {len(passages):,}"
    return write_corpus(folder, name, [(ids, lengths)], len(table), queries)


def _passages() -> Iterator[str]:
    folders = [data_folder(name) for name in _FOLDERS]
    abstracts = [
        Document.from_text(text.id, text.text, title=text.title) for text in load("scifact").texts
    ]
    with TemporaryDirectory() as name, Collection.open(Path(name) / "real") as collection:
        collection.ingest(folders)
        collection.add(abstracts)
        for found in collection.passages():
            yield from (text for _, text in found)
