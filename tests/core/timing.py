"""Whether work on a text grows with its length."""

import gc
from collections.abc import Callable
from time import process_time

__all__ = ["HOSTILE", "check_linear", "repeated"]

HOSTILE = ["a", "a@", "0", "a.", "-", "茶", "\u0301"]
_GRAIN = 0.02


def repeated(unit: str, size: int) -> str:
    """The unit over and over, up to `size` bytes of UTF-8."""
    return unit * (size // len(unit.encode()))


def check_linear(work: Callable[[str], object], make: Callable[[int], str], size: int) -> None:
    """Ten times the text takes at most twenty times as long, from a hundredth up to `size`.

    A ratio in between is measured again: a collection of garbage may have fallen into it.
    """
    short, middle, long = (make(size // divisor) for divisor in (100, 10, 1))
    for small, large in ((short, middle), (middle, long)):
        ratios = []
        for _ in range(3):
            before = max(_GRAIN, _seconds(work, small))
            ratios.append(_seconds(work, large) / before)
            if ratios[-1] <= 20 or ratios[-1] > 60:
                break
        assert min(ratios) <= 20, f"{len(small)} to {len(large)} characters: {ratios}"


def _seconds(work: Callable[[str], object], text: str) -> float:
    # Collecting garbage costs by how much the other tests left, not by the text.
    gc.disable()
    try:
        start = process_time()
        work(text)
        return process_time() - start
    finally:
        gc.enable()
