"""Which Host and Origin a request may have, on every surface alike."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from groundkit_cli.service.guard import Access

from tests.service.support import ACCEPT, JSON, Desk, desk, rpc

Headers = list[tuple[str, str]]
SURFACES = {
    "rest": ("POST", "/v1/search", b'{"query": "valve"}'),
    "mcp": ("POST", "/mcp", json.dumps(rpc("ping", {})).encode()),
    "page": ("GET", "/", b""),
    "schema": ("GET", "/openapi.json", b""),
    "health": ("GET", "/healthz", b""),
}
PASSED = [
    *("localhost", "LocalHost:8000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8000"),
    *("kb.internal", "KB.Internal:443"),
]
REFUSED = [
    *(
        "evil.example",
        "evil.example:8000",
        "localhost.evil",
        "localhost.evil:8000",
        "evillocalhost",
    ),
    *("localhost.", "127.0.0.1.evil.example", "127.0.0.2", "0.0.0.0", "2130706433", "[::2]", "::1"),
    *(
        "[::ffff:127.0.0.1]",
        "localhost@evil.example",
        "evil.example@localhost",
        "user:pw@localhost",
    ),
    *("localhost:8000:1", "localhost:", "localhost:x", "http://localhost", "localhost/", "", " "),
    *("localhost,evil.example", "localhost evil.example", "sub.kb.internal", "kb.internal.evil"),
]
ACCESS = Access.of(("kb.internal",), ("https://app.example", "https://port.example:8443"), None)


@pytest.fixture(scope="module")
def ask(folder: Path) -> Iterator[Desk]:
    with desk(folder / "index", access=ACCESS) as asked:
        yield asked


def sent(ask: Desk, surface: str, headers: Headers) -> tuple[int, str | None]:
    """Status and error code of a request with these headers."""
    method, path, body = SURFACES[surface]
    kept = [*(JSON | ACCEPT).items(), *headers]
    response = ask.http(method, path, content=body, headers=kept)
    assert response.headers["x-request-id"]
    failed = response.status_code != 200
    return response.status_code, response.json()["error"]["code"] if failed else None


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("host", PASSED)
def test_names_of_this_server_pass(ask: Desk, surface: str, host: str) -> None:
    assert sent(ask, surface, [("host", host)]) == (200, None)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("host", REFUSED)
def test_other_names_are_refused(ask: Desk, surface: str, host: str) -> None:
    assert sent(ask, surface, [("host", host)]) == (421, "unknown_host")


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("second", ["localhost", "evil.example"])
def test_two_hosts_are_refused(ask: Desk, surface: str, second: str) -> None:
    two = [("host", "localhost"), ("host", second)]
    assert sent(ask, surface, two) == (421, "unknown_host")


def test_the_message_names_the_option_and_not_the_host(ask: Desk) -> None:
    response = ask.http("GET", "/healthz", headers={"host": "evil.example"})
    message = response.json()["error"]["message"]
    assert "--allowed-host" in message
    assert "evil" not in response.text


ORIGINS = {
    "http://localhost": True,
    "http://localhost:3000": True,
    "https://127.0.0.1:8000": True,
    "http://[::1]:8000": True,
    "https://kb.internal": True,
    "https://app.example": True,
    "HTTPS://APP.example": True,
    "https://port.example:8443": True,
    "http://evil": False,
    "http://evil.example": False,
    "null": False,
    "": False,
    "file://": False,
    "http://app.example": False,
    "https://app.example:8443": False,
    "https://port.example": False,
    "https://app.example.evil": False,
    "https://app.example/": False,
    "http://localhost.evil": False,
    "http://localhost.": False,
    "http://localhost@evil.example": False,
    "http://evil.example@localhost": False,
    "chrome-extension://localhost": False,
    "localhost": False,
    "http://localhost http://evil": False,
}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("origin", "passes"), ORIGINS.items())
def test_pages_of_other_origins_are_refused(
    ask: Desk, surface: str, origin: str, passes: bool
) -> None:
    expected = (200, None) if passes else (403, "forbidden_origin")
    assert sent(ask, surface, [("origin", origin)]) == expected


@pytest.mark.parametrize("surface", SURFACES)
def test_a_second_origin_cannot_hide_behind_the_first(ask: Desk, surface: str) -> None:
    two = [("origin", "http://localhost"), ("origin", "http://evil")]
    assert sent(ask, surface, two) == (403, "forbidden_origin")


TYPES = {
    "application/json": True,
    "application/json; charset=utf-8": True,
    "text/plain": False,
    "text/plain; application/json": False,
    "application/x-www-form-urlencoded": False,
    "multipart/form-data; boundary=x": False,
    "application/json-patch+json": False,
    "": False,
}


@pytest.mark.parametrize("surface", ["rest", "mcp"])
@pytest.mark.parametrize(("content_type", "passes"), TYPES.items())
def test_a_page_can_send_nothing_without_asking_before(
    ask: Desk, surface: str, content_type: str, passes: bool
) -> None:
    method, path, body = SURFACES[surface]
    headers = {**ACCEPT, "content-type": content_type}
    response = ask.http(method, path, content=body, headers=headers)
    assert response.status_code == 200 if passes else 400 <= response.status_code < 500
    if surface == "rest" and not passes:
        assert response.status_code == 415
        assert response.json()["error"]["code"] == "unsupported_media_type"
