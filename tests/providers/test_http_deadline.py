"""One deadline over a whole call, whatever it waits for."""

import asyncio
import gc
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from groundkit_core.errors import ChatError
from groundkit_providers import http

from tests.providers.dialects import ANSWER, Dialect, ask, both, failure, without_proxies
from tests.providers.faulty_server import FaultyServer, drip, full_backlog, reply, silence

DEADLINE = 0.5


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


def timely_failure(dialect: Dialect, url: str) -> None:
    """The call ends with the one error that says what the limit was, when it is reached."""
    chat = dialect.chat(url, timeout_seconds=DEADLINE)
    began = time.monotonic()
    error = failure(chat)
    assert DEADLINE * 0.9 < time.monotonic() - began < DEADLINE + 1
    assert type(error) is ChatError
    assert f"{DEADLINE:g} s" in str(error)


def _body(dialect: Dialect) -> bytes:
    return json.dumps(dialect.answer()).encode()


@contextmanager
def _silent(_: Dialect) -> Iterator[int]:
    with FaultyServer(silence) as server:
        yield server.port


@contextmanager
def _dripping_headers(dialect: Dialect) -> Iterator[int]:
    with FaultyServer(drip(_body(dialect), headers=True)) as server:
        yield server.port


@contextmanager
def _dripping_body(dialect: Dialect) -> Iterator[int]:
    with FaultyServer(drip(_body(dialect))) as server:
        yield server.port


WAITS: dict[str, Callable[[Dialect], AbstractContextManager[int]]] = {
    "connect": lambda _: full_backlog(),
    "first byte": _silent,
    "headers": _dripping_headers,
    "body": _dripping_body,
}


@both
@pytest.mark.parametrize("wait", WAITS)
def test_waiting_ends_at_the_deadline(dialect: Dialect, wait: str) -> None:
    with WAITS[wait](dialect) as port:
        timely_failure(dialect, f"http://127.0.0.1:{port}")


@both
def test_a_tls_handshake_that_never_comes_ends_at_the_deadline(dialect: Dialect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unattended:
        timely_failure(dialect, f"https://127.0.0.1:{unattended.getsockname()[1]}")
        # What the call left open would be reported now.
        gc.collect()


@both
def test_a_resolver_that_waits_ends_at_the_deadline(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(host: str, port: int) -> list[str]:
        await asyncio.sleep(30)
        return [f"{host}:{port}"]

    monkeypatch.setattr(http, "resolve_host", never)
    timely_failure(dialect, "http://localhost:9")


@both
def test_a_resolver_that_blocks_ends_at_the_deadline(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()

    def blocks(*_: object, **__: object) -> list[object]:
        release.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", blocks)
    known = set(threading.enumerate())
    try:
        timely_failure(dialect, "http://localhost:9")
    finally:
        release.set()
        for thread in set(threading.enumerate()) - known:
            thread.join(5)


@both
def test_a_slow_reply_within_the_deadline_is_a_reply(dialect: Dialect) -> None:
    with FaultyServer(drip(_body(dialect), seconds=0.0005)) as server:
        assert ask(dialect.chat(server.url, timeout_seconds=20)) == ANSWER


@both
def test_a_call_that_is_given_up_leaves_the_next_one_alone(dialect: Dialect) -> None:
    async def give_up_then_ask(url: str) -> str:
        chat = dialect.chat(url)
        given_up = asyncio.create_task(chat.complete("?"))
        await asyncio.sleep(0.2)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        return await chat.complete("?")

    with FaultyServer(silence, reply(dialect.answer())) as server:
        assert asyncio.run(give_up_then_ask(server.url)) == ANSWER
