"""A cross-encoder from a folder, run in this process by onnxruntime."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundkit_core.errors import ConfigurationError, RerankerNotConfiguredError, RetrievalError
from groundkit_core.model_files import (
    ModelUser,
    input_types,
    model_folder,
    open_session,
    open_tokenizer,
)

if TYPE_CHECKING:
    from tokenizers import Encoding

__all__ = ["DEFAULT_MAX_TOKENS", "DEFAULT_WINDOW_OVERLAP", "CrossEncoderReranker"]

DEFAULT_MAX_TOKENS = 512
DEFAULT_WINDOW_OVERLAP = 64

_FEEDS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
_USER = ModelUser("a cross-encoder", "onnx", RerankerNotConfiguredError, RerankerNotConfiguredError)
_SHAPES = {(1, 1), (1, 2)}


class CrossEncoderReranker:
    """Scores a query and a passage together; a long passage counts as the best of its windows.

    The folder holds `model.onnx` and `tokenizer.json`. `max_tokens` is what the model takes at
    once: by default the tokenizer's own limit, else 512. Windows share `window_overlap` tokens, or
    half of what the query leaves free if that is less. The query is never cut.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        max_tokens: int | None = None,
        window_overlap: int = DEFAULT_WINDOW_OVERLAP,
        threads: int = 1,
    ) -> None:
        given = {"max_tokens": max_tokens, "threads": threads}
        for name, value in given.items():
            if value is not None and value < 1:
                raise ConfigurationError(f"{name} is {value}, it must be at least 1")
        if window_overlap < 0:
            raise ConfigurationError(f"window_overlap is {window_overlap}, it must not be negative")
        path = model_folder(Path(folder), _USER)
        self.model_name = path.resolve().name
        self._tokenizer = open_tokenizer(path / "tokenizer.json", _USER)
        if not self._tokenizer.num_special_tokens_to_add(True):
            raise RerankerNotConfiguredError(f"{path}: it has no template for a pair of texts")
        own = self._tokenizer.truncation
        self.max_tokens: int = max_tokens or (own["max_length"] if own else DEFAULT_MAX_TOKENS)
        self.window_overlap = window_overlap
        self._tokenizer.no_truncation()
        self._session = open_session(path / "model.onnx", threads, _USER)
        self._inputs = input_types(self._session, _FEEDS, path, _USER)
        self._output = _output(self._session, path)

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, in their order."""
        asked = self._tokenizer.encode(query, add_special_tokens=False)
        special = self._tokenizer.num_special_tokens_to_add(True)
        room = self.max_tokens - special - len(asked)
        if room < 1:
            raise RetrievalError(
                f"the query has {len(asked)} tokens and {self.model_name} takes {self.max_tokens},"
                f" {special} of them its own: that leaves no room for a passage"
            )
        return [
            max(self._score(window) for window in self._windows(asked, passage, room))
            for passage in passages
        ]

    def _windows(self, asked: "Encoding", passage: str, room: int) -> Iterator["Encoding"]:
        """The query with each window of a passage, as the tokenizer joins a pair."""
        first = self._tokenizer.encode(passage, add_special_tokens=False)
        first.truncate(room, stride=min(self.window_overlap, room // 2))
        for window in (first, *first.overflowing):
            yield self._tokenizer.post_process(asked, window)

    def _score(self, pair: "Encoding") -> float:
        # One pair a run: in a batch a quantised model lets one pair change another's score.
        feeds = {
            name: np.array([getattr(pair, _FEEDS[name])], dtype=kind)
            for name, kind in self._inputs.items()
        }
        try:
            logits = np.asarray(self._session.run([self._output], feeds)[0], dtype=np.float64)
        except Exception as error:  # onnxruntime's errors have no base of their own
            kind = type(error).__name__
            raise RetrievalError(
                f"{self.model_name} failed with {kind} on {len(pair)} tokens; max_tokens is"
                f" {self.max_tokens}"
            ) from error
        if logits.shape not in _SHAPES:
            shape = " x ".join(map(str, logits.shape))
            raise RerankerNotConfiguredError(
                f"{self.model_name} gives {shape} numbers for a pair, a cross-encoder one or two"
            )
        if not np.isfinite(logits).all():
            raise RetrievalError(f"{self.model_name} gave no finite score for a passage")
        row = logits[0]
        return float(row[-1] - row[0]) if len(row) == 2 else float(row[0])


def _output(session: Any, folder: Path) -> str:
    names = [entry.name for entry in session.get_outputs()]
    if "logits" in names:
        return "logits"
    if len(names) > 1:
        raise RerankerNotConfiguredError(
            f"{folder}: the model gives {', '.join(names)}, none of them called logits"
        )
    return str(names[0])
