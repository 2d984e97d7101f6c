"""Percentiles of latencies."""

from collections.abc import Sequence

import numpy as np

__all__ = ["percentile"]


def percentile(seconds: Sequence[float], percent: float) -> float:
    """The value that `percent` of all do not exceed, between neighbours in proportion."""
    return float(np.percentile(seconds, percent))
