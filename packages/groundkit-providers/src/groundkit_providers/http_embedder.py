"""What the embedders behind HTTP share: prefixes, batches, and the check of what comes back."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.errors import EmbeddingError, EmbeddingProviderNotConfiguredError
from groundkit_core.vectors import unit_vectors

from groundkit_providers.endpoint import EMBEDDING, HttpModel
from groundkit_providers.http import MAX_REPLY_BYTES, Reply

__all__ = ["HttpEmbedder"]

# Twice what 4096 numbers take as text, and what a vector adds to the size of a permitted reply.
_BYTES_A_VECTOR = 256 * 1024
_TOO_LARGE = (400, 413)


class HttpEmbedder(HttpModel):
    """A model at a base URL that turns texts into vectors."""

    _boundary = EMBEDDING
    _path: ClassVar[str]

    def _set_up(
        self, dimensions: int | None, document_prefix: str, query_prefix: str, batch_size: int
    ) -> None:
        self._dimensions = dimensions
        self._prefixes: dict[Purpose, str] = {"document": document_prefix, "query": query_prefix}
        self._batch_size = batch_size

    @property
    def dimensions(self) -> int:
        """Numbers in each vector: as given, or as in the first ones that came."""
        if self._dimensions is None:
            raise EmbeddingProviderNotConfiguredError(
                self._said("has given no vector yet, so its dimensions must be set")
                + f" ({self._boundary.flags}-dimensions)"
            )
        return self._dimensions

    @property
    def document_prefix(self) -> str:
        """What goes before each passage."""
        return self._prefixes["document"]

    @property
    def query_prefix(self) -> str:
        """What goes before each query."""
        return self._prefixes["query"]

    @property
    def batch_size(self) -> int:
        """The most texts in one request."""
        return self._batch_size

    async def probe(self) -> int:
        """The dimensions, learned from one short text where nobody gave them."""
        if self._dimensions is None:
            await self.embed(["dimensions"], purpose="document")
        return self.dimensions

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        """One row of length 1 for each text; `EmbeddingError` for all where one is missing."""
        prefix = self._prefixes[purpose]
        if blank := [place for place, text in enumerate(texts, 1) if not text.strip()]:
            said = self._said(f"has no vector for text {blank[0]}: it is blank")
            raise EmbeddingError(said, place=blank[0])
        found: list[Vectors] = []
        for start in range(0, len(texts), self._batch_size):
            batch = [prefix + text for text in texts[start : start + self._batch_size]]
            found += await self._rows(batch, start)
        if not found:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return unit_vectors(
            np.concatenate(found), len(texts), self.dimensions, self._said("").strip()
        )

    async def _rows(self, texts: list[str], before: int) -> list[Vectors]:
        """What one request gives, or what both halves give where it is too much for the server."""
        body = self._body(texts)
        limit = max(MAX_REPLY_BYTES, len(texts) * _BYTES_A_VECTOR)
        reply = await self._exchange(f"{self._base_url}{self._path}", body, texts, limit)
        if reply.status in _TOO_LARGE and len(texts) > 1:
            half = len(texts) // 2
            first = await self._rows(texts[:half], before)
            return first + await self._rows(texts[half:], before + half)
        if reply.status in _TOO_LARGE:
            raise EmbeddingError(
                self._said(f"refused text {before + 1} by itself ({reply.status})", reply),
                place=before + 1,
            )
        if reply.status != 200:
            raise self._refusal(reply)
        return [self._checked(self._vectors(reply), len(texts), before)]

    def _checked(self, rows: list[list[float]], texts: int, before: int) -> Vectors:
        if len(rows) != texts:
            raise EmbeddingError(self._said(f"gave {len(rows)} vectors for {texts} texts"))
        dimensions = self._dimensions or len(rows[0])
        for place, row in enumerate(rows, before + 1):
            if not row or len(row) != dimensions:
                said = f"gave {len(row)} numbers for text {place}; the others have {dimensions}"
                raise EmbeddingError(self._said(said), place=place)
        self._dimensions = dimensions
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
            return np.array(rows, dtype=np.float32)

    @abstractmethod
    def _body(self, texts: list[str]) -> dict[str, object]: ...

    @abstractmethod
    def _vectors(self, reply: Reply) -> list[list[float]]: ...
