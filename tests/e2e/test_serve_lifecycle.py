"""The end of a server: by a signal that lets requests end, by Ctrl-C, and by force."""

import signal
import socket
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.shell import Shell
from tests.e2e.serve_clients import ask, asking, held_embedder
from tests.e2e.serving import Served, serving

pytestmark = pytest.mark.e2e

WITHIN = 5.0
"""Seconds in which a server ends."""
ACKNOWLEDGED = 0.04
"""Seconds after which Linux acknowledges what it received, where there is nothing to send."""
HEAD = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def library(folder: Path, *options: str) -> Shell:
    """A folder of which an index was made."""
    documents = folder / "docs"
    documents.mkdir()
    for at in range(20):
        (documents / f"{at}.md").write_text(f"# Valve {at}\n\nOpen the valve number {at}.\n")
    shell = Shell(folder)
    shell("ingest", "docs", *options)
    return shell


def held_files(index: Path) -> dict[str, bytes]:
    """Everything that an index holds, without what SQLite's readers share in memory."""
    return {
        str(path.relative_to(index)): content
        for path in sorted(index.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm") and (content := path.read_bytes())
    }


def connection(server: Served) -> socket.socket:
    address = urlsplit(server.url)
    return socket.create_connection((str(address.hostname), address.port or 80), timeout=10)


def refuses(server: Served) -> bool:
    try:
        connection(server).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_response_does_not_wait_for_the_acknowledgement_of_its_beginning(tmp_path: Path) -> None:
    shell = library(tmp_path)
    with serving(shell) as server, asking(server, 1, {"query": "valve", "top_k": 1}) as askers:
        answers = askers.more(50)
    assert statistics.median(answer.seconds for answer in answers) < ACKNOWLEDGED


def test_sigterm_lets_requests_end_and_takes_no_more(tmp_path: Path) -> None:
    with held_embedder() as held:
        shell = library(tmp_path, "--dense", *held.options)
        with (
            serving(shell, *held.options) as server,
            ThreadPoolExecutor() as pool,
            asking(server, 4, {"query": "valve"}) as quick,
        ):
            quick.more(20)
            while held.asked.acquire(blocking=False):
                pass
            held.go.clear()
            slow = pool.submit(ask, server, {"query": "valve", "mode": "dense", "top_k": 3})
            assert held.asked.acquire(timeout=10)
            begin = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            assert not slow.done()
            assert refuses(server)
            held.go.set()
            answer = slow.result(10)
            code = server.process.wait(10)
            took = time.monotonic() - begin
        assert (answer.code, len(answer.contents)) == ("ok", 3)
        assert code == 0
        assert took < WITHIN
        assert quick.codes() == {"ok"}
        assert quick.hung_up == 4


def test_sigterm_ends_a_server_that_clients_do_not_let_go(tmp_path: Path) -> None:
    with held_embedder() as held:
        shell = library(tmp_path, "--dense", *held.options)
        with serving(shell, *held.options) as server, ThreadPoolExecutor() as pool:
            held.go.clear()
            stuck = pool.submit(ask, server, {"query": "valve", "mode": "dense"})
            with (
                connection(server) as idle,
                connection(server) as head,
                connection(server) as body,
                connection(server) as deaf,
            ):
                head.sendall(HEAD)
                body.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
                deaf.sendall((HEAD + b"Content-Length: 18\r\n\r\n" + b'{"query": "valve"}') * 100)
                time.sleep(0.5)
                begin = time.monotonic()
                server.process.send_signal(signal.SIGTERM)
                code = server.process.wait(20)
                took = time.monotonic() - begin
                assert idle.recv(1) == b""
                assert body.recv(12) == b"HTTP/1.1 503"
            assert stuck.result(10).code == "overloaded"
            assert '"traceback"' not in server.log.read_text()
        assert code == 0
        assert took < WITHIN


def test_sigint_ends_it_with_130(tmp_path: Path) -> None:
    shell = library(tmp_path)
    with serving(shell) as server, asking(server, 2, {"query": "valve"}) as askers:
        askers.more(10)
        begin = time.monotonic()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(10) == 130
        assert time.monotonic() - begin < WITHIN
        assert refuses(server)
    assert askers.codes() == {"ok"}


def test_a_killed_server_leaves_the_index_as_it_was_and_starts_again(tmp_path: Path) -> None:
    shell = library(tmp_path)
    index = tmp_path / ".groundkit"
    before = held_files(index)
    assert before
    with serving(shell) as server, asking(server, 4, {"query": "valve"}, killed=True) as askers:
        (first, *_) = askers.more(50)
        server.process.kill()
        assert server.process.wait(10) == -signal.SIGKILL
    assert held_files(index) == before
    with serving(shell) as server:
        assert ask(server, {"query": "valve"}).body == first.body
    assert held_files(index) == before
    assert shell("doctor").code == 0
