"""Seconds of a side's own work, without those in which it is given something."""

import time
from types import TracebackType

__all__ = ["Clock"]


class Clock:
    """Adds up the time that passes inside it; CPU seconds tell how busy the machine was."""

    def __init__(self) -> None:
        self.seconds = self.cpu = 0.0

    def __enter__(self) -> None:
        self.seconds -= time.perf_counter()
        self.cpu -= time.process_time()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds += time.perf_counter()
        self.cpu += time.process_time()
