import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks.serve_load import Load, ask_for, request


class Handler(BaseHTTPRequestHandler):
    """Answers what it is asked for, but for the paths that tell of a failure."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(200, b'{"status":"ok"}')

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/hang-up":
            self.close_connection = True
        elif self.path == "/mcp":
            self.answer(200, b'{"result":{"isError":true}}')
        else:
            self.answer(503 if self.path == "/fails" else 200, body * 1_000)

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def asked(url: str, *paths: str, clients: int = 2) -> dict[str, float]:
    requests = [request(path, {"query": "ä"}) for path in paths]
    return ask_for(Load(url, clients, 0.3, requests))


def test_clients_ask_again_and_again_and_time_each_answer(url: str) -> None:
    figures = asked(url, "/fine")
    assert figures["errors"] == 0
    assert figures["requests"] >= 4
    assert 0 < figures["p50"] <= figures["p99"] < 1000
    assert 0 < figures["healthz p50"] <= figures["healthz p99"] < 1000
    assert figures["per second"] <= figures["requests"] / 0.3


def test_each_answer_that_is_none_is_an_error(url: str) -> None:
    assert (figures := asked(url, "/fails"))["errors"] == figures["requests"]
    assert (figures := asked(url, "/mcp"))["errors"] == figures["requests"]
    half = asked(url, "/fine", "/fails", clients=1)
    assert half["errors"] == half["requests"] // 2


def test_a_connection_that_is_closed_is_an_error(url: str) -> None:
    figures = asked(url, "/fine", "/hang-up", clients=2)
    assert (figures["requests"], figures["errors"]) == (1, 2)


def test_the_length_of_a_request_counts_bytes() -> None:
    head, _, body = request("/v1/search", {"query": "ä"}).partition("\r\n\r\n")
    assert json.loads(body) == {"query": "ä"}
    assert f"Content-Length: {len(body.encode())}" in head
