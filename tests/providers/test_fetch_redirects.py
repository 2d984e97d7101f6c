"""Redirects: each hop guarded anew, at the address that was checked."""

import ssl
import time
from pathlib import Path

import pytest
import trustme
from groundkit_core.errors import ConfigurationError, SourceError

from tests.providers.faulty_server import Behaviour, FaultyServer, Request, hang_up, unused_port
from tests.providers.fetching import CANARY, Network, failure, fetched, page, redirect
from tests.providers.test_guard import LOOPBACK, NEVER, PRIVATE, PUBLIC

PUBLIC_ADDRESS = "93.184.216.34"
BODY = b"<p>Kettles.</p>"
FORBIDDEN = [*LOOPBACK, *PRIVATE, *NEVER]


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    return Network(monkeypatch)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_with_a_new_get(status: int) -> None:
    with FaultyServer(redirect("/b?x=1#part", status), page(BODY)) as server:
        found = fetched(f"{server.url}/a")
        first, second = server.requests
    assert (found.url, found.final_url) == (f"{server.url}/a", f"{server.url}/b?x=1")
    assert found.body == BODY
    assert second.line == "GET /b?x=1 HTTP/1.1"
    assert second.headers == first.headers


def test_five_redirects_are_followed_and_a_sixth_is_not() -> None:
    hops = [redirect(f"/{number}") for number in range(1, 7)]
    with FaultyServer(*hops[:5], page(BODY)) as server:
        assert fetched(server.url).final_url == f"{server.url}/5"
        assert len(server.requests) == 6
    with FaultyServer(*hops, page(BODY)) as server:
        error = failure(f"{server.url}/?token={CANARY}")
        assert str(error) == f"{server.url}/: more than 5 redirects"
        assert len(server.requests) == 6


@pytest.mark.parametrize("location", ["/a", "", "a", "#b"])
def test_a_loop_ends_by_the_count(location: str) -> None:
    with FaultyServer(redirect(location)) as server:
        assert "more than 5 redirects" in str(failure(f"{server.url}/a"))
        assert len(server.requests) == 6


RELATIVE = {
    "b": "/x/b",
    "./b": "/x/b",
    "../b": "/b",
    "../../../b": "/b",
    "/b": "/b",
    "?q=2": "/x/a?q=2",
    "/ü b": "/%C3%BC%20b",
    " /b ": "/b",
    "\\b": "/x/\\b",
}


@pytest.mark.parametrize("location", RELATIVE)
def test_a_relative_location_is_resolved(location: str) -> None:
    with FaultyServer(redirect_bytes(location), page(BODY)) as server:
        assert fetched(f"{server.url}/x/a?q=1").final_url == server.url + RELATIVE[location]


def redirect_bytes(location: str) -> Behaviour:
    head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: "
    data = head + location.encode() + b"\r\n\r\n"
    return lambda request: request.send(data)


def test_a_host_without_a_scheme_is_reached_by_the_same_scheme(network: Network) -> None:
    with FaultyServer(page(BODY)) as other, FaultyServer(redirect("//other.test/b")) as server:
        network.place("docs.test", PUBLIC_ADDRESS, port=server.port)
        network.place("other.test", "8.8.8.8", port=other.port)
        found = fetched("http://docs.test/a")
        assert found.final_url == "http://other.test/b"
        assert other.requests[0].headers["host"] == "other.test"
    assert network.dialled == [(PUBLIC_ADDRESS, 80), ("8.8.8.8", 80)]


