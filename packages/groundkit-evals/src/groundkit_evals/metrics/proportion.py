"""How far a share can be trusted."""

from math import sqrt

__all__ = ["wilson_interval"]

_Z = 1.959963984540054  # 95 %


def wilson_interval(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of `hits` out of `n` (Wilson 1927); all of 0 to 1 for none."""
    if n == 0:
        return 0.0, 1.0
    share = hits / n
    centre = share + _Z**2 / (2 * n)
    spread = _Z * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    low = (centre - spread) / scale if hits else 0.0
    return low, (centre + spread) / scale if hits < n else 1.0
