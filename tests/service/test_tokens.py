"""The bearer token, and pages of other origins that have it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from groundkit_cli.service.guard import Access

from tests.service.support import ACCEPT, JSON, Desk, desk, rpc

TOKEN = "correct-horse-battery-staple"
APP = "https://app.example"
CLOSED = [
    ("POST", "/v1/search"),
    ("POST", "/v1/fetch_chunk"),
    ("POST", "/v1/list_collections"),
    ("POST", "/v1/index_status"),
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("GET", "/openapi.json"),
    ("GET", "/nothing"),
    ("GET", "/page"),
    ("GET", "//healthz"),
    ("GET", "/healthz/"),
]
OPEN = ["/", "/healthz", "/readyz", "/page/app.js"]
WRONG = [
    b"",
    b"Bearer",
    b"Bearer ",
    b"Bearer wrong",
    b"Bearer correct-horse-battery-stapl",
    b"Bearer correct-horse-battery-staple2",
    b"Bearer CORRECT-HORSE-BATTERY-STAPLE",
    b"Basic correct-horse-battery-staple",
    b"correct-horse-battery-staple",
    b"Bearer \xff\xfe\x00",
    "Bearer küche".encode(),
    b"Bearer correct-horse-battery-staple, Bearer x",
]


@pytest.fixture(scope="module")
def ask(folder: Path) -> Iterator[Desk]:
    with desk(folder / "index", access=Access.of((), (APP,), TOKEN)) as asked:
        yield asked


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_without_the_token_nothing_is_answered(ask: Desk, method: str, path: str) -> None:
    response = ask.http(method, f"http://127.0.0.1:8000{path}", headers=JSON)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["error"]["code"] == "unauthorized"


@pytest.mark.parametrize("given", WRONG)
def test_a_wrong_token_is_refused_and_not_repeated(ask: Desk, given: bytes) -> None:
    for path in ("/v1/list_collections", "/mcp"):
        headers = {**JSON, "authorization": given}
        response = ask.http("POST", path, content=b"{}", headers=headers)
        assert response.status_code == 401
        assert "correct" not in response.text
        assert "correct" not in str(response.headers)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_with_the_token_both_protocols_answer(ask: Desk, scheme: str) -> None:
    headers = {"authorization": f"{scheme} {TOKEN}", **ACCEPT}
    found = ask.http("POST", "/v1/search", json={"query": "valve"}, headers=headers)
    assert found.json()["results"]
    listed = ask.http("POST", "/mcp", json=rpc("tools/list", {}), headers=headers)
    assert len(listed.json()["result"]["tools"]) == 4


@pytest.mark.parametrize("path", OPEN)
def test_the_page_and_health_need_no_token(ask: Desk, path: str) -> None:
    assert ask.http("GET", path).status_code == 200


@pytest.mark.parametrize(
    "path", ["/page/../v1/index_status", "/page/%2e%2e/v1/index_status", "/page//v1/search"]
)
def test_the_open_folder_leads_to_nothing_else(ask: Desk, path: str) -> None:
    response = ask.http("POST", f"http://127.0.0.1:8000{path}", content=b"{}", headers=JSON)
    assert response.status_code in (401, 404, 405)


def preflight(ask: Desk, origin: str, path: str) -> dict[str, str]:
    asked = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    response = ask.http("OPTIONS", path, headers=asked)
    return {"status": str(response.status_code), **response.headers}


@pytest.mark.parametrize("path", ["/v1/search", "/mcp"])
def test_a_page_of_an_allowed_origin_may_ask(ask: Desk, path: str) -> None:
    allowed = preflight(ask, APP, path)
    assert (allowed["status"], allowed["access-control-allow-origin"]) == ("200", APP)
    assert "authorization" in allowed["access-control-allow-headers"].lower()
    headers = {"authorization": f"Bearer {TOKEN}", "origin": APP, **ACCEPT}
    response = ask.http("POST", path, json=rpc("ping", {}), headers=headers)
    assert response.headers["access-control-allow-origin"] == APP
    assert "x-request-id" in response.headers["access-control-expose-headers"].lower()


def test_a_page_of_an_allowed_origin_can_read_that_its_token_is_wrong(ask: Desk) -> None:
    headers = {"authorization": "Bearer wrong", "origin": APP}
    response = ask.http("POST", "/v1/search", json={"query": "x"}, headers=headers)
    assert response.status_code == 401
    assert response.headers["access-control-allow-origin"] == APP


def test_a_page_of_another_origin_may_not(ask: Desk) -> None:
    refused = preflight(ask, "http://evil", "/v1/search")
    assert refused["status"] in ("400", "403")
    assert "access-control-allow-origin" not in refused


def test_without_allowed_origins_no_page_elsewhere_may_ask(folder: Path) -> None:
    with desk(folder / "index") as ask:
        refused = preflight(ask, "http://localhost:3000", "/v1/search")
        assert refused["status"] == "405"
        assert "access-control-allow-origin" not in refused
