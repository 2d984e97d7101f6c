"""Each way in which a server can fail: one request, one typed error, nothing confidential in it."""

import gzip
import json
import re
from collections.abc import Callable

import pytest
from groundkit_core.errors import ChatError, ChatProviderNotConfiguredError, ChatReplyError

from tests.providers.dialects import (
    ANSWER,
    KEY,
    KEY_NAME,
    PROMPT,
    SYSTEM,
    Dialect,
    ask,
    both,
    failure,
    without_proxies,
)
from tests.providers.faulty_server import (
    Behaviour,
    FaultyServer,
    cut_body,
    cut_chunks,
    hang_up,
    raw,
    reply,
    unused_port,
)

Fault = Callable[[Dialect], Behaviour]

_HTML = "Content-Type: text/html"


def _whole(dialect: Dialect) -> bytes:
    return json.dumps(dialect.answer()).encode()


def _nested(opening: str, closing: str) -> bytes:
    return (opening * 100_000 + closing * 100_000).encode()


def _twice(dialect: Dialect) -> bytes:
    inner = b'"response": ' if dialect.name == "ollama" else b'"content": '
    whole = _whole(dialect)
    assert whole.count(inner) == 1
    return whole.replace(inner, inner + b'"another", ' + inner)


def _with(dialect: Dialect, name: bytes, value: bytes) -> bytes:
    pair = b'"%s": %s' % (name, value)
    replaced, count = re.subn(b'"%s": [^,}]+' % name, lambda _: pair, _whole(dialect))
    assert count == 1
    return replaced


def _text_as(dialect: Dialect, value: bytes) -> bytes:
    return _with(dialect, b"response" if dialect.name == "ollama" else b"content", value)


def _count_as(dialect: Dialect, value: bytes) -> bytes:
    return _with(dialect, b"eval_count" if dialect.name == "ollama" else b"created", value)


STATUSES: dict[str, tuple[Fault, str]] = {
    "400": (lambda d: reply(d.complaint("bad option"), status=400), "400.*bad option"),
    "402": (lambda d: reply(d.complaint("no credit"), status=402), "402.*no credit"),
    "413": (lambda d: reply(d.complaint("too big"), status=413), "413.*too big"),
    "429": (
        lambda d: reply(d.complaint("slow down"), "Retry-After: 1", status=429),
        "429.*slow down",
    ),
    "500": (lambda d: reply(d.complaint("out of memory"), status=500), "500.*out of memory"),
    "502 in HTML": (
        lambda _: reply("<html><h1>Bad Gateway</h1></html>", _HTML, status=502),
        "502.*Bad Gateway",
    ),
    "503 without a body": (lambda _: reply("", status=503), "503"),
    "503 in plain text": (lambda _: reply("warming up", status=503), "503.*warming up"),
    "500 with a nested body": (lambda _: reply(_nested("[", "]"), status=500), "500"),
    "500 with bytes": (lambda _: reply(b"\xff\xfe\x00", status=500), "500"),
    "204": (lambda _: raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "204"),
    "206": (lambda d: reply(d.answer(), status=206), "206"),
    "304": (lambda _: raw(b"HTTP/1.1 304 Not Modified\r\n\r\n"), "304"),
    "300 without a place": (lambda _: reply("choose", status=300), "300"),
}

