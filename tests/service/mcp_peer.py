"""A peer without an SDK: lines of JSON-RPC through the pipes of a real `grk serve-mcp`."""

import itertools
import json
import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.shell import GRK, Shell

__all__ = ["Peer", "peer"]

PATIENCE = 60.0


class Peer:
    """Sends lines, and keeps every line that came back."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.process = process
        self.lines: list[bytes] = []
        self.log = log
        self._ids = itertools.count(1)
        self._came: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._kept: dict[Any, dict[str, Any]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def noise(self) -> str:
        """What was written to stderr."""
        return self.log.read_text(errors="replace")

    def send(self, line: bytes) -> None:
        """One line, whatever it holds."""
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: str = "{}") -> dict[str, Any]:
        """The answer to a request whose parameters are given as JSON text."""
        number = next(self._ids)
        self.send(self.request(number, method, params).encode())
        return self.answer(number)

    def call(self, tool: str, arguments: str = "{}") -> dict[str, Any]:
        """The answer to a call of a tool whose arguments are given as JSON text."""
        number = next(self._ids)
        self.send(self.called(number, tool, arguments).encode())
        return self.answer(number)

    @staticmethod
    def request(number: int, method: str, params: str) -> str:
        """A request as JSON text."""
        return f'{{"jsonrpc":"2.0","id":{number},"method":{json.dumps(method)},"params":{params}}}'

    @classmethod
    def called(cls, number: int, tool: str, arguments: str) -> str:
        """A call of a tool as JSON text."""
        params = f'{{"name":{json.dumps(tool)},"arguments":{arguments}}}'
        return cls.request(number, "tools/call", params)

    def answer(self, number: Any) -> dict[str, Any]:
        """The answer with an id; others are kept for later."""
        until = time.monotonic() + PATIENCE
        while number not in self._kept:
            line = self._came.get(timeout=max(0.01, until - time.monotonic()))
            assert line is not None, f"the server ended:\n{self.noise[-2000:]}"
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            self._kept[message.get("id")] = message
        return self._kept.pop(number)

    def greet(self) -> dict[str, Any]:
        """Shake hands as clients do."""
        client = {"name": "peer", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        greeting = self.ask("initialize", json.dumps(params))
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return greeting

    def leave(self) -> int:
        """The exit code after the end of stdin."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.ended()

    def ended(self) -> int:
        """The exit code of a server that was told to end, with all of stdout read."""
        code = self.process.wait(timeout=10)
        self._reader.join(timeout=10)
        return code

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            self._came.put(line)
        self._came.put(None)


@contextmanager
def peer(shell: Shell, *args: str, env: Mapping[str, str] | None = None) -> Iterator[Peer]:
    """A peer of a `grk serve-mcp` in the shell's folder, hands shaken."""
    log = shell.folder / "serve-mcp.log"
    pipe = subprocess.PIPE
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [GRK, "serve-mcp", *args],
            cwd=shell.folder,
            env={**shell.env, **(env or {})},
            stdin=pipe,
            stdout=pipe,
            stderr=errors,
        ) as process,
    ):
        talking = Peer(process, log)
        try:
            talking.greet()
            yield talking
        finally:
            try:
                talking.leave()
            except (OSError, subprocess.TimeoutExpired):
                process.kill()
