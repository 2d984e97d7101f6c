"""From one vector a token to one vector a text."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from groundkit_core.embedding import Vectors

__all__ = ["Pooling", "pooled"]

Pooling = Literal["mean", "cls", "last"]


def pooled(tokens: Vectors, mask: NDArray[np.integer], pooling: Pooling) -> Vectors:
    """The mean, the first or the last of each text's token vectors; the mask marks real tokens."""
    lengths = mask.sum(axis=1)
    if pooling == "mean":
        sums: Vectors = np.einsum("btd,bt->bd", tokens, mask.astype(np.float32))
        sums /= lengths[:, None]
        return sums
    column = 0 if pooling == "cls" else lengths - 1
    chosen: Vectors = tokens[np.arange(len(tokens)), column]
    return chosen
