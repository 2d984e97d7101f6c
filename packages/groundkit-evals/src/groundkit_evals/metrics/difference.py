"""How far two systems differ on the same queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Difference", "paired_difference"]

RESAMPLES = 10_000
_AT_ONCE = 2_000_000
_RARE = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference of `n` pairs, the interval that holds it, and a two-sided p-value."""

    mean: float
    low: float
    high: float
    p: float
    n: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out zero, and chance would seldom give as much."""
        return (self.low > 0 or self.high < 0) and self.p < _RARE


def paired_difference(
    values: Sequence[float],
    others: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """`values` less `others`, query by query: a percentile bootstrap interval of the mean.

    The p-value is that of a randomisation test, which flips the signs of differences
    (Smucker et al. 2007); both draw from one seed, so the same values give the same figures.
    """
    n = len(values)
    if n == 0 or n != len(others):
        raise ValueError(f"{n} and {len(others)} values are no pairs")
    differences = np.subtract(values, others, dtype=np.float64)
    if not np.isfinite(differences).all():
        raise ValueError("a value is no finite number")
    # Two streams, so that the figures do not depend on how many are drawn at once.
    drawing, flipping = np.random.default_rng(seed).spawn(2)
    mean = float(differences.mean())
    means, flipped = [], []
    for size in _blocks(resamples, n):
        means.append(differences[drawing.integers(0, n, (size, n))].mean(axis=1))
        flipped.append((flipping.choice((-1.0, 1.0), (size, n)) * differences).mean(axis=1))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail))
    # A sum in another order may differ in its last bits.
    as_far = int(np.count_nonzero(np.abs(np.concatenate(flipped)) >= abs(mean) - 1e-12))
    return Difference(mean, float(low), float(high), (as_far + 1) / (resamples + 1), n)


def _blocks(resamples: int, n: int) -> list[int]:
    size = max(1, _AT_ONCE // n)
    whole, rest = divmod(resamples, size)
    return [size] * whole + ([rest] if rest else [])
