"""Vectors as they come from a model, checked before anything relies on them."""

import numpy as np
from numpy.typing import ArrayLike

from groundkit_core.embedding import Vectors
from groundkit_core.errors import EmbeddingError

__all__ = ["unit_vectors"]


def unit_vectors(found: ArrayLike, texts: int, dimensions: int, who: str) -> Vectors:
    """The vectors as rows of length 1; `EmbeddingError` for a wrong count, size or value."""
    rows = None
    try:
        numbers = np.asarray(found)
        if numbers.dtype.kind in "fiu":
            with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
                rows = numbers.astype(np.float32)
    except (TypeError, ValueError):
        pass
    if rows is None:
        raise EmbeddingError(f"{who} gave vectors of different lengths or no numbers")
    if rows.shape != (texts, dimensions):
        shape = " x ".join(map(str, rows.shape))
        raise EmbeddingError(
            f"{who} gave {shape} numbers for {texts} texts of {dimensions} dimensions"
        )
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if len(bad):
        place = int(bad[0]) + 1
        raise EmbeddingError(
            f"{who} gave a vector of zeros or no numbers for text {place}", place=place
        )
    unit: Vectors = (rows / lengths[:, None]).astype(np.float32)
    return unit
