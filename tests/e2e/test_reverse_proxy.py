"""The reverse proxies' settings of the documentation, in front of a real server."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request

import pytest

from scripts.servers import direct
from tests.cli.shell import Shell
from tests.docs.blocks import write_tutorial
from tests.e2e.proxies import HOST, Proxy, Start, caddy, nginx
from tests.e2e.serving import rpc, serving

pytestmark = pytest.mark.e2e

TOKEN = "a-token-of-many-letters"
JSON = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture(scope="module", params=[nginx, caddy], ids=["nginx", "caddy"])
def start(request: pytest.FixtureRequest) -> Start:
    found: Start = request.param
    return found


@pytest.fixture(scope="module")
def proxy(start: Start, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("proxy")
    shell = Shell(tmp_path_factory.mktemp("served"))
    write_tutorial(shell.folder)
    shell("ingest", "handbook")
    options = ("--allowed-host", HOST)
    with (
        serving(shell, *options, env={"GROUNDKIT_SERVE_TOKEN": TOKEN}) as server,
        start(folder, server) as started,
    ):
        yield started


def test_a_search_under_the_prefix_finds_what_a_direct_one_finds(proxy: Proxy) -> None:
    query = {"query": "pressure of a hose", "top_k": 2}
    request = Request(f"{proxy.server.url}/v1/search", json.dumps(query).encode(), JSON)
    with direct.open(request) as reply:
        found = json.load(reply)
    assert proxy.post("/groundkit/v1/search", query, **JSON) == (200, found)
    assert [each["citation"]["source"] for each in found["results"]] == [
        "handbook/hoses.md",
        "handbook/hoses.md",
    ]


def test_the_page_and_every_file_it_names_come_under_the_prefix(proxy: Proxy) -> None:
    status, headers, page = proxy.ask("GET", "/groundkit/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in headers["content-security-policy"]
    named = re.findall(r'(?:src|href)="([^"#]+)"', page.decode())
    assert len(named) > 1
    assert [name for name in named if name.startswith(("/", "http:", "https:"))] == []
    assert [proxy.ask("GET", f"/groundkit/{name}")[0] for name in named] == [200] * len(named)


def test_the_prefix_without_its_slash_leads_to_the_page(proxy: Proxy) -> None:
    status, headers, _ = proxy.ask("GET", "/groundkit")
    assert status in (301, 302)
    assert headers["location"].removeprefix(f"https://{HOST}") == "/groundkit/"


def test_an_assistant_connects_under_the_prefix(proxy: Proxy) -> None:
    accepted = {"Accept": "application/json, text/event-stream"}
    status, _, body = proxy.ask(
        "POST", "/groundkit/mcp", rpc("initialize", GREETING), **JSON, **accepted
    )
    assert (status, json.loads(body)["result"]["serverInfo"]["name"]) == (200, "groundkit")


def test_what_the_proxy_serves_elsewhere_is_not_the_server(proxy: Proxy) -> None:
    query = json.dumps({"query": "hose"}).encode()
    assert b"results" not in proxy.ask("POST", "/v1/search", query, **JSON)[2]


def test_the_token_is_asked_for_through_the_proxy(proxy: Proxy) -> None:
    body = b'{"query": "hose"}'
    status, headers, told = proxy.ask(
        "POST", "/groundkit/v1/search", body, Content_Type="application/json"
    )
    assert (status, headers["www-authenticate"]) == (401, "Bearer")
    assert json.loads(told)["error"]["request_id"] == headers["x-request-id"]


def test_a_page_of_another_host_is_refused_through_the_proxy(proxy: Proxy) -> None:
    query = {"query": "hose"}
    status, told = proxy.post("/groundkit/v1/search", query, **JSON, Origin="http://evil.example")
    assert (status, told["error"]["code"]) == (403, "forbidden_origin")
    assert proxy.post("/groundkit/v1/search", query, **JSON, Origin=f"https://{HOST}")[0] == 200


def test_a_host_that_is_not_allowed_is_refused_behind_the_proxy(
    start: Start, tmp_path: Path
) -> None:
    shell = Shell(tmp_path)
    write_tutorial(shell.folder)
    shell("ingest", "handbook")
    with serving(shell) as server, start(tmp_path, server) as unknown:
        status, told = unknown.post("/groundkit/v1/search", {"query": "hose"}, **JSON)
    assert (status, told["error"]["code"]) == (421, "unknown_host")


def test_a_body_above_the_limit_is_refused(start: Start, proxy: Proxy) -> None:
    status, headers, _ = proxy.ask("POST", "/groundkit/v1/search", b" " * 70_000, **JSON)
    # nginx knows the limit; Caddy leaves it to the server, whose replies have an id.
    assert (status, "x-request-id" in headers) == (413, start is caddy)


@pytest.mark.parametrize("start", [nginx], ids=["nginx"], indirect=True)
def test_a_client_that_asks_too_often_is_refused(proxy: Proxy) -> None:
    statuses = [proxy.ask("GET", "/groundkit/healthz")[0] for _ in range(60)]
    assert set(statuses) == {200, 429}
