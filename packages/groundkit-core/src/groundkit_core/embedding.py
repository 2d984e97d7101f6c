"""The seam between a collection and whatever turns text into vectors."""

from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from groundkit_core.contracts import Contract

__all__ = ["EmbeddingIdentity", "EmbeddingProtocol", "Purpose", "Vectors", "identity_of"]

Purpose = Literal["document", "query"]
Vectors = NDArray[np.float32]


class EmbeddingIdentity(Contract):
    """What two vectors must have in common to be compared; prefixes go before every text."""

    provider: str
    model_name: str
    dimensions: int
    document_prefix: str = ""
    query_prefix: str = ""

    def __str__(self) -> str:
        prefixes = (
            f", prefixes {self.document_prefix!r} and {self.query_prefix!r}"
            if self.document_prefix or self.query_prefix
            else ""
        )
        return f"{self.provider} {self.model_name} ({self.dimensions} dimensions{prefixes})"


@runtime_checkable
class EmbeddingProtocol(Protocol):
    """Turns texts into vectors; everything but `embed` is its identity."""

    @property
    def provider(self) -> str:
        """Who makes the vectors, in one word."""
        ...

    @property
    def model_name(self) -> str:
        """The model, as its provider calls it."""
        ...

    @property
    def dimensions(self) -> int:
        """Numbers in each vector."""
        ...

    @property
    def document_prefix(self) -> str:
        """What goes before each passage."""
        ...

    @property
    def query_prefix(self) -> str:
        """What goes before each query."""
        ...

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        """One row a text, of `dimensions` float32 and length 1; `EmbeddingError` otherwise."""
        ...


def identity_of(embedder: EmbeddingProtocol) -> EmbeddingIdentity:
    """The identity that an embedder's vectors have."""
    return EmbeddingIdentity(
        provider=embedder.provider,
        model_name=embedder.model_name,
        dimensions=embedder.dimensions,
        document_prefix=embedder.document_prefix,
        query_prefix=embedder.query_prefix,
    )
