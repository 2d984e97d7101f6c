"""One document from one real server: what is asked for, taken and refused."""

import gzip
import re
import ssl
import time
import tracemalloc
import zlib
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

import pytest
import trustme
from groundkit_core.errors import ConfigurationError, RefusedError, SourceError
from groundkit_core.loading.snapshot import Snapshot
from groundkit_providers.fetch import MAX_BYTES

from tests.providers.dialects import without_proxies
from tests.providers.faulty_server import (
    Behaviour,
    FaultyServer,
    cut_body,
    cut_chunks,
    drip,
    flood,
    hang_up,
    raw,
    silence,
    unused_port,
)
from tests.providers.fetching import CANARY, Network, failure, fetched, page

MIB = 1024 * 1024
BODY = b"<p>Forty-one kettles.</p>"
QUERY = f"?token={CANARY}&x=1"


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


def test_a_page_is_fetched_with_what_its_server_says_of_it() -> None:
    with FaultyServer(page(BODY, "Content-Type: Text/HTML; Charset=ISO-8859-1")) as server:
        asked = f"{server.url.replace('http', 'HTTP')}/a b/ü?q=ü#part"
        found = fetched(asked)
    url = f"{server.url}/a%20b/%C3%BC?q=%C3%BC"
    assert found == Snapshot(url, url, "text/html", "ISO-8859-1", BODY, found.fetched)
    age = datetime.now(UTC) - datetime.fromisoformat(found.fetched)
    assert timedelta() <= age < timedelta(minutes=1)
    assert server.requests[0].line == "GET /a%20b/%C3%BC?q=%C3%BC HTTP/1.1"


def test_a_request_says_who_asks_and_nothing_of_its_user() -> None:
    with FaultyServer(page(BODY)) as server:
        fetched(server.url)
        (request,) = server.requests
    accepted = request.headers.pop("accept").split(", ")
    assert {"text/html", "text/plain", "text/markdown", "text/csv", "application/pdf"} < {*accepted}
    assert accepted[-1] == "*/*;q=0.1"
    assert request.headers == {
        "host": f"127.0.0.1:{server.port}",
        "user-agent": f"groundkit/{version('groundkit-providers')}",
        "accept-encoding": "identity",
        "connection": "keep-alive",
    }
    assert request.body == b""


def test_a_page_comes_over_tls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    network = Network(monkeypatch)
    authority.issue_cert("docs.test").configure_cert(context)
    with FaultyServer(page(BODY), tls=context) as server:
        network.place("docs.test", "93.184.216.34", port=server.port)
        assert fetched("https://docs.test/").body == BODY
        assert server.requests[0].server_name == "docs.test"
        assert server.requests[0].headers["host"] == "docs.test"
    assert network.dialled == [("93.184.216.34", 443)]


@pytest.mark.parametrize("known", [True, False], ids=["another name", "another authority"])
def test_a_server_that_cannot_prove_its_name_gets_no_request(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, known: bool
) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    network = Network(monkeypatch)
    issuer = authority if known else trustme.CA()
    issuer.issue_cert("other.test" if known else "docs.test").configure_cert(context)
    with FaultyServer(page(BODY), tls=context) as server:
        network.place("docs.test", "93.184.216.34", port=server.port)
        assert "certificate" in str(failure(f"https://docs.test/{QUERY}"))
        assert server.requests == []


TYPES = {
    ("text/html", "/"): "text/html",
    ("TEXT/HTML;charset=x", "/a.pdf"): "text/html",
    ("text/html, text/html", "/"): "text/html",
    ("application/pdf", "/report"): "application/pdf",
    ("application/octet-stream", "/a/report.PDF"): "application/pdf",
    ("application/octet-stream", "/a/r%C3%A9port.pd%66"): "application/pdf",
    ("", "/readme.md"): "text/markdown",
    (None, "/readme.md?x=.pdf"): "text/markdown",
    ("text/plain", "/readme.md"): "text/markdown",
    ("text/plain", "/LICENSE"): "text/plain",
    ("text/plain", "/kettles.unknown"): "text/plain",
    ("application/x-ndjson", "/"): "application/jsonl",
    ("text/x-markdown", "/"): "text/markdown",
    ("application/json", "/a.jsonl"): None,
    ("text/csv; header=present", "/"): "text/csv",
    ("application/octet-stream", "/report"): None,
    ("application/octet-stream", "/report?x=a.pdf"): None,
    ("application/octet-stream", "/a.zip"): None,
    (None, "/"): None,
    ("image/png", "/a.pdf"): None,
    ("application/zip", "/a.docx"): None,
    ("html", "/a.html"): "text/html",
    ("html", "/a"): None,
    ("text/html/x", "/a"): None,
    ("text/\u2028", "/a"): None,
}


