"""A real `grk serve` on a free port of loopback, and the folder that it serves."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request

from scripts.servers import direct
from tests.cli.shell import GRK, Shell

__all__ = ["Reply", "Served", "rpc", "serving"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back over HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs."""

    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def post(self, path: str, body: bytes | None, method: str = "POST") -> Reply:
        """One request on a connection of its own; its reply whatever the status."""
        accepted = "application/json, text/event-stream"
        headers = {"content-type": "application/json", "accept": accepted}
        request = Request(f"{self.url}{path}", body, headers, method=method)
        try:
            with direct.open(request, timeout=60) as reply:
                return _read(reply.status, reply)
        except HTTPError as refused:
            with refused:
                return _read(refused.code, refused)


def _read(status: int, reply: Any) -> Reply:
    names = {name.lower(): value for name, value in reply.headers.items()}
    return Reply(status, names, reply.read())


def rpc(method: str, params: Mapping[str, Any]) -> bytes:
    """A JSON-RPC request."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


@contextmanager
def serving(shell: Shell, *args: str, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """A server over the shell's folder, ended with SIGTERM."""
    log = shell.folder / "serve.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [GRK, "serve", "--port", "0", *args],
            cwd=shell.folder,
            env={**shell.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        ) as process,
    ):
        try:
            yield Served(_started(process, log), process, log)
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()


def _started(process: "subprocess.Popen[bytes]", log: Path) -> str:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        *lines, _ = log.read_text().split("\n")
        for line in lines:
            if line.startswith("{") and (event := json.loads(line)).get("event") == "started":
                return str(event["url"])
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")
