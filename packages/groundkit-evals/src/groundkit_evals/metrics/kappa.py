"""Agreement beyond what chance gives."""

from collections import Counter
from collections.abc import Hashable, Sequence

from groundkit_evals.metrics.agreement import agreement

__all__ = ["cohen_kappa"]


def cohen_kappa(labels: Sequence[Hashable], verdicts: Sequence[Hashable]) -> float | None:
    """(observed - expected) / (1 - expected) (Cohen 1960); None where chance agrees always."""
    n = len(labels)
    theirs = Counter(verdicts)
    expected = sum(count * theirs[of] for of, count in Counter(labels).items()) / n**2
    return None if expected == 1 else (agreement(labels, verdicts) - expected) / (1 - expected)
