"""A process of its own for readers of formats that are no text: it can be stopped and bounded."""

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from types import TracebackType
from typing import IO, Any, Self

from groundkit_core.chunking.blocks import Block
from groundkit_core.errors import ConfigurationError, RefusedError, SourceError
from groundkit_core.loading.extracted import Extracted

__all__ = ["MAX_MEMORY", "MAX_SECONDS", "Worker", "serve"]

MAX_SECONDS = 120.0
MAX_MEMORY = 2 * 1024**3
_LENGTH = struct.Struct(">Q")
_READY = b"ready"
_SERVE = "from groundkit_core.loading.worker import serve; serve()"


class Worker:
    """Runs readers in another process, which starts with the first file and may be replaced.

    A file that takes more than `seconds` or more than `memory` bytes (where the system can limit
    it), or that brings its reader down, is a SourceError: that says little of what it holds.
    """

    def __init__(self, seconds: float = MAX_SECONDS, memory: int = MAX_MEMORY) -> None:
        if not 0 < seconds <= threading.TIMEOUT_MAX:
            raise ConfigurationError(f"a file may take {seconds:g} s: it must be a time above 0")
        self._seconds = seconds
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def running(self) -> bool:
        """Whether there is a process that waits for files."""
        return self._process is not None and self._process.poll() is None

    def extract(self, module: str, data: bytes, options: Mapping[str, object]) -> Extracted:
        """What a module's `extract` gives for the bytes; RefusedError for what is in them."""
        process = self._started()
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            reply = _asked(process, module, data, options)
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():
            self.close()
        if reply is None:
            code = _code(process)
            self.close()
            why = f"reading it took more than {self._seconds:g} s"
            raise SourceError(why if late.is_set() else f"its reader broke down ({_ended(code)})")
        return _extracted(reply)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self.running:
            return self._process
        self.close()
        path = os.pathsep.join(filter(None, sys.path))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE, str(self._memory), str(self._seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )
        except OSError as error:
            raise SourceError(f"its reader cannot be started: {error.strerror}") from None
        assert self._process.stdout is not None
        # So that the time limit of the first file does not cover the start.
        if self._process.stdout.read(len(_READY)) != _READY:
            code = _code(self._process)
            self.close()
            raise SourceError(f"its reader cannot be started ({_ended(code)})")
        return self._process


def _asked(
    process: "subprocess.Popen[bytes]", module: str, data: bytes, options: Mapping[str, object]
) -> dict[str, Any] | None:
    """The reply of the process; None where it ended without one."""
    assert process.stdin is not None
    assert process.stdout is not None
    head = json.dumps({"module": module, "options": options, "size": len(data)}).encode()
    try:
        process.stdin.write(head + b"\n")
        process.stdin.write(data)
        process.stdin.flush()
    except BrokenPipeError:
        return None
    length = process.stdout.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(length)[0]
    body = process.stdout.read(size)
    if len(body) < size:
        return None
    reply: dict[str, Any] = json.loads(body)
    return reply


def _extracted(reply: dict[str, Any]) -> Extracted:
    if "refused" in reply:
        raise RefusedError(reply["refused"])
    if "failed" in reply:
        raise SourceError(reply["failed"])
    text, blocks, pages, title, warnings, partial, encoding = reply["found"]
    return Extracted(
        text,
        tuple(Block(*block) for block in blocks),
        tuple(pages),
        title,
        tuple(warnings),
        partial,
        encoding,
    )


def _code(process: "subprocess.Popen[bytes]") -> int:
    """The exit code of a process that has closed its pipe and should be gone in a moment."""
    try:
        return process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


def serve() -> None:
    """The process: read a request, answer it, until the pipe is closed."""
    # A key that interrupts the program is its own to handle, and what libraries print is no reply.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory, seconds = int(sys.argv[1]), float(sys.argv[2])
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit_memory(memory)
    replies.write(_READY)
    replies.flush()
    while head := requests.readline():
        asked = json.loads(head)
        data = requests.read(asked["size"])
        if len(data) < asked["size"]:
            return
        _limit_time(seconds)
        try:
            body = json.dumps(_answer(asked["module"], data, asked["options"])).encode()
        except MemoryError:
            failed = f"reading it takes more than {memory >> 20} MiB of memory"
            body = json.dumps({"failed": failed}).encode()
        del data
        _reply(replies, body)


def _reply(replies: IO[bytes], body: bytes) -> None:
    replies.write(_LENGTH.pack(len(body)))
    replies.write(body)
    replies.flush()


def _answer(module: str, data: bytes, options: dict[str, object]) -> dict[str, object]:
    try:
        found: Extracted = import_module(module).extract(data, **options)
    except RefusedError as error:
        return {"refused": str(error)}
    except RecursionError:
        return {"refused": "it is nested too deep"}
    return {
        "found": (
            found.text,
            [(b.start, b.end, b.kind, b.level, b.title, b.header) for b in found.blocks],
            found.pages,
            found.title,
            found.warnings,
            found.partial,
            found.encoding,
        )
    }


def _limit_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _limit_time(seconds: float) -> None:
    """End a process that hangs although the one that would stop it was killed."""
    try:
        import resource
    except ImportError:
        return
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + 2 * seconds) + 10, hard))