BODIES: dict[str, tuple[Fault, str]] = {
    "empty": (lambda _: reply(b""), "JSON"),
    "no JSON": (lambda _: reply(ANSWER), "JSON"),
    "a stream of JSON": (lambda d: reply(_whole(d) + b"\n" + _whole(d)), "JSON"),
    "trailing comma": (lambda d: reply(_whole(d)[:-1] + b",}"), "JSON"),
    "not UTF-8": (lambda d: reply(_text_as(d, b'"caf\xe9"')), "JSON"),
    "UTF-16": (lambda d: reply(json.dumps(d.answer()).encode("utf-16")), "JSON"),
    "duplicate keys": (lambda d: reply(_twice(d)), ""),
    "NaN": (lambda d: reply(_count_as(d, b"NaN")), "JSON"),
    "Infinity": (lambda d: reply(_count_as(d, b"-Infinity")), "JSON"),
    "nested arrays": (lambda _: reply(_nested("[", "]")), "JSON"),
    "nested objects": (lambda _: reply(_nested('{"a":', "}")), "JSON"),
    "a long number": (lambda d: reply(_count_as(d, b"9" * 100_000)), ""),
    "an array": (lambda d: reply([d.answer()]), "shape|object"),
    "null": (lambda _: reply(b"null"), "shape|object"),
    "an empty object": (lambda _: reply({}), ""),
    "an error with status 200": (lambda d: reply(d.complaint("model is lost")), ""),
    "text as a number": (lambda d: reply(_text_as(d, b"7")), ""),
    "text as a list": (lambda d: reply(_text_as(d, json.dumps([ANSWER]).encode())), ""),
    "text null": (lambda d: reply(_text_as(d, b"null")), "no answer text"),
    "a lone surrogate": (lambda d: reply(_text_as(d, rb'"\ud800 kettles"')), ""),
    "gzip": (
        lambda d: reply(gzip.compress(_whole(d)), "Content-Encoding: gzip"),
        "compressed",
    ),
    "an unknown encoding": (lambda d: reply(_whole(d), "Content-Encoding: zz"), "compressed"),
}

