"""The true neighbours of queries, and how fast and how well a search finds them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from groundkit_core.embedding import Vectors
from numpy.typing import NDArray

__all__ = [
    "SIGMA",
    "Found",
    "K",
    "Mask",
    "Rows",
    "Search",
    "augmented",
    "measured",
    "true_neighbours",
]

K = 10
SIGMA = 0.03
"""Standard deviation of the noise in each dimension."""
_BLOCK = 50_000

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
Search = Callable[[Vectors], Rows]


@dataclass(frozen=True)
class Found:
    """Times in milliseconds, and the share of the true neighbours."""

    p50: float
    p95: float
    recall: float


def augmented(vectors: Vectors, size: int, seed: int = 3) -> Vectors:
    """The vectors again and again, from the second time on with noise and brought to length 1."""
    rng = np.random.default_rng(seed)
    found = np.empty((size, vectors.shape[1]), np.float32)
    for start in range(0, size, len(vectors)):
        part = vectors[: size - start]
        if start:
            part = part + SIGMA * rng.standard_normal(part.shape, np.float32)
            part /= np.linalg.norm(part, axis=1, keepdims=True)
        found[start : start + len(part)] = part
    return found


def true_neighbours(vectors: Vectors, queries: Vectors, allowed: Mask | None = None) -> list[Rows]:
    """The K allowed rows with the largest inner products, by comparing all of them."""
    best: list[list[tuple[float, int]]] = [[] for _ in queries]
    for start in range(0, len(vectors), _BLOCK):
        scores = queries @ vectors[start : start + _BLOCK].T
        if allowed is not None:
            scores[:, ~allowed[start : start + _BLOCK]] = -np.inf
        k = min(K, scores.shape[1])
        top = np.argpartition(-scores, k - 1, axis=1)[:, :k]
        for held, row, columns in zip(best, scores, top, strict=True):
            held += [(float(row[at]), start + int(at)) for at in columns if row[at] > -np.inf]
    return [np.array([row for _, row in sorted(held, reverse=True)[:K]]) for held in best]


def measured(
    searches: Mapping[str, Search], queries: Vectors, truth: list[Rows], warm: int = 5
) -> dict[str, Found]:
    """What each search takes and finds; the searches take turns at each query."""
    for query in queries[:warm]:
        for search in searches.values():
            search(query)
    times: dict[str, list[float]] = {name: [] for name in searches}
    shares: dict[str, list[float]] = {name: [] for name in searches}
    for query, wanted in zip(queries, truth, strict=True):
        for name, search in searches.items():
            begin = time.perf_counter()
            rows = search(query)
            times[name].append(1000 * (time.perf_counter() - begin))
            shares[name].append(len(np.intersect1d(rows, wanted)) / len(wanted))
    return {
        name: Found(
            float(np.percentile(taken, 50)),
            float(np.percentile(taken, 95)),
            float(np.mean(shares[name])),
        )
        for name, taken in times.items()
    }
