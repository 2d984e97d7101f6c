"""A real `grk serve` on a free port, and a real `grk ingest` beside it."""

import itertools
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import BenchmarkError
from benchmarks.startup import grk

__all__ = ["Server", "changing", "served"]

_PATIENCE = 60.0
_CHANGED = 20
"""Files that are changed before each ingest."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    url: str
    process: int

    def private(self) -> float:
        """Its own memory in MB; NaN where the system does not tell."""
        path = Path(f"/proc/{self.process}/status")
        lines = path.read_text("ascii").splitlines() if path.exists() else []
        found = (int(line.split()[1]) / 1000 for line in lines if line.startswith("RssAnon"))
        return next(found, float("nan"))


@contextmanager
def served(index: Path, log: Path) -> Iterator[Server]:
    """A server of an index directory; its requests are logged as they are for users."""
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [grk(), "serve", "--port", "0", "--index-dir", str(index)],
            stdin=subprocess.DEVNULL,
            stderr=errors,
        ) as process,
    ):
        try:
            yield Server(_started(process, log), process.pid)
        finally:
            process.terminate()


@contextmanager
def changing(documents: Path, index: Path) -> Iterator[None]:
    """While it lasts another process ingests changed files, again and again."""
    ended = threading.Event()

    def change() -> None:
        folder = documents / "000"
        changed = itertools.cycle(sorted(folder.iterdir()))
        while not ended.is_set():
            for path in itertools.islice(changed, _CHANGED):
                path.write_text(path.read_text("utf-8") + "\nOne sentence more.\n", "utf-8")
            command = [grk(), "ingest", str(folder), "--index-dir", str(index)]
            subprocess.run(command, check=True, capture_output=True)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _started(process: "subprocess.Popen[bytes]", log: Path) -> str:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        *lines, _ = log.read_text("utf-8").split("\n")
        for line in lines:
            if line.startswith("{") and (event := json.loads(line))["event"] == "started":
                return str(event["url"])
        time.sleep(0.05)
    raise BenchmarkError(f"grk serve did not start:\n{log.read_text('utf-8')[-2000:]}")
