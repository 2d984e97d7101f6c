"""Work that takes as long as a test wants."""

import threading
from pathlib import Path

from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.index.collection import Collection
from groundkit_core.testing import InMemoryEmbedder

from tests.service.support import write

__all__ = ["Held", "with_vectors"]


class Held(InMemoryEmbedder):
    """An embedder that holds each query until it is let go; `asked_now` counts those it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.asked_now = threading.Semaphore(0)

    def embed_now(self, texts: list[str], purpose: Purpose) -> Vectors:
        self.asked_now.release()
        assert self.go.wait(30)
        return super().embed_now(texts, purpose)

    def holds(self, count: int) -> None:
        """Wait until it has been asked so often."""
        for _ in range(count):
            assert self.asked_now.acquire(timeout=30)


def with_vectors(folder: Path) -> Path:
    """An index directory whose collection can be searched in every mode."""
    write(folder / "docs", {"a.md": "# A\n\nOpen the valve.\n", "b.md": "# B\n\nA dry cellar.\n"})
    with Collection.open(folder / "index/default", embedder=InMemoryEmbedder()) as collection:
        collection.ingest([folder / "docs"])
    return folder / "index"
