"""Static word vectors from the wordllama package, the embedder that needs no model of yours."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundkit_core.embedders.texts import prepared_texts
from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingProviderNotConfiguredError,
)
from groundkit_core.model_files import ModelUser, open_tokenizer
from groundkit_core.vectors import unit_vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["STATIC_DIMENSIONS", "STATIC_MODEL", "StaticEmbedder"]

STATIC_MODEL = "wordllama-l2-supercat-256"
STATIC_DIMENSIONS = (64, 128, 256)
"""The model is trained so that its leading dimensions stand alone."""

_USER = ModelUser(
    "the static embedder", "static", EmbeddingProviderNotConfiguredError, EmbeddingError
)
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_SLICE = 4096  # tokens whose vectors are in memory at once


class StaticEmbedder:
    """The mean of a text's token vectors, of any length; every text that is not blank has one."""

    provider = "static"
    model_name = STATIC_MODEL
    document_prefix = ""
    query_prefix = ""

    def __init__(self, dimensions: int = 256) -> None:
        if dimensions not in STATIC_DIMENSIONS:
            raise ConfigurationError(
                f"{STATIC_MODEL} has no {dimensions} dimensions; one of: "
                + ", ".join(map(str, STATIC_DIMENSIONS))
            )
        self.dimensions = dimensions
        folder = _package_folder()
        self._tokenizer: Tokenizer = open_tokenizer(folder / _TOKENIZER, _USER)
        self._weights = _weights(folder / _WEIGHTS)[:, :dimensions]

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        """One row a text; `EmbeddingError` names the number of a text that has none."""
        return self.embed_now(texts, purpose)

    def embed_now(self, texts: list[str], purpose: Purpose) -> Vectors:
        """What `embed` gives."""
        sums = [self._sum(text) for text in prepared_texts(self, texts, purpose)]
        rows = np.array(sums, dtype=np.float32).reshape(len(texts), self.dimensions)
        return unit_vectors(rows, len(texts), self.dimensions, f"{self.provider} {self.model_name}")

    def _sum(self, text: str) -> Vectors:
        # One text a call: a batch would start threads, which a fork does not survive.
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        total = np.zeros(self.dimensions, dtype=np.float32)
        for start in range(0, len(ids), _SLICE):
            total += self._weights[ids[start : start + _SLICE]].sum(axis=0, dtype=np.float32)
        return total


def _package_folder() -> Path:
    """Where wordllama is installed; importing it would set up logging and an HTTP client."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise _USER.lacks("wordllama")
    folder = Path(spec.submodule_search_locations[0])
    for name in (_WEIGHTS, _TOKENIZER):
        if not (folder / name).is_file():
            raise EmbeddingProviderNotConfiguredError(
                f"{folder}: there is no {name}; install the wordllama that has it with: "
                "pip install 'groundkit-core[static]'"
            )
    return folder


def _weights(path: Path) -> NDArray[np.float16]:
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise _USER.lacks("safetensors") from None
    try:
        weights: NDArray[np.float16] = load_file(path)["embedding.weight"]
    except (SafetensorError, KeyError) as error:
        raise EmbeddingError(f"{path}: it holds no vectors") from error
    return weights
