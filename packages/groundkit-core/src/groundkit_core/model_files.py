"""The files of a model in a folder, as the libraries open them."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundkit_core.errors import GroundkitError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Integer", "ModelUser", "input_types", "model_folder", "open_session", "open_tokenizer"]

Integer = type[np.integer[Any]]
_TYPES: dict[str, Integer] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class ModelUser(NamedTuple):
    """Who opens the files: its name, its extra, and its errors for what is missing or damaged."""

    name: str
    extra: str
    missing: type[GroundkitError]
    damaged: type[GroundkitError]

    def lacks(self, library: str) -> GroundkitError:
        """The error for an extra that is not installed."""
        return self.missing(
            f"{self.name} needs {library}; "
            f"install it with: pip install 'groundkit-core[{self.extra}]'"
        )


def model_folder(folder: Path, user: ModelUser) -> Path:
    """The folder, if it holds `model.onnx` and `tokenizer.json`."""
    for name in ("model.onnx", "tokenizer.json"):
        if not (folder / name).is_file():
            raise user.missing(
                f"{folder}: there is no {name}; {user.name} is a folder with model.onnx and "
                "tokenizer.json"
            )
    return folder


def open_tokenizer(path: Path, user: ModelUser) -> "Tokenizer":
    """The tokenizer in a file, without padding; special tokens that a text spells are text."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise user.lacks("tokenizers") from None
    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more precise
        raise user.damaged(f"{path}: this is no tokenizer") from error
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def open_session(path: Path, threads: int, user: ModelUser) -> Any:
    """The graph in a file, ready to run on the processor."""
    try:
        import onnxruntime
    except ImportError:
        raise user.lacks("onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what it would print, it raises too
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no base of their own
        raise user.damaged(f"{path}: onnxruntime cannot load it") from error


def input_types(
    session: Any, known: Collection[str], path: Path, user: ModelUser
) -> dict[str, Integer]:
    """The number type of each input by its name; only known integers can be given."""
    inputs = {entry.name: entry.type for entry in session.get_inputs()}
    for name, kind in inputs.items():
        if name not in known or kind not in _TYPES:
            raise user.damaged(
                f"{path}: it asks for {name} as {kind}; {user.name} can give {', '.join(known)} "
                "as integers"
            )
    return {name: _TYPES[kind] for name, kind in inputs.items()}
