"""A transformer from a folder, run in this process by onnxruntime."""

from hashlib import blake2b, file_digest
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from groundkit_core.embedders.onnx_graph import OnnxGraph
from groundkit_core.embedders.onnx_settings import onnx_settings
from groundkit_core.embedders.pooling import Pooling
from groundkit_core.embedders.texts import prepared_texts
from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingProviderNotConfiguredError,
)
from groundkit_core.model_files import ModelUser, model_folder, open_tokenizer
from groundkit_core.vectors import unit_vectors

__all__ = ["DEFAULT_MAX_TOKENS", "OnnxEmbedder"]

DEFAULT_MAX_TOKENS = 512

_USER = ModelUser("the onnx embedder", "onnx", EmbeddingProviderNotConfiguredError, EmbeddingError)
_BATCH = 8  # more is no faster for passages
_PAD_TOKENS = ("[PAD]", "<pad>")


class OnnxEmbedder:
    """Embeds with `model.onnx` and `tokenizer.json` of a folder.

    Settings are flags over `embedding.json` over sentence-transformers' own files. Without any,
    the graph's `sentence_embedding` is taken, else its token vectors' mean, and a text is cut after
    the tokenizer's own limit or 512 tokens. `truncated` counts the texts that were cut so far.
    `model_name` holds a hash of the weights and the tokenizer, the pooling and the limit.
    """

    provider = "onnx"

    def __init__(
        self,
        folder: str | Path,
        *,
        pooling: Pooling | None = None,
        document_prefix: str | None = None,
        query_prefix: str | None = None,
        max_tokens: int | None = None,
        threads: int = 1,
    ) -> None:
        if threads < 1:
            raise ConfigurationError(f"threads is {threads}, it must be at least 1")
        path = model_folder(Path(folder), _USER)
        flags = {
            "pooling": pooling,
            "document_prefix": document_prefix,
            "query_prefix": query_prefix,
            "max_tokens": max_tokens,
        }
        settings = onnx_settings(path, flags)
        self.document_prefix = settings.document_prefix
        self.query_prefix = settings.query_prefix
        self.truncated = 0
        self._tokenizer = open_tokenizer(path / "tokenizer.json", _USER)
        self.max_tokens = self._limit(settings.max_tokens)
        self._pad = self._pad_id()
        self._graph = OnnxGraph(
            path / "model.onnx", _USER, pooling=settings.pooling, threads=threads
        )
        self._batch = 1 if _depends_on_batch(path / "model.onnx") else _BATCH
        name = settings.name or path.resolve().name
        self.model_name = f"{name}@{_digest(path)}:{self._graph.pooled_by}:{self.max_tokens}"
        # A run tells what a graph need not declare, and that it runs at all.
        self.dimensions: int = self._graph.vectors([[self._pad]], self._pad).shape[1]

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        """One row a text; `EmbeddingError` names the number of a text that has none."""
        return self.embed_now(texts, purpose)

    def embed_now(self, texts: list[str], purpose: Purpose) -> Vectors:
        """What `embed` gives."""
        who = f"{self.provider} {self.model_name}"
        rows = [self._ids(text) for text in prepared_texts(self, texts, purpose)]
        if [] in rows:
            raise EmbeddingError(f"{who}: text {rows.index([]) + 1} has no token of the model")
        found = np.empty((len(rows), self.dimensions), dtype=np.float32)
        # Texts of a like length share a batch, so that little of it is padding.
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for start in range(0, len(order), self._batch):
            batch = order[start : start + self._batch]
            found[batch] = self._graph.vectors([rows[row] for row in batch], self._pad)
        return unit_vectors(found, len(rows), self.dimensions, who)

    def _ids(self, text: str) -> list[int]:
        # One text a call: a batch would start threads, which a fork does not survive.
        encoding = self._tokenizer.encode(text)
        self.truncated += bool(encoding.overflowing)
        return encoding.ids

    def _limit(self, asked: int | None) -> int:
        own = self._tokenizer.truncation
        limit: int = asked or (own["max_length"] if own else DEFAULT_MAX_TOKENS)
        special = self._tokenizer.num_special_tokens_to_add(False)
        if limit <= special:
            raise ConfigurationError(
                f"max_tokens is {limit}, of which the tokenizer takes {special} for itself"
            )
        self._tokenizer.enable_truncation(limit)
        return limit

    def _pad_id(self) -> int:
        ids = (self._tokenizer.token_to_id(token) for token in _PAD_TOKENS)
        return next((found for found in ids if found is not None), 0)


def _digest(folder: Path) -> str:
    """A short hash of the graph, of weights kept beside it, and of the tokenizer."""
    whole = blake2b(digest_size=4)
    for path in (*sorted(folder.glob("model.onnx*")), folder / "tokenizer.json"):
        with path.open("rb") as file:
            whole.update(file_digest(file, blake2b).digest())
    return whole.hexdigest()


def _depends_on_batch(model: Path) -> bool:
    """Whether the graph scales its numbers by a whole batch, so that one text changes another's."""
    with model.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(b"DynamicQuantize") >= 0
