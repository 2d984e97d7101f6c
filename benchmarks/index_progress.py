"""How far a long run is."""

import sys
import time

__all__ = ["say"]

_BEGAN = time.perf_counter()


def say(text: str) -> None:
    """Tell it on stderr, with the minutes and seconds that passed."""
    minutes, seconds = divmod(int(time.perf_counter() - _BEGAN), 60)
    print(f"[{minutes:2}:{seconds:02}] {text}", file=sys.stderr, flush=True)
