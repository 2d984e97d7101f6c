"""MCP over HTTP without sessions: the first request counts, and a model is loaded for all."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from statistics import quantiles
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.cli.shell import Shell
from tests.e2e.serving import Served, rpc, serving

pytestmark = pytest.mark.e2e

CALLS = 50
GREETING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "peer", "version": "1"},
}
# Whoever loads the weights passes here.
COUNTED = """
import safetensors.numpy

load = safetensors.numpy.load_file

def load_file(path):
    with open("loaded", "a") as log:
        log.write(f"{path}\\n")
    return load(path)

safetensors.numpy.load_file = load_file
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("mcp"))
    shell.write("docs/pump.md", "# Pump\n\nOpen the valve.\n")
    shell("ingest", "docs", "--dense")
    return shell


@pytest.fixture(scope="module")
def served(shell: Shell) -> Iterator[Served]:
    with serving(shell) as found:
        yield found


def search(served: Served, number: int) -> Any:
    arguments = {"query": f"valve {number}", "mode": "hybrid"}
    reply = served.post("/mcp", rpc("tools/call", {"name": "search", "arguments": arguments}))
    assert reply.status == 200
    return reply.json["result"]["structuredContent"]


def test_the_very_first_request_may_be_initialize(shell: Shell) -> None:
    with serving(shell) as served:
        reply = served.post("/mcp", rpc("initialize", GREETING))
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in reply.headers
    result = reply.json["result"]
    assert result["serverInfo"]["name"] == "groundkit"
    assert "tools" in result["capabilities"]


def test_stateless_calls_load_the_model_once(shell: Shell) -> None:
    loaded = shell.folder / "loaded"
    with serving(shell, env=shell.at_startup(COUNTED)) as served, ThreadPoolExecutor(8) as pool:
        assert not loaded.exists()
        found = list(pool.map(lambda number: search(served, number), range(CALLS)))
        events = [json.loads(line) for line in served.log.read_text().splitlines()]
    for response in found:
        (result,) = response["results"]
        assert set(result["components"]) == {"bm25", "dense"}
    assert len(loaded.read_text().splitlines()) == 1
    requests = [event for event in events if event["event"] == "request"]
    assert len({event["request_id"] for event in requests}) == len(requests) == CALLS
    assert {event["transport"] for event in requests} == {"mcp-http"}


def test_a_reply_does_not_wait_for_an_acknowledgement(served: Served) -> None:
    connection = HTTPConnection(urlsplit(served.url).netloc, timeout=30)
    headers = {"content-type": "application/json"}
    took = []
    for _ in range(80):
        began = time.perf_counter()
        connection.request("POST", "/v1/list_collections", b"{}", headers)
        assert connection.getresponse().read()
        took.append(time.perf_counter() - began)
    connection.close()
    # The first ones of a connection are acknowledged at once; later ones would take 40 ms.
    assert quantiles(took[40:])[0] < 0.035


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        (b"", {400}),
        (b"nonsense", {400}),
        (b"\xff\xfe", {400}),
        (b"[]", {400}),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', {400}),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}', {400}),
        (b"[" * 60_000, {400}),
        (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', {202}),
        (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', {200, 404}),
        (b" " * 100_000, {413}),
    ],
    ids=[
        "empty",
        "no JSON",
        "no UTF-8",
        "no message",
        "a batch",
        "half a surrogate pair",
        "deep",
        "a notification",
        "an unknown method",
        "too large",
    ],
)
def test_a_body_that_is_no_call_is_refused_and_the_next_one_answered(
    served: Served, body: bytes, statuses: set[int]
) -> None:
    assert served.post("/mcp", body).status in statuses
    assert len(search(served, 1)["results"]) == 1


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_nothing_to_listen_to_and_no_session_to_end(served: Served, method: str) -> None:
    assert served.post("/mcp", None, method).status == 405
