"""TLS to a name whose address was checked first."""

import datetime
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme
from groundkit_core.errors import ChatError
from groundkit_providers import http

from tests.providers.dialects import ANSWER, Dialect, ask, both, failure, without_proxies
from tests.providers.faulty_server import FaultyServer, reply

NAME = "model.test"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(autouse=True)
def _named(monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, tmp_path: Path) -> None:
    async def on_loopback(host: str, _: int) -> list[str]:
        return {NAME: ["127.0.0.1"]}.get(host, [host])

    without_proxies(monkeypatch)
    monkeypatch.setattr(http, "resolve_host", on_loopback)
    bundle = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(bundle))
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))


def serving(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


@both
def test_the_name_is_asked_for_and_checked_although_the_address_is_dialled(
    dialect: Dialect, authority: trustme.CA
) -> None:
    context = serving(authority.issue_cert(NAME))
    with FaultyServer(reply(dialect.answer()), tls=context) as server:
        url = f"https://{NAME}:{server.port}"
        assert ask(dialect.chat(url, allow_private_endpoint=True)) == ANSWER
        (request,) = server.requests
    assert request.server_name == NAME
    assert request.headers["host"] == f"{NAME}:{server.port}"
    assert request.line == f"POST {dialect.path} HTTP/1.1"


@both
def test_an_address_is_checked_against_the_certificate_too(
    dialect: Dialect, authority: trustme.CA
) -> None:
    context = serving(authority.issue_cert("127.0.0.1"))
    with FaultyServer(reply(dialect.answer()), tls=context) as server:
        assert ask(dialect.chat(server.url)) == ANSWER


@both
@pytest.mark.parametrize("fault", ["another name", "another authority", "expired", "no TLS"])
def test_a_server_that_cannot_prove_its_name_gets_nothing(
    dialect: Dialect, authority: trustme.CA, fault: str
) -> None:
    long_ago = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    contexts: dict[str, Callable[[], ssl.SSLContext | None]] = {
        "another name": lambda: serving(authority.issue_cert("other.test")),
        "another authority": lambda: serving(trustme.CA().issue_cert(NAME)),
        "expired": lambda: serving(authority.issue_cert(NAME, not_after=long_ago)),
        "no TLS": lambda: None,
    }
    with FaultyServer(reply(dialect.answer()), tls=contexts[fault]()) as server:
        url = f"https://{NAME}:{server.port}"
        error = failure(dialect.chat(url, allow_private_endpoint=True))
        assert server.requests == []
        assert server.connections == 1
    assert type(error) is ChatError
    assert fault == "no TLS" or "certificate" in str(error)
    assert not str(error).endswith(":")


@both
def test_a_self_signed_certificate_is_refused(dialect: Dialect) -> None:
    with FaultyServer(
        reply(dialect.answer()), tls=serving(trustme.CA().issue_cert("127.0.0.1"))
    ) as server:
        error = failure(dialect.chat(server.url))
        assert server.requests == []
    assert type(error) is ChatError
    assert "certificate" in str(error)


@both
def test_a_bundle_that_is_not_there_is_said(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    assert type(failure(dialect.chat("https://127.0.0.1:9"))) is ChatError