@pytest.mark.parametrize(("said", "path"), TYPES)
def test_the_media_type_is_what_is_said_or_else_what_the_suffix_says(
    said: str | None, path: str
) -> None:
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
    head += b"" if said is None else f"Content-Type: {said}\r\n".encode()
    expected = TYPES[said, path]
    with FaultyServer(raw(head + b"\r\n" + BODY)) as server:
        if expected is not None:
            found = fetched(server.url + path)
            assert (found.media_type, found.body) == (expected, BODY)
            return
        error = failure(server.url + path)
    assert type(error) is RefusedError
    named = said if said and re.fullmatch("[a-z]+/[a-z-]+", said) else "not named"
    assert str(error).endswith(f": its media type is {named}, which has no reader")


def test_a_body_of_another_type_is_not_waited_for() -> None:
    with FaultyServer(flood(1024 * MIB, announced=True, kind="image/png")) as server:
        assert "image/png" in str(failure(f"{server.url}/{QUERY}"))
        assert server.requests[0].sent < 24 * MIB


@pytest.mark.parametrize("status", [201, 203, 204, 206, 300, 304, 305, 400, 401, 403, 404, 410])
@pytest.mark.parametrize("path", ["/", f"/a{QUERY}"])
def test_only_200_is_a_document(status: int, path: str) -> None:
    body = "" if status in (204, 304) else BODY
    with FaultyServer(page(body, status=status)) as server:
        error = failure(server.url + path)
    assert type(error) is SourceError
    shown = f"{server.url}{path.partition('?')[0]}"
    assert str(error) == f"{shown}: it answered {status}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 429, 500, 502, 503, 999])
def test_a_redirect_to_nowhere_and_a_server_in_trouble_are_errors(status: int) -> None:
    with FaultyServer(page(BODY, status=status)) as server:
        assert str(failure(server.url)) == f"{server.url}/: it answered {status}"
        assert len(server.requests) == 1


WIRES: dict[str, Behaviour] = {
    "no byte": hang_up,
    "no HTTP": raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "half a header": raw(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "endless headers": raw(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100_000),
    "one huge header": raw(b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * MIB + b"\r\n\r\n"),
    "a body shorter than it was to be": raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n" + BODY
    ),
    "chunks without an end": raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"%x\r\n%s\r\n" % (len(BODY), BODY)
    ),
    "half a chunk": raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"ff\r\n" + BODY
    ),
    "two lengths": page(BODY, "Content-Length: 3"),
    "a length that is no number": raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9x\r\n\r\n" + BODY
    ),
    "an echo as status": raw(f"HTTP/1.1 {CANARY}\r\n\r\n".encode()),
    "an echo as chunk": raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        + f"{CANARY}\r\n".encode()
    ),
}


@pytest.mark.parametrize("fault", WIRES)
def test_a_broken_reply_is_an_error_and_never_a_short_document(fault: str) -> None:
    with FaultyServer(WIRES[fault]) as server:
        error = failure(f"{server.url}/a{QUERY}")
        assert len(server.requests) == 1
    assert type(error) is SourceError
    assert str(error).startswith(f"{server.url}/a: ")


@pytest.mark.parametrize("fault", [cut_body(BODY), cut_chunks(BODY)], ids=["length", "chunks"])
def test_a_cut_body_without_a_type_is_no_document_by_its_suffix(fault: Behaviour) -> None:
    with FaultyServer(fault) as server:
        assert type(failure(f"{server.url}/a.html{QUERY}")) is SourceError


def test_a_body_that_ends_with_its_connection_is_a_document() -> None:
    reply = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY
    with FaultyServer(raw(reply)) as server:
        assert fetched(server.url).body == BODY


def test_chunks_make_a_body() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    with FaultyServer(raw(head + b"3\r\n<p>\r\n4;x=y\r\nKett\r\n0\r\nX-A: b\r\n\r\n")) as server:
        assert fetched(server.url).body == b"<p>Kett"


def test_an_empty_body_is_a_document() -> None:
    with FaultyServer(page(b"")) as server:
        assert fetched(server.url).body == b""


