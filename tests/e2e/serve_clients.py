"""Clients that ask a server without pause, and an embedder that answers when it may."""

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.e2e.serving import Served

__all__ = ["Answer", "Askers", "HeldEmbedder", "ask", "asking", "held_embedder"]

PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request got; `code` is `ok` or that of the error."""

    status: int
    body: dict[str, Any]
    seconds: float

    @property
    def code(self) -> str:
        return "ok" if self.status == 200 else str(self.body["error"]["code"])

    @property
    def contents(self) -> list[str]:
        return [result["content"] for result in self.body["results"]]


def connected(server: Served) -> http.client.HTTPConnection:
    address = urlsplit(server.url)
    return http.client.HTTPConnection(str(address.hostname), address.port, timeout=PATIENCE)


def posted(connection: http.client.HTTPConnection, request: Mapping[str, Any]) -> Answer:
    begin = time.monotonic()
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/v1/search", json.dumps(request), headers)
    response = connection.getresponse()
    body = json.loads(response.read())
    return Answer(response.status, body, time.monotonic() - begin)


def ask(server: Served, request: Mapping[str, Any]) -> Answer:
    """One search on a connection of its own."""
    connection = connected(server)
    try:
        return posted(connection, request)
    finally:
        connection.close()


@dataclass(slots=True)
class Askers:
    """Some clients, each on one connection; `hung_up` counts those that the server closed."""

    answers: list[Answer] = field(default_factory=list)
    broken: list[Exception] = field(default_factory=list)
    hung_up: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self, server: Served, request: Mapping[str, Any]) -> None:
        connection = connected(server)
        try:
            while not self.stopped.is_set():
                self.answers.append(posted(connection, request))
        except (http.client.RemoteDisconnected, ConnectionError):
            self.hung_up += 1
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.broken.append(error)
        finally:
            connection.close()

    def codes(self) -> set[str]:
        """How the answers so far ended."""
        return {answer.code for answer in list(self.answers)}

    def more(self, count: int) -> list[Answer]:
        """So many further answers."""
        first, until = len(self.answers), time.monotonic() + PATIENCE
        while len(self.answers) < first + count:
            assert time.monotonic() < until, f"{len(self.answers) - first} answers, {self.broken}"
            time.sleep(0.005)
        return self.answers[first:]


@contextmanager
def asking(
    server: Served, clients: int, request: Mapping[str, Any], *, killed: bool = False
) -> Iterator[Askers]:
    """Clients that ask until the end of the context; only of a killed server may answers be cut."""
    askers = Askers()
    threads = [threading.Thread(target=askers.run, args=(server, request)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield askers
    finally:
        askers.stopped.set()
        for thread in threads:
            thread.join(PATIENCE)
    cut = [error for error in askers.broken if isinstance(error, http.client.IncompleteRead)]
    assert askers.broken == (cut if killed else []), askers.broken


@dataclass(slots=True)
class HeldEmbedder:
    """A server of embeddings; it answers only while `go` is set, `asked` counts what came."""

    url: str
    go: threading.Event = field(default_factory=threading.Event)
    asked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    @property
    def options(self) -> list[str]:
        """What has `grk` use it."""
        return [
            "--embed-provider", "openai_compatible", "--embed-model", "held",
            "--embed-base-url", self.url, "--embed-api-key-env", "",
            "--embed-allow-private-endpoint",
        ]  # fmt: skip


@contextmanager
def held_embedder() -> Iterator[HeldEmbedder]:
    """Such a server, on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            held.asked.release()
            held.go.wait(PATIENCE)
            data = [
                {"index": at, "embedding": [1.0, float(len(text)), 2.0]}
                for at, text in enumerate(asked["input"])
            ]
            body = json.dumps({"data": data, "model": asked["model"]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            # Whoever asked may have been ended meanwhile.
            with suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        held = HeldEmbedder(f"http://127.0.0.1:{server.server_port}/v1")
        held.go.set()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield held
        finally:
            held.go.set()
            server.shutdown()
            thread.join()
