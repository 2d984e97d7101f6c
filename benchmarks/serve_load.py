"""Clients that ask a server without pause: `python -m benchmarks.serve_load`, told on stdin."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle, islice
from typing import Any
from urllib.parse import urlsplit

__all__ = ["Load", "ask_for", "request"]

_PAUSE = 0.05
"""Seconds between two health checks."""
_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


@dataclass(frozen=True, slots=True)
class Load:
    """How many clients ask what, and for how long; each has one connection."""

    url: str
    clients: int
    seconds: float
    requests: Sequence[str]


def request(path: str, body: Mapping[str, Any] | None = None) -> str:
    """An HTTP request as it goes over the wire; a GET without a body."""
    if body is None:
        return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    text = json.dumps(body)
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(text)}\r\n\r\n{text}"
    )


def ask_for(load: Load) -> dict[str, float]:
    """Requests, errors, requests a second, and milliseconds of them and of health checks.

    The clients are a process of their own.
    """
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=json.dumps(asdict(load)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


class _Connection(asyncio.Protocol):
    """Sends a request after the other; the leanest client there is without a parser of HTTP."""

    def __init__(self, requests: Iterator[bytes], until: float, pause: float = 0.0) -> None:
        self._requests = requests
        self._until = until
        self._pause = pause
        self._held = b""
        self._sent = 0.0
        self.times: list[float] = []
        self.errors = 0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def connection_lost(self, _: Exception | None) -> None:
        if not self.ended.done():
            self.errors += 1
            self.ended.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._held += data
        head = self._held.find(_END)
        if head < 0:
            return
        at = self._held.index(_LENGTH, 0, head) + len(_LENGTH)
        size = head + len(_END) + int(self._held[at : self._held.index(b"\r", at)])
        if len(self._held) < size:
            return
        self.times.append(time.perf_counter() - self._sent)
        # MCP tells of an error in the body.
        fine = self._held.startswith(b"HTTP/1.1 200") and b'"isError":true' not in self._held
        self.errors += not fine
        self._held = b""
        if time.perf_counter() >= self._until:
            self.ended.set_result(None)
            self._transport.close()
        elif self._pause:
            asyncio.get_running_loop().call_later(self._pause, self._send)
        else:
            self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(next(self._requests))


async def _run(load: Load) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    requests = [text.encode() for text in load.requests]
    begin = time.perf_counter()
    until = begin + load.seconds
    health = _Connection(cycle([request("/healthz").encode()]), until, _PAUSE)
    # Each begins elsewhere, so that they ask different things at one time.
    askers = [
        _Connection(islice(cycle(requests), number * len(requests) // load.clients, None), until)
        for number in range(load.clients)
    ]
    address = urlsplit(load.url)
    for one in (health, *askers):
        await loop.create_connection(partial(_same, one), str(address.hostname), address.port or 80)
    await asyncio.gather(*(one.ended for one in (health, *askers)))
    seconds = time.perf_counter() - begin
    times = [took for one in askers for took in one.times]
    return {
        "requests": len(times),
        "errors": sum(one.errors for one in (health, *askers)),
        "per second": len(times) / seconds,
        **_percentiles("", times),
        **_percentiles("healthz ", health.times),
    }


def _same(one: _Connection) -> _Connection:
    return one


def _percentiles(what: str, times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(1000 * took for took in times) or [float("nan")]
    half, most = len(ordered) // 2, len(ordered) * 99 // 100
    return {f"{what}p50": ordered[half], f"{what}p99": ordered[most]}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_run(Load(**json.load(sys.stdin))))))