def test_nobody_listening_is_said_with_the_place() -> None:
    url = f"http://127.0.0.1:{unused_port()}"
    error = failure(f"{url}/a{QUERY}")
    assert str(error).startswith(f"{url}/a: cannot connect: ")


@pytest.mark.parametrize("announced", [True, False], ids=["length", "chunked"])
def test_a_body_above_the_limit_is_refused_while_it_comes(announced: bool) -> None:
    with FaultyServer(flood(1024 * MIB, announced=announced, kind="text/html")) as server:
        tracemalloc.start()
        try:
            error = failure(f"{server.url}/a.html{QUERY}")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        most = 24 * MIB if announced else MAX_BYTES + 24 * MIB
        assert server.requests[0].sent < most
    assert type(error) is RefusedError
    assert str(error) == f"{server.url}/a.html: larger than {MAX_BYTES} bytes"
    assert peak < 4 * MIB if announced else peak < 4 * MAX_BYTES


@pytest.mark.parametrize("coding", ["identity", "gzip", "deflate"])
def test_a_body_of_the_limit_is_taken(coding: str) -> None:
    whole = b"x" * 70_000
    packed = {"identity": whole, "gzip": gzip.compress(whole), "deflate": zlib.compress(whole)}
    with FaultyServer(page(packed[coding], f"Content-Encoding: {coding}")) as server:
        assert fetched(server.url, limit=len(whole)).body == whole
        error = failure(server.url, limit=len(whole) - 1)
    assert type(error) is RefusedError
    assert f"larger than {len(whole) - 1} bytes" in str(error)


def test_a_gzip_bomb_costs_no_more_than_the_limit() -> None:
    squeezed = zlib.compressobj(9, wbits=31)
    bomb = b"".join(squeezed.compress(bytes(16 * MIB)) for _ in range(16)) + squeezed.flush()
    assert len(bomb) < MIB
    with FaultyServer(page(bomb, "Content-Encoding: gzip")) as server:
        tracemalloc.start()
        try:
            error = failure(server.url)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert type(error) is RefusedError
    assert peak < 4 * MAX_BYTES


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "compress", "x" * 999, "\x07"])
def test_a_coding_that_was_not_asked_for_and_cannot_be_read_is_refused(coding: str) -> None:
    with FaultyServer(page(BODY, f"Content-Encoding: {coding}")) as server:
        error = failure(server.url)
    assert len(str(error)) < 400


DEADLINE = 0.5
WAITS: dict[str, Behaviour] = {
    "first byte": silence,
    "headers": drip(BODY, headers=True, kind="text/html"),
    "body": drip(BODY, kind="text/html"),
}


@pytest.mark.parametrize("wait", WAITS)
def test_waiting_ends_at_the_deadline(wait: str) -> None:
    with FaultyServer(WAITS[wait]) as server:
        began = time.monotonic()
        error = failure(f"{server.url}/a{QUERY}", deadline=DEADLINE)
        assert DEADLINE * 0.9 < time.monotonic() - began < DEADLINE + 1
    assert type(error) is SourceError
    assert str(error) == f"{server.url}/a: no complete reply within {DEADLINE:g} s"


def test_a_url_that_may_not_be_fetched_is_a_matter_of_configuration() -> None:
    with pytest.raises(ConfigurationError) as caught:
        fetched(f"http://jo:{CANARY}@127.0.0.1/")
    assert CANARY not in str(caught.value)


def test_a_proxy_of_the_environment_is_used_by_name_and_told_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FaultyServer(page(BODY)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://jo:pr0xy@127.0.0.1:{proxy.port}")
        found = fetched("http://docs.test/a")
        (request,) = proxy.requests
    assert found.body == BODY
    assert request.line == "GET http://docs.test/a HTTP/1.1"
    assert request.headers["host"] == "docs.test"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_never_reached_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    with FaultyServer(page(BODY)) as server, FaultyServer(hang_up) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        found = fetched(f"http://{host}:{server.port}/", allow_private=[host])
        assert found.body == BODY
        assert proxy.connections == 0


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://169.254.169.254/", "http://[fd00::1]/"]
)
def test_an_address_that_is_not_public_is_not_asked_of_a_proxy(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    with FaultyServer(page(BODY)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        failure(url)
        assert proxy.connections == 0


def test_a_proxy_that_fails_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://jo:{CANARY}@127.0.0.1:{unused_port()}")
    assert "cannot connect" in str(failure(f"https://docs.test/{QUERY}"))
