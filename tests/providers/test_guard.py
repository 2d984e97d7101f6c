"""Which addresses a chat may reach."""

import asyncio
import inspect
from collections.abc import Callable, Sequence

import anyio
import pytest
import respx
from groundkit_core.errors import (
    ChatError,
    ChatProviderNotConfiguredError,
    ConfigurationError,
    GroundkitError,
)
from groundkit_providers import http
from groundkit_providers.llm import OllamaChat, OpenAICompatChat

from tests.providers.dialects import (
    ANSWER,
    KEY,
    KEY_NAME,
    Dialect,
    ask,
    both,
    failure,
    without_proxies,
)
from tests.providers.faulty_server import FaultyServer, reply

LOOPBACK = [
    "127.0.0.1",
    "127.255.3.4",
    "::1",
    "::ffff:127.0.0.1",
    "2002:7f00:1::1",
    "64:ff9b::7f00:1",
]
PRIVATE = [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.1.1",
    "100.64.0.1",
    "fd00::1",
    "fc00::1",
    "::ffff:10.1.2.3",
    "2002:c0a8:101::1",
    "64:ff9b::a00:1",
]
PUBLIC = [
    "93.184.216.34",
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "11.0.0.1",
    "2606:4700:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]
NEVER = [
    "0.0.0.0",
    "0.1.2.3",
    "169.254.169.254",
    "169.254.0.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.0.0.8",
    "::",
    "fe80::1",
    "fe80::1%1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "100::1",
    "::127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "2002:a9fe:a9fe::1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
]
CLASSES = {"loopback": LOOPBACK, "private": PRIVATE, "public": PUBLIC, "never": NEVER}
EACH = [(kind, address) for kind, addresses in CLASSES.items() for address in addresses]

# By provider, host of the base URL and permission: the classes that may be reached.
POLICY = {
    ("ollama", "localhost", False): {"loopback"},
    ("ollama", "localhost", True): {"loopback"},
    ("ollama", "model.test", False): {"public"},
    ("ollama", "model.test", True): {"loopback", "private", "public"},
    ("openai", "model.test", False): {"public"},
    ("openai", "model.test", True): {"loopback", "private", "public"},
    ("openai", "localhost", True): {"loopback"},
    ("keyless", "model.test", True): {"loopback", "private"},
}


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where a connection is wanted; none is made."""
    places: list[tuple[str, int]] = []

    async def refuse(remote_host: str, remote_port: int, **_: object) -> object:
        places.append((remote_host, remote_port))
        raise OSError("no connection is made here")

    assert "remote_host" in inspect.signature(anyio.connect_tcp).parameters
    monkeypatch.setattr(anyio, "connect_tcp", refuse)
    return places


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: Sequence[str]) -> list[str]:
    """Answer the n-th look-up with the n-th list, later ones with the last."""
    asked: list[str] = []

    async def answer(host: str, port: int) -> list[str]:  # noqa: ARG001
        asked.append(host)
        return list(answers[min(len(asked), len(answers)) - 1])

    monkeypatch.setattr(http, "resolve_host", answer)
    return asked


def built(provider: str, url: str, permitted: bool) -> OllamaChat | OpenAICompatChat:
    if provider == "ollama":
        return OllamaChat(model_name="m", base_url=url, allow_private_endpoint=permitted)
    return OpenAICompatChat(
        model_name="m",
        base_url=url,
        api_key_env=KEY_NAME if provider == "openai" else None,
        allow_private_endpoint=permitted,
    )


@pytest.mark.parametrize(("kind", "address"), EACH)
@pytest.mark.parametrize("policy", POLICY, ids=lambda p: "-".join(map(str, p)))
def test_an_address_is_dialled_only_if_the_policy_has_its_class(
    monkeypatch: pytest.MonkeyPatch,
    dialled: list[tuple[str, int]],
    policy: tuple[str, str, bool],
    kind: str,
    address: str,
) -> None:
    provider, host, permitted = policy
    resolving(monkeypatch, [address])
    scheme = "https" if provider == "openai" else "http"
    error = failure(built(provider, f"{scheme}://{host}:8443", permitted))
    assert type(error) is ChatError
    allowed = kind in POLICY[policy]
    assert dialled == ([(address, 8443)] if allowed else [])
    if not allowed:
        assert address in str(error)
        permission = "allow_private_endpoint" in str(error)
        assert permission is (kind in ("loopback", "private") and "public" in POLICY[policy])


@pytest.mark.parametrize(("kind", "address"), EACH)
@pytest.mark.parametrize("provider", ["ollama", "openai", "keyless"])
@pytest.mark.parametrize("permitted", [False, True])
def test_a_literal_address_is_judged_at_construction(
    kind: str, address: str, provider: str, permitted: bool
) -> None:
    allowed = {"public"} | ({"loopback", "private"} if permitted else set())
    if provider == "ollama":
        allowed |= {"loopback"}
    if provider == "keyless":
        allowed = {"loopback", "private"} if permitted else set()
    host = f"[{address}]" if ":" in address else address
    outcome = constructed(lambda: built(provider, f"https://{host}/v1", permitted))
    assert (outcome is None) is (kind in allowed)


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1.", "0", "1.1", "0xa9fea9fe"],
)
def test_another_spelling_of_an_address_reaches_no_private_one(
    monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]], host: str
) -> None:
    """Either the spelling is refused at once, or what it resolves to is."""

    async def as_the_system_reads_it(name: str, port: int) -> list[str]:  # noqa: ARG001
        return ["127.0.0.1" if "7" in name else "169.254.169.254" if "a9" in name else "0.0.0.0"]

    monkeypatch.setattr(http, "resolve_host", as_the_system_reads_it)
    with pytest.raises((ConfigurationError, ChatError)):
        ask(built("openai", f"https://{host}", False))
    assert dialled == []


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "[::1]"])
def test_only_ollama_may_use_loopback_without_permission(host: str) -> None:
    assert constructed(lambda: built("ollama", f"http://{host}:11434", False)) is None
    refused = constructed(lambda: built("openai", f"http://{host}:8080/v1", False))
    assert "allow_private_endpoint" in str(refused)
    assert constructed(lambda: built("openai", f"http://{host}:8080/v1", True)) is None


@pytest.mark.parametrize("bad", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1"])
@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_one_bad_address_refuses_them_all(
    monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]], provider: str, bad: str
) -> None:
    for addresses in ([bad, "8.8.8.8"], ["8.8.8.8", bad], ["8.8.8.8", bad, "1.1.1.1"]):
        resolving(monkeypatch, addresses)
        assert type(failure(built(provider, "https://model.test", False))) is ChatError
    assert dialled == []


@pytest.mark.parametrize("addresses", [[], ["8.8.8.8", "169.254.169.254"]])
def test_a_name_without_a_usable_address_is_an_error(
    monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]], addresses: list[str]
) -> None:
    resolving(monkeypatch, addresses)
    assert type(failure(built("openai", "https://model.test", False))) is ChatError
    assert dialled == []


@pytest.mark.parametrize("permitted", [False, True])
def test_a_localhost_that_leads_elsewhere_is_refused(
    monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]], permitted: bool
) -> None:
    for addresses in (["8.8.8.8"], ["10.0.0.1"], ["127.0.0.1", "8.8.8.8"]):
        resolving(monkeypatch, addresses)
        failure(built("ollama", "http://localhost:11434", permitted))
    assert dialled == []


def test_the_address_that_was_checked_is_the_one_dialled(
    monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]]
) -> None:
    asked = resolving(monkeypatch, ["8.8.8.8"], ["127.0.0.1"])
    failure(built("openai", "https://model.test", False))
    assert asked == ["model.test"]
    assert dialled == [("8.8.8.8", 443)]


@both
@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700:4700::1111"])
def test_a_public_server_is_asked_at_its_address_under_its_name(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    resolving(monkeypatch, [address])
    place = f"[{address}]" if ":" in address else address
    with respx.mock() as router:
        route = router.post(f"https://{place}{dialect.path}")
        route.respond(json=dialect.answer())
        assert ask(dialect.chat("https://model.test", allow_private_endpoint=False)) == ANSWER
        request = route.calls.last.request
    assert request.headers["host"] == "model.test"
    assert request.extensions["sni_hostname"] == "model.test"
    assert request.headers.get("authorization") == (
        f"Bearer {KEY}" if dialect.name == "openai" else None
    )


def test_every_call_checks_again(
    monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]]
) -> None:
    asked = resolving(monkeypatch, ["8.8.8.8"], ["127.0.0.1"])
    chat = built("openai", "https://model.test", False)
    failure(chat)
    assert "127.0.0.1" in str(failure(chat))
    assert asked == ["model.test"] * 2
    assert dialled == [("8.8.8.8", 443)]


def test_addresses_are_tried_in_order_until_one_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    dialect = Dialect("ollama")
    with FaultyServer(reply(dialect.answer())) as server:
        resolving(monkeypatch, ["127.0.0.2", "127.0.0.1"])
        assert ask(dialect.chat(f"http://localhost:{server.port}")) == ANSWER
        assert server.requests[0].headers["host"] == f"localhost:{server.port}"


def test_ipv6_loopback_works() -> None:
    dialect = Dialect("ollama")
    try:
        server = FaultyServer(reply(dialect.answer()), host="::1")
    except OSError:
        pytest.skip("there is no IPv6 here")
    with server:
        assert ask(dialect.chat(server.url)) == ANSWER
        assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


@both
def test_the_systems_own_resolver_is_used(dialect: Dialect) -> None:
    assert asyncio.run(http.resolve_host("127.0.0.1", 80)) == ["127.0.0.1"]
    assert set(asyncio.run(http.resolve_host("localhost", 80))) <= {"127.0.0.1", "::1"}
    with FaultyServer(reply(dialect.answer())) as server:
        assert ask(dialect.chat(f"http://localhost:{server.port}")) == ANSWER


@both
def test_a_name_that_does_not_resolve_is_said(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unknown(*_: object) -> list[str]:
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr(http, "resolve_host", unknown)
    error = failure(dialect.chat("https://model.test"))
    assert type(error) is ChatError
    assert "model.test" in str(error)
    assert "Name or service not known" in str(error)


@pytest.mark.parametrize("name", ["a" * 64 + ".test", "a..test", "model .test", "model\\.test"])
def test_a_name_that_is_no_name_is_an_error(name: str) -> None:
    with pytest.raises((ConfigurationError, ChatError)) as caught:
        ask(built("ollama", f"http://{name}", False))
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "model.test",
        "//model.test",
        "ftp://model.test",
        "file:///etc/hosts",
        "https://",
        "https:///v1",
        "https://user:s3cret@model.test",
        "https://s3cret@model.test",
        "https://:s3cret@model.test",
        "https://model.test:0",
        "https://model.test:65536",
        "https://model.test:99999999999",
        "https://model.test:-1",
        "https://model.test:x",
        "https://model.test?token=s3cret",
        "https://model.test/?",
        "https://model.test/#s3cret",
        "https://model.test/#",
        "https://model.test/v1?x=s3cret#y",
        "https://model.test/\r\nX-Header: 1",
        "https://model.test\n",
        "https://mod\x00el.test",
        "https://[::1",
        "https://model.test\\@127.0.0.1",
        "http s://model.test",
    ],
)
@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_url_of_the_wrong_form_is_refused_at_construction(provider: str, url: str) -> None:
    refused = constructed(lambda: built(provider, url, True))
    assert type(refused) is ConfigurationError
    assert "s3cret" not in str(refused)
    assert "base_url" in str(refused)
    assert str(refused).isprintable()


def test_a_key_is_not_sent_over_plain_http_beyond_loopback(
    monkeypatch: pytest.MonkeyPatch, dialled: list[tuple[str, int]]
) -> None:
    for address, permitted in (("8.8.8.8", False), ("10.0.0.1", True), ("127.0.0.1", True)):
        resolving(monkeypatch, [address])
        error = failure(built("openai", "http://model.test", permitted))
        assert type(error) is ChatProviderNotConfiguredError
        assert KEY_NAME in str(error)
        assert "plain HTTP" in str(error)
    assert dialled == []


def test_a_key_is_sent_over_plain_http_to_loopback() -> None:
    dialect = Dialect("openai")
    with FaultyServer(reply(dialect.answer())) as server:
        ask(dialect.chat(server.url))
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_private_server_without_a_key_is_sent_none(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["127.0.0.1"])
    with FaultyServer(reply(Dialect("openai").answer())) as server:
        ask(built("keyless", f"http://model.test:{server.port}", True))
        assert "authorization" not in server.requests[0].headers


def test_going_without_a_key_needs_the_permission_for_private_endpoints() -> None:
    refused = constructed(lambda: built("keyless", "https://model.test", False))
    assert type(refused) is ConfigurationError
    assert "api_key_env" in str(refused)


INJECTIONS = [
    "c4nary\r\nX-Evil: 1",
    "c4nary\nkey",
    "c4nary\x00",
    "c4nary key",
    "c4närykey",
    "\u2028",
]


@pytest.mark.parametrize("key", [key for key in INJECTIONS if "\x00" not in key])
def test_a_key_that_is_no_header_value_is_refused_unsaid(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv(KEY_NAME, key)
    with FaultyServer(reply(Dialect("openai").answer())) as server:
        error = failure(built("openai", server.url, True))
        assert server.connections == 0
    assert type(error) is ChatProviderNotConfiguredError
    assert KEY_NAME in str(error)
    assert "c4n" not in str(error)
    assert "Evil" not in str(error)


@both
def test_a_model_name_stays_in_the_body(dialect: Dialect) -> None:
    name = "m\r\nX-Evil: 1\r\n\r\nGET /x"
    with FaultyServer(reply(dialect.answer())) as server:
        if dialect.name == "ollama":
            chat: OllamaChat | OpenAICompatChat = OllamaChat(model_name=name, base_url=server.url)
        else:
            chat = OpenAICompatChat(
                model_name=name, base_url=server.url, allow_private_endpoint=True
            )
        ask(chat)
        (request,) = server.requests
    assert request.json["model"] == name
    assert "x-evil" not in request.headers


def constructed(build: Callable[[], object]) -> GroundkitError | None:
    """The error of a construction, once nothing stands behind it."""
    refused: GroundkitError | None = None
    try:
        build()
    except GroundkitError as error:
        refused = error
    if refused is not None:
        assert isinstance(refused, ConfigurationError)
        assert refused.__cause__ is None
        assert refused.__context__ is None
    return refused
