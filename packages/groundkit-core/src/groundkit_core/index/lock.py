"""One writer at a time: a lock that says who holds it."""

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundkit_core.errors import CollectionLockedError

__all__ = ["LOCK_FILE", "writer_lock"]

LOCK_FILE = "writer.lock"
_HOLDER_FILE = "writer.json"


@contextmanager
def writer_lock(folder: Path, timeout: float) -> Iterator[None]:
    """Hold the collection's writer lock, waiting at most `timeout` seconds for it."""
    from filelock import FileLock, Timeout

    holder = folder / _HOLDER_FILE
    try:
        lock = FileLock(folder / LOCK_FILE, timeout=timeout)
        lock.acquire()
    except Timeout:
        raise CollectionLockedError(
            f"{folder}: {_describe(holder)} is writing; waited {timeout:g} s"
        ) from None
    try:
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        record = {"pid": os.getpid(), "host": platform.node(), "started": started}
        holder.write_text(json.dumps(record), encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _describe(holder: Path) -> str:
    try:
        record = json.loads(holder.read_text(encoding="utf-8"))
        return f"process {record['pid']} on {record['host']} (since {record['started']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
