"""The HTTP server: its socket, its start and its end."""

import asyncio
import gc
import ipaddress
import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from groundkit_core.errors import ConfigurationError
from starlette.types import ASGIApp

from groundkit_cli.service.logs import event
from groundkit_cli.service.runtime import Runtime

__all__ = ["bound", "is_loopback", "run"]

_GRACE = 4
"""Seconds that running requests have at the end."""
_IDLE = 20
_BACKLOG = 512
_LAST_PORT = 65_535


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    return all(ipaddress.ip_address(found[4][0]).is_loopback for found in _resolved(host, 0))


def _resolved(host: str, port: int) -> list[tuple[int, int, int, str, tuple[str, int]]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise ConfigurationError(f"--host {host}: no address of this machine") from None
    return [(*each[:4], each[4][:2]) for each in found]


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    if not 0 <= port <= _LAST_PORT:
        raise ConfigurationError(f"--port {port}: it must be 0 to {_LAST_PORT}")
    family, _, _, _, address = _resolved(host, port)[0]
    # With its protocol named, asyncio turns off the wait for more to send.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigurationError(f"--host {host} --port {port}: {error.strerror}") from None
    return listening


class _Server(uvicorn.Server):
    """Ends with an exit code of ours instead of the signal's."""

    signal = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or []:
            host, port = listening.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            event(logging.INFO, "started", url=f"http://{shown}:{port}")

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        def ended(number: int, _: object) -> None:
            self.signal = self.signal or number
            self.handle_exit(number, None)

        before = {
            number: signal.signal(number, ended) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(app: ASGIApp, runtime: Runtime, listening: socket.socket) -> int:
    """Serve until a signal comes; gives the exit code."""
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_GRACE,
    )
    server = _Server(config)
    # What was imported stays, so no collection of garbage has to walk through it again.
    gc.collect()
    gc.freeze()
    asyncio.run(server.serve(sockets=[listening]))
    runtime.close()
    code = 130 if server.signal == signal.SIGINT else 0
    event(logging.INFO, "stopped", code=code)
    if server.signal:
        # A thread that reads a slow source would keep the interpreter from ending.
        os._exit(code)
    return 1