WIRES: dict[str, Fault] = {
    "no byte": lambda _: hang_up,
    "no HTTP": lambda _: raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "half a status line": lambda _: raw(b"HTTP/1.1 20"),
    "half a header": lambda _: raw(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "endless headers": lambda _: raw(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100_000),
    "a cut body": lambda d: cut_body(_whole(d)),
    "an empty body that was to be long": lambda _: cut_body(b"", missing=9),
    "cut chunks": lambda d: cut_chunks(_whole(d)),
    "a broken chunk": lambda _: raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "two lengths": lambda d: reply(_whole(d), "Content-Length: 3"),
}


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


@both
@pytest.mark.parametrize("fault", [*STATUSES, *BODIES])
def test_a_wrong_reply_is_one_error(dialect: Dialect, fault: str) -> None:
    behaviour, words = (STATUSES | BODIES)[fault]
    with FaultyServer(behaviour(dialect)) as server:
        error = failure(dialect.chat(server.url))
        assert len(server.requests) == server.connections == 1
    assert type(error) in (ChatError, ChatReplyError)
    assert re.search(words, str(error))
    assert str(server.port) in str(error)


@both
@pytest.mark.parametrize("fault", WIRES)
def test_a_broken_reply_is_one_error(dialect: Dialect, fault: str) -> None:
    with FaultyServer(WIRES[fault](dialect)) as server:
        error = failure(dialect.chat(server.url))
        assert len(server.requests) == server.connections == 1
    assert type(error) is ChatError
    assert str(server.port) in str(error)


@both
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(dialect: Dialect, status: int) -> None:
    with FaultyServer(reply(dialect.answer())) as other:
        location = f"Location: {other.url}{dialect.path}"
        with FaultyServer(reply("", location, status=status)) as server:
            error = failure(dialect.chat(server.url))
            assert len(server.requests) == server.connections == 1
        assert other.connections == 0
    assert type(error) is ChatError
    assert f"{status}" in str(error)
    assert "redirect" in str(error)


@both
def test_a_redirect_to_itself_is_not_followed(dialect: Dialect) -> None:
    with FaultyServer(reply("", "Location: /elsewhere", status=307)) as server:
        failure(dialect.chat(server.url))
        assert len(server.requests) == 1


@both
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_a_matter_of_configuration(dialect: Dialect, status: int) -> None:
    with FaultyServer(reply(dialect.complaint("no entry here"), status=status)) as server:
        error = failure(dialect.chat(server.url))
        assert len(server.requests) == 1
    assert type(error) is ChatProviderNotConfiguredError
    assert "no entry here" in str(error)
    assert (KEY_NAME in str(error)) is (dialect.name == "openai")


@both
def test_a_missing_model_is_named_with_its_remedy(dialect: Dialect) -> None:
    with FaultyServer(reply(dialect.complaint("model not found"), status=404)) as server:
        error = failure(dialect.chat(server.url))
        assert len(server.requests) == 1
    if dialect.name == "ollama":
        assert type(error) is ChatProviderNotConfiguredError
        assert "ollama pull llama3.2:3b" in str(error)
    else:
        assert type(error) is ChatError
        assert "model not found" in str(error)


@both
def test_nobody_listening_is_said_with_the_place(dialect: Dialect) -> None:
    port = unused_port()
    error = failure(dialect.chat(f"http://127.0.0.1:{port}"))
    assert type(error) is ChatError
    assert f"127.0.0.1:{port}" in str(error)
    assert "running" in str(error)


KEYS = {
    "the key": KEY,
    "the key in a URL": "c4nary%2Fk3y%2Bw1th%3Dmarks",
}
ECHOES = {
    "a header": f"Authorization: Bearer {KEY}",
    "a bearer": "Bearer abc.def.ghi-0123456789",
    "the prompt": PROMPT,
    "the prompt as JSON": json.dumps(PROMPT),
    "the end of the prompt": PROMPT[-40:],
    "the middle of the prompt": PROMPT[20:60],
    "the prompt on one line": " ".join(PROMPT.split()),
    "the system text": SYSTEM,
    "userinfo": "http://user:s3cret-pass@proxy.example/x",
    "a terminal sequence": "\x1b[31mred\x07\x9b\u202e",
}
LEAKS = {
    "a header": "c4nary",
    "a bearer": "abc.def",
    "the system text": "Harbour Lane",
    "the prompt": "nine copper",
    "the end of the prompt": "paid in cash",
    "the middle of the prompt": "nine copper",
    "the prompt on one line": "nine copper",
    "the prompt as JSON": "nine copper",
    "userinfo": "s3cret",
    "a terminal sequence": "\x1b",
}


@both
@pytest.mark.parametrize("echoed", ECHOES)
def test_words_of_a_server_are_shown_without_what_is_ours(dialect: Dialect, echoed: str) -> None:
    words = f"overloaded: {ECHOES[echoed]} (sorry)"
    with FaultyServer(reply(dialect.complaint(words), status=500)) as server:
        error = failure(dialect.chat(server.url))
    assert "overloaded" in str(error)
    assert "(sorry)" in str(error)
    assert LEAKS[echoed] not in str(error)


@both
@pytest.mark.parametrize("echoed", ECHOES)
def test_words_that_are_no_json_are_treated_alike(dialect: Dialect, echoed: str) -> None:
    with FaultyServer(reply(f"overloaded: {ECHOES[echoed]}", _HTML, status=500)) as server:
        error = failure(dialect.chat(server.url))
    assert "overloaded" in str(error)
    assert LEAKS[echoed] not in str(error)


@both
def test_words_of_a_server_are_cut_short(dialect: Dialect) -> None:
    with FaultyServer(
        reply(dialect.complaint("over " + "and over " * 99_999), status=500)
    ) as server:
        error = failure(dialect.chat(server.url))
    assert "over and over" in str(error)
    assert len(str(error)) < 600


@pytest.mark.parametrize("echoed", KEYS)
@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_words_of_a_server_never_hold_the_key(echoed: str, status: int) -> None:
    words = f"overloaded: {KEYS[echoed]} (sorry)"
    dialect = Dialect("openai")
    for body in (dialect.complaint(words), words):
        with FaultyServer(reply(body, status=status)) as server:
            error = failure(dialect.chat(server.url))
        assert "overloaded" in str(error)
        assert "c4nary" not in str(error)


def test_a_key_cut_by_the_limit_does_not_leak() -> None:
    dialect = Dialect("openai")
    for length in range(270, 320):
        with FaultyServer(reply(dialect.complaint("x" * length + KEY), status=500)) as server:
            assert KEY[:5] not in str(failure(dialect.chat(server.url)))


@both
def test_a_server_that_recovers_answers_the_next_call(dialect: Dialect) -> None:
    with FaultyServer(hang_up, reply(dialect.answer())) as server:
        chat = dialect.chat(server.url)
        failure(chat)
        assert ask(chat) == ANSWER
        assert len(server.requests) == 2