def test_cookies_and_the_page_before_are_told_to_nobody() -> None:
    first = page("", "Set-Cookie: id=7; Path=/", "Location: /b", status=302)
    with FaultyServer(first, page(BODY)) as server:
        fetched(f"{server.url}/a")
        assert len(server.requests) == 2
        for request in server.requests:
            assert {"cookie", "referer", "authorization", "origin"} & set(request.headers) == set()


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("file:///etc/hosts", "http:// or https://"),
        ("FILE:///etc/hosts", "http:// or https://"),
        ("ftp://docs.test/", "http:// or https://"),
        (f"data:text/html,{'x' * 999}", "http:// or https://"),
        (f"javascript:alert('{'x' * 999}')", "http:// or https://"),
        (f"http://jo:{CANARY}@docs.test/", "credentials"),
        (f"http://{CANARY}@docs.test/", "credentials"),
        (f"//jo:{CANARY}@docs.test/", "credentials"),
        ("http://docs.test\\@inside.test/", "credentials"),
        ("http://docs.test:0/", "port"),
        ("http://docs.test:99999/", "port"),
        ("http://[::1", "no URL"),
        (f"http://[{CANARY}@x/", "no URL"),
        ("http://docs\u3002\u3002test/", "no URL"),
        ("http://2130706433/", "no name"),
        ("http://0x7f000001/", "no name"),
        ("http://127.1/", "no name"),
        ("http://0177.0.0.1./", "no name"),
        (f"http://docs.test/{'x' * 70_000}", "no URL"),
    ],
)
def test_a_location_that_is_no_place_for_documents_is_refused(
    network: Network, location: str, words: str
) -> None:
    network.place("docs.test", PUBLIC_ADDRESS)
    with FaultyServer(redirect_bytes(location)) as server:
        error = failure(f"{server.url}/a")
        dialled = [("127.0.0.1", server.port)]
    assert type(error) is SourceError
    assert str(error).startswith(f"{server.url}/a: hop 2: ")
    assert words in str(error)
    assert len(str(error)) < 600
    assert network.dialled == dialled


def test_a_redirect_into_this_machine_is_refused_at_its_hop(network: Network) -> None:
    with FaultyServer(redirect("http://127.0.0.1:9/x")) as server:
        network.place("docs.test", PUBLIC_ADDRESS, port=server.port)
        error = failure("http://docs.test/a", allow_private=[])
    assert str(error) == (
        "http://docs.test/a: hop 2: http://127.0.0.1:9/x: it is a loopback address; "
        "--allow-host 127.0.0.1 permits it"
    )
    assert network.dialled == [(PUBLIC_ADDRESS, 80)]


