"""Proxies of the environment: for remote hosts only, and never named with their password."""

import ssl
from pathlib import Path

import pytest
import trustme
from groundkit_core.errors import ChatError
from groundkit_providers import http
from groundkit_providers.llm import OllamaChat

from tests.providers.dialects import ANSWER, KEY, Dialect, ask, both, failure, without_proxies
from tests.providers.faulty_server import FaultyServer, hang_up, reply, silence, tunnel, unused_port

OLLAMA = Dialect("ollama")
NAME = "model.test"


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> trustme.CA:
    authority = trustme.CA()
    bundle = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(bundle))
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    return authority


@pytest.fixture
def _unresolvable(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(host: str, port: int) -> list[str]:
        raise AssertionError(f"{host}:{port} is the proxy's to resolve")

    monkeypatch.setattr(http, "resolve_host", refuse)


@pytest.mark.usefixtures("_unresolvable")
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_remote_host_is_reached_through_the_proxy_by_its_name(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    with FaultyServer(reply(OLLAMA.answer())) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert ask(OLLAMA.chat(f"http://{NAME}:8080")) == ANSWER
        (request,) = proxy.requests
    assert request.line == f"POST http://{NAME}:8080/api/generate HTTP/1.1"
    assert request.headers["host"] == f"{NAME}:8080"


@pytest.mark.usefixtures("_unresolvable")
def test_a_proxy_may_be_given_without_a_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer(reply(OLLAMA.answer())) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{proxy.port}")
        assert ask(OLLAMA.chat(f"http://{NAME}")) == ANSWER


@both
@pytest.mark.usefixtures("_unresolvable")
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_tls_goes_through_a_tunnel_that_sees_only_the_name(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch, authority: trustme.CA, variable: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(NAME).configure_cert(context)
    with (
        FaultyServer(reply(dialect.answer()), tls=context) as server,
        FaultyServer(tunnel(server.port)) as proxy,
    ):
        monkeypatch.setenv(variable, proxy.url)
        chat = dialect.chat(f"https://{NAME}", allow_private_endpoint=False)
        assert ask(chat) == ANSWER
        (connect,), (request,) = proxy.requests, server.requests
    assert connect.line == f"CONNECT {NAME}:443 HTTP/1.1"
    assert KEY not in str(connect)
    assert "authorization" not in connect.headers
    assert request.server_name == NAME
    assert request.headers["host"] == NAME
    assert request.headers.get("authorization") == (
        f"Bearer {KEY}" if dialect.name == "openai" else None
    )


@pytest.mark.usefixtures("_unresolvable")
def test_the_proxy_of_one_scheme_is_not_that_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        FaultyServer(hang_up) as for_tls,
        FaultyServer(reply(OLLAMA.answer())) as for_plain,
    ):
        monkeypatch.setenv("HTTPS_PROXY", for_tls.url)
        monkeypatch.setenv("HTTP_PROXY", for_plain.url)
        assert ask(OLLAMA.chat(f"http://{NAME}")) == ANSWER
        assert for_tls.connections == 0


@both
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost"])
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
def test_loopback_is_never_reached_through_a_proxy(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch, host: str, variable: str
) -> None:
    with FaultyServer(reply(dialect.answer())) as server, FaultyServer(hang_up) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert ask(dialect.chat(f"http://{host}:{server.port}")) == ANSWER
        assert proxy.connections == 0


@pytest.mark.parametrize("spared", [NAME, ".test", "other.test, model.test", "*", f"{NAME}:80"])
def test_no_proxy_names_hosts_that_are_reached_directly(
    monkeypatch: pytest.MonkeyPatch, spared: str
) -> None:
    resolved = []

    async def on_loopback(host: str, port: int) -> list[str]:
        resolved.append((host, port))
        return ["127.0.0.1"]

    monkeypatch.setattr(http, "resolve_host", on_loopback)
    with FaultyServer(reply(OLLAMA.answer())) as server, FaultyServer(hang_up) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", spared.replace(":80", f":{server.port}"))
        chat = OLLAMA.chat(f"http://{NAME}:{server.port}", allow_private_endpoint=True)
        assert ask(chat) == ANSWER
        assert proxy.connections == 0
        assert resolved == [(NAME, server.port)]


@pytest.mark.usefixtures("_unresolvable")
def test_no_proxy_for_others_leaves_a_host_to_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer(reply(OLLAMA.answer())) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "odel.test,model.tes,localhost")
        assert ask(OLLAMA.chat(f"http://{NAME}")) == ANSWER


@pytest.mark.usefixtures("_unresolvable")
def test_credentials_of_a_proxy_go_to_the_proxy_alone(
    monkeypatch: pytest.MonkeyPatch, authority: trustme.CA
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(NAME).configure_cert(context)
    with (
        FaultyServer(reply(OLLAMA.answer()), tls=context) as server,
        FaultyServer(tunnel(server.port)) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://jo:pr0xy-s3cret@127.0.0.1:{proxy.port}")
        assert ask(OLLAMA.chat(f"https://{NAME}")) == ANSWER
        assert "proxy-authorization" in proxy.requests[0].headers
        assert "proxy-authorization" not in server.requests[0].headers


@both
@pytest.mark.usefixtures("_unresolvable")
@pytest.mark.parametrize("fault", ["refuses", "echoes", "hangs up", "is away", "is silent"])
def test_a_proxy_that_fails_is_one_error_without_its_password(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    behaviours = {
        "refuses": reply("who are you?", status=407),
        "echoes": reply("no jo:pr0xy-s3cret", status=502),
        "hangs up": hang_up,
        "is silent": silence,
    }
    with FaultyServer(behaviours.get(fault, hang_up)) as proxy:
        port = unused_port() if fault == "is away" else proxy.port
        monkeypatch.setenv("HTTPS_PROXY", f"http://jo:pr0xy-s3cret@127.0.0.1:{port}")
        chat = dialect.chat(f"https://{NAME}", timeout_seconds=1, allow_private_endpoint=False)
        error = failure(chat)
        assert len(proxy.requests) == (fault != "is away")
    assert type(error) is ChatError
    assert "s3cret" not in str(error)


@pytest.mark.usefixtures("_unresolvable")
def test_words_of_a_proxy_are_shown_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "no jo:pr0xy-s3cret, no http://jo:pr0xy-s3cret@here, no Basic am86cHIweHktczNjcmV0"
    with FaultyServer(reply(f"gateway says {words}", status=502)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://jo:pr0xy-s3cret@127.0.0.1:{proxy.port}")
        message = str(failure(OLLAMA.chat(f"http://{NAME}")))
    assert "gateway says" in message
    assert "s3cret" not in message
    assert "am86cH" not in message


@pytest.mark.usefixtures("_unresolvable")
@pytest.mark.parametrize(
    "proxy",
    [
        "http://jo:pr0xy-s3cret@[oops",
        "http://jo:pr0xy-s3cret@127.0.0.1:99999999",
        "ftp://jo:pr0xy-s3cret@127.0.0.1:9",
        "socks5://jo:pr0xy-s3cret@127.0.0.1:9",
        "http://jo:pr0xy-s3cret@",
        "jo:pr0xy-s3cret@127.0.0.1:x",
        "http://jo:pr0xy-s3crét@127.0.0.1:9",
    ],
)
def test_a_proxy_setting_of_no_use_is_one_error_without_its_password(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    error = failure(OllamaChat(model_name="m", base_url=f"http://{NAME}"))
    assert type(error) is ChatError
    assert "s3cr" not in str(error)
