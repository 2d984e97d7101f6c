"""Keeps coverage, which doubles their time, from runs by the hundred of what others measure."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["stop_coverage", "unmeasured"]

_CONFIG = "COVERAGE_PROCESS_CONFIG"


def stop_coverage() -> Any:
    """Stop measuring this process; gives what did, None where nothing does."""
    measuring = sys.modules.get("coverage")
    running = measuring.Coverage.current() if measuring else None
    if running is not None:
        running.stop()
    return running


@contextmanager
def unmeasured() -> Iterator[None]:
    """Measure neither this process nor those that it starts, as long as it lasts."""
    running, config = stop_coverage(), os.environ.pop(_CONFIG, None)
    try:
        yield
    finally:
        if config is not None:
            os.environ[_CONFIG] = config
        if running is not None:
            running.start()
