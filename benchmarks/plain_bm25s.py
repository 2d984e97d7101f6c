"""The peer: bm25s with its own tokenizer, or given terms."""

from collections.abc import Sequence

import bm25s
import Stemmer

__all__ = ["PlainBm25s", "TermIndex"]

# Those that bm25s has a list for among the languages measured.
STOP_WORDS = {"english", "german", "spanish", "russian", "turkish"}


class TermIndex:
    """bm25s, Lucene variant, k1 1.5, b 0.75, over lists of terms."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._size = len(texts)
        self._index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        self._index.index([list(terms) for terms in texts], show_progress=False)

    def search(self, terms: Sequence[str], k: int) -> list[int]:
        """Positions of the best k texts that hold a term, best first."""
        # A query of unknown words alone is an error to bm25s.
        known = [term for term in terms if term and term in self._index.vocab_dict]
        if not known:
            return []
        positions, scores = self._index.retrieve([known], k=min(k, self._size), show_progress=False)
        return [int(at) for at, score in zip(positions[0], scores[0], strict=True) if score > 0]


class PlainBm25s:
    """As its documentation shows it: its word pattern, stop words and a stemmer."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._stemmer = None if language == "none" else Stemmer.Stemmer(language)
        self._stop_words = language if language in STOP_WORDS else None
        self._index = TermIndex(self._terms(texts))

    def _terms(self, texts: Sequence[str]) -> list[list[str]]:
        terms: list[list[str]] = bm25s.tokenize(
            list(texts),
            stopwords=self._stop_words,
            stemmer=self._stemmer,
            return_ids=False,
            show_progress=False,
            allow_empty=False,
        )
        return terms

    def search(self, query: str, k: int) -> list[int]:
        """Positions of the best k texts, best first."""
        return self._index.search(self._terms([query])[0], k)
