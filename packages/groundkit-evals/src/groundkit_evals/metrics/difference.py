"""How far two systems differ on the same queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Difference", "paired_difference"]

RESAMPLES = 10_000
_AT_ONCE = 2_000_000


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
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


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
    differences = np.subtract(values, others, dtype=np.float64)
    n = len(differences)
    if n == 0:
        raise ValueError("there are no pairs to compare")
    random = np.random.default_rng(seed)
    mean = float(differences.mean())
    means, flipped = [], []
    for size in _blocks(resamples, n):
        means.append(differences[random.integers(0, n, (size, n))].mean(axis=1))
        flipped.append((random.choice((-1.0, 1.0), (size, n)) * differences).mean(axis=1))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail))
    # A sum in another order may differ in its last bits.
    as_far = int(np.count_nonzero(np.abs(np.concatenate(flipped)) >= abs(mean) - 1e-12))
    return Difference(mean, float(low), float(high), (as_far + 1) / (resamples + 1), n)


def _blocks(resamples: int, n: int) -> list[int]:
    size = max(1, _AT_ONCE // n)
    whole, rest = divmod(resamples, size)
    return [size] * whole + ([rest] if rest else [])