@pytest.mark.parametrize("address", [each for each in FORBIDDEN if "%" not in each])
@pytest.mark.parametrize("form", ["literal", "name"])
def test_what_is_not_public_is_never_dialled(network: Network, form: str, address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    target = "inside.test" if form == "name" else host
    network.place("inside.test", address)
    with FaultyServer(redirect(f"http://{target}/")) as server:
        network.place("docs.test", PUBLIC_ADDRESS, port=server.port)
        for url, hop in ((f"http://{target}/", ""), ("http://docs.test/", "hop 2: ")):
            message = str(failure(url, allow_private=["docs.test"]))
            assert hop in message
            assert ("--allow-host" in message) is (address not in NEVER)
    assert network.dialled == [(PUBLIC_ADDRESS, 80)]


@pytest.mark.parametrize("address", [*LOOPBACK, *PRIVATE, *PUBLIC, *NEVER])
def test_a_host_that_is_allowed_may_be_anywhere_but_never_at_a_reserved_address(
    network: Network, address: str
) -> None:
    network.place("inside.test", address)
    failure("http://inside.test:8080/", allow_private=["INSIDE.test"])
    assert network.dialled == ([] if address in NEVER else [(address, 8080)])


def test_one_address_that_is_not_public_refuses_them_all(network: Network) -> None:
    for bad in ("10.0.0.1", "127.0.0.1", "169.254.169.254"):
        network.names["docs.test"] = [[PUBLIC_ADDRESS, bad]]
        assert bad in str(failure("http://docs.test/"))
    assert network.dialled == []


ALLOWED = {
    "127.0.0.1": True,
    "127.0.0.1:{port}": True,
    "127.0.0.1:1": False,
    "localhost": False,
    "127.0.0.2": False,
    "127.0.0": None,
    "127.0.0.1/": None,
    "http://127.0.0.1": None,
    "127.0.0.0/8": None,
    "*": None,
    "": None,
    f"jo:{CANARY}@127.0.0.1": None,
}


@pytest.mark.parametrize("entry", ALLOWED)
def test_a_private_host_is_reached_only_if_it_is_named(entry: str) -> None:
    with FaultyServer(page(BODY)) as server:
        allowed = [entry.format(port=server.port)]
        expected = ALLOWED[entry]
        if expected is None:
            with pytest.raises(ConfigurationError) as caught:
                fetched(server.url, allow_private=allowed)
            assert "--allow-host" in str(caught.value)
            assert CANARY not in str(caught.value)
            assert caught.value.__context__ is None
        elif expected:
            assert fetched(server.url, allow_private=allowed).body == BODY
        else:
            assert "loopback" in str(failure(server.url, allow_private=allowed))
        assert server.connections == (expected is True)


def test_an_allowed_host_does_not_lead_to_another_that_is_not() -> None:
    with FaultyServer(page(BODY)) as other:
        inside = f"http://127.0.0.2:{other.port}/"
        with FaultyServer(redirect(inside)) as server:
            assert "hop 2: http://127.0.0.2" in str(failure(server.url))
        assert other.connections == 0


def test_the_address_that_was_checked_is_the_one_dialled(network: Network) -> None:
    with FaultyServer(page(BODY)) as server:
        network.place("docs.test", PUBLIC_ADDRESS, "127.0.0.1", port=server.port)
        assert fetched("http://docs.test/", allow_private=[]).body == BODY
        assert "127.0.0.1" in str(failure("http://docs.test/", allow_private=[]))
    assert network.asked == ["docs.test"] * 2
    assert network.dialled == [(PUBLIC_ADDRESS, 80)]


def test_a_name_is_looked_up_and_judged_at_each_hop(network: Network) -> None:
    with FaultyServer(redirect("/b")) as server:
        network.place("docs.test", PUBLIC_ADDRESS, "10.0.0.1", port=server.port)
        error = failure("http://docs.test/a", allow_private=[])
    assert "hop 2: http://docs.test/b: it is at 10.0.0.1, a private address" in str(error)
    assert network.dialled == [(PUBLIC_ADDRESS, 80)]


def test_from_https_a_redirect_leads_to_https_only(
    network: Network, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    authority.issue_cert("docs.test").configure_cert(context)
    replies = redirect("https://docs.test/b"), redirect(f"http://docs.test/c?{CANARY}")
    with FaultyServer(*replies, tls=context) as server:
        network.place("docs.test", PUBLIC_ADDRESS, port=server.port)
        error = failure("https://docs.test/a")
        assert len(server.requests) == 2
    assert str(error) == (
        "https://docs.test/a: hop 3: http://docs.test/c: "
        "a redirect from https to http is not followed"
    )


def test_from_http_a_redirect_may_lead_to_https(
    network: Network, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    authority.issue_cert("docs.test").configure_cert(context)
    with FaultyServer(page(BODY), tls=context) as secure:
        network.place("docs.test", PUBLIC_ADDRESS, port=secure.port)
        with FaultyServer(redirect("https://docs.test/a")) as server:
            assert fetched(server.url).final_url == "https://docs.test/a"


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (page(BODY, status=404), "it answered 404"),
        (page(BODY, "Content-Type: image/png"), "image/png"),
        (hang_up, ""),
    ],
)
def test_an_error_says_at_which_hop_it_was(last: Behaviour, words: str) -> None:
    with FaultyServer(redirect(f"/b?{CANARY}"), last) as server:
        error = failure(f"{server.url}/a?{CANARY}")
    assert str(error).startswith(f"{server.url}/a: hop 2: {server.url}/b: ")
    assert words in str(error)


def test_a_redirect_to_nobody_is_an_error() -> None:
    with FaultyServer(redirect(f"http://127.0.0.1:{unused_port()}/")) as server:
        assert "cannot connect" in str(failure(server.url))


@pytest.mark.parametrize(
    ("asked", "final"), [("/a.md", "/b"), ("/a", "/b.md"), ("/a.csv", "/b.md")]
)
def test_a_suffix_at_the_end_of_the_way_comes_before_one_at_its_start(
    asked: str, final: str
) -> None:
    unsaid = page(BODY, "Content-Type: application/octet-stream")
    with FaultyServer(redirect(final), unsaid) as server:
        assert fetched(server.url + asked).media_type == "text/markdown"


def test_one_deadline_covers_all_hops() -> None:
    def late(request: Request) -> None:
        time.sleep(0.3)
        redirect("/next")(request)

    with FaultyServer(late) as server:
        began = time.monotonic()
        error = failure(server.url, deadline=0.8)
        assert 0.7 < time.monotonic() - began < 1.8
        assert len(server.requests) == 3
    assert "hop 3: " in str(error)
    assert "no complete reply within 0.8 s" in str(error)
