"""Agreement beyond what chance gives."""

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from groundkit_evals.metrics.agreement import agreement

__all__ = ["cohen_kappa", "kappa_interval"]


def cohen_kappa(labels: Sequence[Hashable], verdicts: Sequence[Hashable]) -> float | None:
    """(observed - expected) / (1 - expected) (Cohen 1960); None where chance agrees always."""
    n = len(labels)
    theirs = Counter(verdicts)
    expected = sum(count * theirs[of] for of, count in Counter(labels).items()) / n**2
    return None if expected == 1 else (agreement(labels, verdicts) - expected) / (1 - expected)


def kappa_interval(
    labels: Sequence[Hashable],
    verdicts: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """A percentile bootstrap interval of kappa over the pairs; None where kappa is None.

    Resamples in which chance agrees always have no kappa and are left out.
    """
    if cohen_kappa(labels, verdicts) is None:
        return None
    random = np.random.default_rng(seed)
    draws = random.integers(0, len(labels), (resamples, len(labels)))
    found = [
        kappa
        for draw in draws
        if (kappa := cohen_kappa([labels[at] for at in draw], [verdicts[at] for at in draw]))
        is not None
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(found, (tail, 1 - tail))
    return float(low), float(high)
