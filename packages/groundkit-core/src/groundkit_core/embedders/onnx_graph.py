"""An ONNX graph that turns token ids into vectors, run by onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np

from groundkit_core.embedders.pooling import Pooling, pooled
from groundkit_core.embedding import Vectors
from groundkit_core.errors import EmbeddingError
from groundkit_core.model_files import ModelUser, input_types, open_session

__all__ = ["OnnxGraph"]

_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_TEXT_OUTPUT = "sentence_embedding"


class OnnxGraph:
    """Gives one vector a text: the graph's own if it has one, else its token vectors pooled.

    `pooled_by` is the pooling, or the name of the output that needs none.
    """

    def __init__(
        self, path: Path, user: ModelUser, *, pooling: Pooling | None, threads: int
    ) -> None:
        self._path = path
        self._session = open_session(path, threads, user)
        self._types = input_types(self._session, _INPUTS, path, user)
        self._output, self._pooling = self._chosen_output(pooling)
        self.pooled_by: str = self._pooling or self._output

    def vectors(self, rows: list[list[int]], pad: int) -> Vectors:
        """One vector for each row of token ids, as the graph gives it."""
        width = max(map(len, rows))
        mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        feeds = {
            "input_ids": np.array([row + [pad] * (width - len(row)) for row in rows]),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
            "position_ids": np.tile(np.arange(width), (len(rows), 1)),
        }
        wanted = {name: feeds[name].astype(kind) for name, kind in self._types.items()}
        try:
            (found,) = self._session.run([self._output], wanted)
        except Exception as error:  # onnxruntime's errors have no base of their own
            raise EmbeddingError(
                f"{self._path}: onnxruntime failed with {type(error).__name__} on "
                f"{len(rows)} texts of up to {width} tokens"
            ) from error
        return self._texts(np.asarray(found, dtype=np.float32), mask)

    def _texts(self, found: Vectors, mask: Any) -> Vectors:
        expected = mask.shape if self._pooling else mask.shape[:1]
        if found.shape[:-1] != expected:
            shape = " x ".join(map(str, found.shape))
            raise EmbeddingError(f"{self._path}: its output {self._output} has the shape {shape}")
        return pooled(found, mask, self._pooling) if self._pooling else found

    def _chosen_output(self, pooling: Pooling | None) -> tuple[str, Pooling | None]:
        ranks = {entry.name: len(entry.shape) for entry in self._session.get_outputs()}
        if pooling is None and ranks.get(_TEXT_OUTPUT) == 2:
            return _TEXT_OUTPUT, None
        tokens = [name for name, rank in ranks.items() if rank == 3]
        if tokens:
            known = [name for name in _TOKEN_OUTPUTS if name in tokens]
            return (known or tokens)[0], pooling or "mean"
        if pooling is None and list(ranks.values()) == [2]:
            return next(iter(ranks)), None
        raise EmbeddingError(
            f"{self._path}: its outputs are {', '.join(ranks)}; an embedder needs one vector a "
            f"token, or with no pooling set {_TEXT_OUTPUT}"
        )
