"""The log of a real server: lines of JSON that say what happened and not what was asked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from groundkit_core.index.collection import Collection
from groundkit_core.testing import InMemoryEmbedder

from tests.cli.shell import Shell
from tests.e2e.serving import Served, serving
from tests.service.support import ACCEPT, JSON, rpc

TOKEN = "a-token-of-the-test-0123456789"
RARE = {
    name: f"qzx{name}qzx"
    for name in ("query", "text", "title", "key", "value", "filter", "name", "field", "tool")
}
ANSWERED: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": f"{RARE['query']} {RARE['text']}"}),
    ("search", {"query": RARE["text"], "mode": "dense", "highlight": True}),
    ("search", {"query": RARE["text"], "where": {"key": RARE["key"], "equals": RARE["value"]}}),
    ("search", {"query": RARE["text"], "where": {"key": "title", "prefix": RARE["filter"]}}),
    ("list_collections", {}),
    ("index_status", {}),
]
FAILED: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": RARE["query"], "top_k": 1000}, "invalid_request"),
    ("search", {"query": RARE["query"], RARE["field"]: 1}, "invalid_request"),
    ("search", {"query": RARE["query"], "where": {"key": RARE["key"]}}, "invalid_request"),
    ("search", {"query": RARE["query"], "cursor": RARE["query"]}, "invalid_request"),
    ("search", {"query": RARE["query"], "mode": RARE["query"]}, "invalid_request"),
    ("search", {"query": RARE["query"] * 500}, "invalid_request"),
    ("search", {"query": RARE["query"], "collection": RARE["name"]}, "collection_not_found"),
    ("fetch_chunk", {"chunk_id": RARE["query"]}, "chunk_not_found"),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    shell = Shell(tmp_path_factory.mktemp("logs"))
    head = f"---\ntitle: {RARE['title']}\n{RARE['key']}: {RARE['value']}\n---\n\n"
    shell.write("docs/a.md", f"{head}# {RARE['title']}\n\nThe {RARE['text']} valve.\n")
    embedder = InMemoryEmbedder()
    with Collection.open(shell.folder / ".groundkit/default", embedder=embedder) as collection:
        collection.ingest([shell.folder / "docs"])
    with serving(shell, env={"GROUNDKIT_SERVE_TOKEN": TOKEN}) as found:
        yield found


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {TOKEN}", **ACCEPT}
    with httpx.Client(base_url=served.url, headers=headers, trust_env=False) as found:
        yield found


def logged(served: Served) -> list[dict[str, Any]]:
    """The lines of the log, every one of them JSON."""
    return [json.loads(line) for line in served.log.read_text().splitlines()]


def ask(client: httpx.Client, transport: str, name: str, arguments: Any) -> httpx.Response:
    if transport == "rest":
        return client.post(f"/v1/{name}", json=arguments)
    return client.post("/mcp", json=rpc("tools/call", {"name": name, "arguments": arguments}))


def line_of(served: Served, response: httpx.Response) -> dict[str, Any]:
    """The one line about a request."""
    (line,) = [
        each
        for each in logged(served)
        if each.get("request_id") == response.headers["x-request-id"]
    ]
    return line


@pytest.mark.parametrize("transport", ["rest", "mcp"])
def test_each_request_is_logged_under_the_id_of_its_response(
    served: Served, client: httpx.Client, transport: str
) -> None:
    for name, arguments in ANSWERED:
        response = ask(client, transport, name, arguments)
        body = response.json()
        body = body if transport == "rest" else body["result"]["structuredContent"]
        counted = body.get("results", body.get("collections"))
        line = line_of(served, response)
        assert line.pop("ms") > 0
        assert line.pop("time").endswith("+00:00")
        expected = {
            "level": "info",
            "event": "request",
            "request_id": response.headers["x-request-id"],
            "transport": {"rest": "rest", "mcp": "mcp-http"}[transport],
            "operation": name,
            "collection": body.get("collection"),
            "results": None if counted is None else len(counted),
            "code": "ok",
        }
        assert line == {key: value for key, value in expected.items() if value is not None}


@pytest.mark.parametrize("transport", ["rest", "mcp"])
def test_each_error_is_logged_with_its_code(
    served: Served, client: httpx.Client, transport: str
) -> None:
    for name, arguments, code in FAILED:
        response = ask(client, transport, name, arguments)
        line = line_of(served, response)
        assert (line["operation"], line["code"]) == (name, code)
        body = response.json()
        if transport == "mcp":
            body = json.loads(body["result"]["content"][0]["text"])
        assert body["error"]["request_id"] == line["request_id"]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "qzxhostqzx.example"}, "unknown_host"),
        ({"origin": "http://qzxoriginqzx.example"}, "forbidden_origin"),
        ({"authorization": "Bearer qzxtokenqzx"}, "unauthorized"),
        ({"content-length": "70000"}, "request_too_large"),
    ],
)
def test_what_is_refused_at_the_door_is_logged(
    served: Served, client: httpx.Client, headers: dict[str, str], code: str
) -> None:
    for path in ("/v1/search", "/mcp"):
        response = client.post(path, content=b"x" * 70_000, headers={**JSON, **headers})
        line = line_of(served, response)
        assert (line["event"], line["level"], line["code"]) == ("refused", "warning", code)


def test_messages_that_are_no_requests_are_refused(client: httpx.Client) -> None:
    word = RARE["tool"]
    for content in (
        f'{{"{word}": 1',
        json.dumps(rpc(word, {})),
        json.dumps(rpc("tools/call", {"name": word, "arguments": {word: word}})),
        json.dumps(rpc("tools/call", {"name": "search", "arguments": [word]})),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"x": word}}),
        json.dumps([rpc("ping", {"x": word})]),
    ):
        assert client.post("/mcp", content=content, headers=JSON).status_code < 500
        assert client.post("/v1/search", content=content, headers=JSON).status_code == 422
    for path in (f"/{word}", f"/v1/{word}", f"/page/{word}?{word}"):
        assert client.get(path).status_code == 404


def test_no_line_holds_a_word_of_a_query_a_text_or_the_token(
    served: Served, client: httpx.Client, tmp_path: Path
) -> None:
    for transport in ("rest", "mcp"):
        for name, arguments in ANSWERED:
            assert ask(client, transport, name, arguments).status_code == 200
    lines = logged(served)
    assert lines[0]["event"] == "started"
    assert {line["event"] for line in lines} <= {
        *("started", "request", "refused", "embedder_loaded"),
    }
    written = served.log.read_text()
    assert "qzx" not in written
    assert "valve" not in written
    assert TOKEN not in written
    assert str(tmp_path) not in written
