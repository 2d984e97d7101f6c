"""Everything taken from bm25s: its tokenizer, its stop words, and an index in its format."""

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import bm25s
from bm25s.tokenization import Tokenizer

__all__ = ["save_index", "stop_words", "tokenize"]

Stem = TypeVar("Stem", bound=Hashable)

# It sets itself to DEBUG when it is imported.
logging.getLogger("bm25s").setLevel(logging.WARNING)


def tokenize(
    texts: Sequence[str], splitter: Callable[[str], list[str]], stemmer: Callable[[str], Stem]
) -> tuple[list[list[int]], list[Stem]]:
    """Ids of each text's words, and the stem, of any type, that each id stands for."""
    tokenizer = Tokenizer(lower=False, splitter=splitter, stopwords=None, stemmer=stemmer)
    ids: list[list[int]] = tokenizer.tokenize(
        list(texts), update_vocab=True, allow_empty=False, show_progress=False, return_as="ids"
    )
    return ids, list(tokenizer.get_vocab_dict())


def stop_words(language: str) -> tuple[str, ...]:
    """Its stop words for a language, sorted; none where it has no list."""
    try:
        return tuple(sorted(Tokenizer(stopwords=language).stopwords))
    except ValueError:
        return ()


def save_index(
    terms: Iterable[list[str]], corpus: Sequence[Mapping[str, str]], path: Path, k1: float, b: float
) -> None:
    """Save terms as a bm25s index, Lucene variant, with a corpus of mappings."""
    index = bm25s.BM25(method="lucene", k1=k1, b=b)
    index.index(list(terms), show_progress=False)
    index.save(str(path), corpus=corpus)
