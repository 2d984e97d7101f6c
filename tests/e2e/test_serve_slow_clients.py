"""Clients that send slowly, or never read what they asked for, are alone with that."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from tests.cli.shell import Shell
from tests.e2e.serve_clients import ask, asking
from tests.e2e.serving import Served, serving

pytestmark = pytest.mark.e2e

SLOW = 40
"""Slow clients at once."""
PROMPT = 2.0
"""Seconds within which everyone else is answered."""
HEAD = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
UNFINISHED = HEAD + b"Content-Length: 100\r\n\r\n{"
QUERY = b'{"query": "valve", "top_k": 50}'
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(QUERY) + QUERY


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("slow")
    documents = folder / "docs"
    documents.mkdir()
    for at in range(60):
        (documents / f"{at}.md").write_text(f"The valve {at} " + f"turns {at} times. " * 40)
    shell = Shell(folder)
    shell("ingest", "docs")
    with serving(shell, "--timeout", "3") as server:
        yield server


@contextmanager
def connections(server: Served) -> Iterator[list[socket.socket]]:
    address = urlsplit(server.url)
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                socket.create_connection((str(address.hostname), address.port or 80), timeout=10)
            )
            for _ in range(SLOW)
        ]


def all_answered(server: Served, seconds: float) -> None:
    """Others are answered, and soon, for so long."""
    with asking(server, 4, {"query": "valve"}) as askers:
        time.sleep(seconds)
    assert askers.codes() == {"ok"}
    assert max(answer.seconds for answer in askers.answers) < PROMPT


@pytest.mark.parametrize("begun", [HEAD[:20], UNFINISHED], ids=["head", "body"])
def test_a_byte_a_second_does_not_stop_the_others(server: Served, begun: bytes) -> None:
    stopped = threading.Event()
    with connections(server) as slow:

        def trickle() -> None:
            for each in slow:
                each.sendall(begun)
            while not stopped.wait(1):
                for each in slow:
                    each.send(b"a")

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            all_answered(server, 2.5)
        finally:
            stopped.set()
            thread.join()


def test_a_body_that_does_not_arrive_in_time_is_refused(server: Served) -> None:
    with connections(server) as slow:
        for each in slow:
            each.sendall(UNFINISHED)
        for each in slow:
            assert each.recv(12) == b"HTTP/1.1 408"


def test_responses_that_are_never_read_do_not_stop_the_others(server: Served) -> None:
    with connections(server) as deaf:
        for each in deaf:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            each.sendall(WHOLE * 20)
        all_answered(server, 2.5)
    assert ask(server, {"query": "valve"}).code == "ok"
