"""Passages of made-up words as Markdown files on disk, indexed, with queries."""

import time
from dataclasses import dataclass
from pathlib import Path

from groundkit_core import Collection

from benchmarks.index_corpus import Corpus, zipf_corpus

__all__ = ["Indexed", "indexed"]

_SECTIONS = 10
_FOLDER = 500
"""Files in a folder."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """Files, the index directory of their collection, queries, and seconds of the ingest."""

    documents: Path
    index: Path
    queries: list[str]
    seconds: float

    def generation(self) -> int:
        """How often the collection was changed."""
        with Collection.open(self.index / "default") as collection:
            return collection.summary().generation


def indexed(base: Path, passages: int) -> Indexed:
    """Files of ten passages each, which are read again whenever a result is verified."""
    corpus = zipf_corpus(base / "corpus", passages)
    documents, index = base / "documents", base / "index"
    _write(corpus, documents)
    begin = time.perf_counter()
    with Collection.open(index / "default") as collection:
        collection.ingest([documents])
        found = collection.summary().chunks
    if found != passages:
        raise AssertionError(f"{found} passages were made of {passages}")
    words = corpus.words
    queries = [" ".join(words[term] for term in terms) for terms in corpus.queries]
    return Indexed(documents, index, queries, time.perf_counter() - begin)


def _write(corpus: Corpus, documents: Path) -> None:
    for number, start in enumerate(range(0, corpus.size, _SECTIONS)):
        texts = corpus.texts(start, min(start + _SECTIONS, corpus.size))
        parts = [f"## Part {part}\n\n{text}\n" for part, text in enumerate(texts)]
        folder = documents / f"{number // _FOLDER:03}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number % _FOLDER:03}.md").write_text("\n".join(parts), "utf-8")
