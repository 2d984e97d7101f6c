"""Vectors kept on disk, so that a second run need not embed the same texts."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np
from groundkit_core.embedding import EmbeddingProtocol, Purpose, Vectors, identity_of

from benchmarks.report import Row
from scripts.models import MODELS, cache, fetch

__all__ = ["MINILM_TOKENS", "CachedEmbedder", "minilm_folder", "vector_folder"]

MINILM_TOKENS = 256
"""After how many its authors cut a text."""
_KEPT_AT_ONCE = 32
_KEYS_AT_ONCE = 500


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2, fetched if it is not here."""
    for name in ("minilm", "minilm-tokenizer"):
        path = fetch(MODELS[name])
    return path.parent


def vector_folder() -> Path:
    """Where vectors are kept: beside the models."""
    folder = cache() / "vectors"
    folder.mkdir(exist_ok=True)
    return folder


class CachedEmbedder:
    """Has the identity and the vectors of another embedder, and asks it only for new texts.

    There is a file for each model; a vector's key is a hash of purpose, prefix and text.
    """

    def __init__(self, inner: EmbeddingProtocol, folder: Path) -> None:
        self._inner = inner
        self.provider = inner.provider
        self.model_name = inner.model_name
        self.dimensions = inner.dimensions
        self.document_prefix = inner.document_prefix
        self.query_prefix = inner.query_prefix
        self.cached = self.embedded = 0
        bare = identity_of(inner).model_copy(update={"document_prefix": "", "query_prefix": ""})
        name = blake2b(bare.model_dump_json().encode(), digest_size=8).hexdigest()
        self._path = folder / f"{name}.db"

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        """One row a text, kept or new."""
        prefix = self.document_prefix if purpose == "document" else self.query_prefix
        keys = [_key(purpose, prefix + text) for text in texts]
        with self._database() as database:
            known = _known(database, keys)
            self.cached += sum(key in known for key in keys)
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            self.embedded += len(new)
            missing = list(new.items())
            for first in range(0, len(missing), _KEPT_AT_ONCE):
                part = missing[first : first + _KEPT_AT_ONCE]
                found = await self._inner.embed([text for _, text in part], purpose=purpose)
                fresh = {key: row.tobytes() for (key, _), row in zip(part, found, strict=True)}
                database.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", fresh.items())
                database.commit()
                known |= fresh
        rows = np.frombuffer(b"".join(known[key] for key in keys), np.float32)
        return rows.reshape(len(texts), self.dimensions).copy()

    def row(self) -> Row:
        """How much was kept, for a table."""
        return {
            "embedder": f"{self.provider} {self.model_name}",
            "dimensions": self.dimensions,
            "from the cache": self.cached,
            "embedded now": self.embedded,
        }

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self._path, timeout=60)
        try:
            database.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, row BLOB)")
            yield database
        finally:
            database.close()


def _key(purpose: Purpose, text: str) -> bytes:
    return blake2b(f"{purpose}\n{text}".encode(), digest_size=16).digest()


def _known(database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for first in range(0, len(keys), _KEYS_AT_ONCE):
        part = keys[first : first + _KEYS_AT_ONCE]
        marks = ", ".join("?" * len(part))
        query = f"SELECT key, row FROM vector WHERE key IN ({marks})"
        found.update(database.execute(query, part))
    return found
