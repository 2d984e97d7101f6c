"""Which step of a command runs, and for how long."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundkit_providers.protocols import ChatProtocol

__all__ = ["Steps", "TimedChat"]


class Steps:
    """Shows the running step with its time on stderr where that is a terminal."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time what runs inside."""
        begin = time.monotonic()
        try:
            with _spinner(name):
                yield
        finally:
            self.took[name] = self.took.get(name, 0.0) + time.monotonic() - begin

    def summary(self) -> str:
        """What each step took, in the order in which they began."""
        return ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.took.items())


class TimedChat:
    """A chat provider whose calls are a step."""

    def __init__(self, chat: "ChatProtocol", steps: Steps, name: str) -> None:
        self._chat = chat
        self._steps = steps
        self._name = name

    @property
    def provider(self) -> str:
        """The provider's own."""
        return self._chat.provider

    @property
    def model_name(self) -> str:
        """The provider's own."""
        return self._chat.model_name

    async def complete(self, prompt: str, *, system: str | None = None) -> str:
        """The provider's reply."""
        with self._steps.step(self._name):
            return await self._chat.complete(prompt, system=system)


@contextmanager
def _spinner(name: str) -> Iterator[None]:
    if not (sys.stderr and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(name, total=None)
        yield
