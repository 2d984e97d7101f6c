"""Doubles for code that uses groundkit."""

from collections.abc import Mapping
from hashlib import shake_128

import numpy as np

from groundkit_core.embedders.texts import prepared_texts
from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.errors import SourceError
from groundkit_core.terms import Analyzer
from groundkit_core.vectors import unit_vectors

__all__ = ["InMemoryEmbedder", "MappingReader"]


class MappingReader:
    """A `SourceReader` over a mapping from source to text or bytes."""

    def __init__(self, sources: Mapping[str, str | bytes]) -> None:
        self.sources = sources

    def read(self, source: str) -> str | bytes:
        """What the mapping holds now."""
        try:
            return self.sources[source]
        except KeyError:
            raise SourceError("it is gone") from None


class InMemoryEmbedder:
    """An `EmbeddingProtocol` without a model: each term adds a vector made of its hash.

    Texts that share terms are nearer. Its numbers are structural and measure nothing about
    meaning. `asked` holds every text that it was given, without prefix, in order.
    """

    provider = "inmemory"

    def __init__(
        self,
        dimensions: int = 64,
        *,
        model_name: str = "hashed-terms",
        document_prefix: str = "",
        query_prefix: str = "",
    ) -> None:
        self.dimensions = dimensions
        self.model_name = model_name
        self.document_prefix = document_prefix
        self.query_prefix = query_prefix
        self.asked: list[str] = []
        self._analyzer = Analyzer("none")

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        """One row a text; `EmbeddingError` names the number of a text that is blank."""
        return self.embed_now(texts, purpose)

    def embed_now(self, texts: list[str], purpose: Purpose) -> Vectors:
        """What `embed` gives."""
        sums = [self._sum(text) for text in prepared_texts(self, texts, purpose)]
        self.asked += texts
        rows = np.array(sums, dtype=np.float32).reshape(len(texts), self.dimensions)
        return unit_vectors(rows, len(texts), self.dimensions, f"{self.provider} {self.model_name}")

    def _sum(self, text: str) -> Vectors:
        # A text of symbols alone has no terms and stands for itself.
        terms = sorted(set(self._analyzer.terms(text))) or [text]
        total = np.zeros(self.dimensions, dtype=np.float32)
        for term in terms:
            total += self._hashed(term)
        return total

    def _hashed(self, term: str) -> Vectors:
        """Numbers from -1 to 1; another model gives the same term others."""
        digest = shake_128(f"{self.model_name}\n{term}".encode()).digest(2 * self.dimensions)
        numbers: Vectors = np.divide(np.frombuffer(digest, dtype="<i2"), 32768, dtype=np.float32)
        return numbers
