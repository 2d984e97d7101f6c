"""Embedders that fail, lie or take their time."""

import time
from collections.abc import Callable
from pathlib import Path

from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.errors import EmbeddingError
from groundkit_core.testing import InMemoryEmbedder
from numpy.typing import ArrayLike

__all__ = ["BrokenEmbedder", "FailingEmbedder", "SlowEmbedder"]


class FailingEmbedder(InMemoryEmbedder):
    """Fails at the n-th call and ever after; by default with an `EmbeddingError`."""

    def __init__(self, at: int, error: Exception | None = None, dimensions: int = 16) -> None:
        super().__init__(dimensions)
        self.at = at
        self.error = error or EmbeddingError("the server went away")
        self.calls = 0

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        self.calls += 1
        if self.calls >= self.at:
            raise self.error
        return await super().embed(texts, purpose=purpose)


class BrokenEmbedder(InMemoryEmbedder):
    """Gives what a function makes of the right vectors."""

    def __init__(self, spoil: Callable[[Vectors], ArrayLike], dimensions: int = 16) -> None:
        super().__init__(dimensions)
        self.spoil = spoil

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        return self.spoil(await super().embed(texts, purpose=purpose))  # type: ignore[return-value]


class SlowEmbedder(InMemoryEmbedder):
    """Sleeps before each call and writes a line for each text that it has embedded."""

    def __init__(self, seconds: float, log: Path | None = None, dimensions: int = 16) -> None:
        super().__init__(dimensions)
        self.seconds = seconds
        self.log = log

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        time.sleep(self.seconds)
        if self.log and purpose == "document":
            with self.log.open("a", encoding="utf-8") as out:
                out.write("".join(f"{text}\n" for text in texts))
        return await super().embed(texts, purpose=purpose)
