"""Each way in which an embedding server can fail: one typed error, nothing confidential in it."""

import json
import re
import time
from collections.abc import Callable

import numpy as np
import pytest
from groundkit_core.errors import EmbeddingError, EmbeddingProviderNotConfiguredError
from groundkit_providers.http import MAX_REPLY_BYTES

from tests.providers.dialects import KEY, KEY_NAME, without_proxies
from tests.providers.embed_dialects import (
    TEXTS,
    EmbedDialect,
    embed,
    embed_failure,
    expected,
    serving,
    vector_of,
    with_both,
)
from tests.providers.faulty_server import (
    Behaviour,
    FaultyServer,
    cut_body,
    cut_chunks,
    drip,
    flood,
    hang_up,
    raw,
    reply,
    silence,
    unused_port,
)

Fault = Callable[[EmbedDialect], Behaviour]

MIB = 1024 * 1024
GOOD = [vector_of(text) for text in TEXTS]


def _whole(dialect: EmbedDialect) -> bytes:
    return json.dumps(dialect.answer(GOOD)).encode()


def _first_number_as(dialect: EmbedDialect, value: bytes) -> bytes:
    body = json.dumps(dialect.answer([[0.5, *GOOD[0][1:]], *GOOD[1:]])).encode()
    assert body.count(b"[0.5,") == 1
    return body.replace(b"[0.5,", b"[" + value + b",")


def _vectors(*rows: object) -> Fault:
    return lambda dialect: reply(dialect.answer(rows))


REPLIES: dict[str, tuple[Fault, str]] = {
    "a vector too few": (_vectors(*GOOD[:2]), "gave 2 vectors for 3 texts"),
    "a vector too many": (_vectors(*GOOD, GOOD[0]), "gave 4 vectors for 3 texts"),
    "no vectors": (_vectors(), "gave 0 vectors for 3 texts"),
    "another dimension": (_vectors(*[row[:3] for row in GOOD]), "gave 3 numbers for text 1"),
    "one of another dimension": (_vectors(GOOD[0], [1.0], GOOD[2]), "gave 1 numbers for text 2"),
    "an empty vector": (_vectors(GOOD[0], GOOD[1], []), "gave 0 numbers for text 3"),
    "zeros": (_vectors(GOOD[0], [0.0] * 4, GOOD[2]), "zeros.* text 2"),
    "too small to be a number": (_vectors(GOOD[0], GOOD[1], [1e-300] * 4), "zeros.* text 3"),
    "NaN": (lambda d: reply(_first_number_as(d, b"NaN")), "another shape.*NaN"),
    "Infinity": (lambda d: reply(_first_number_as(d, b"Infinity")), "another shape.*Infinity"),
    "infinite as float": (lambda d: reply(_first_number_as(d, b"1e999")), "text 1|another shape"),
    "infinite as float32": (lambda d: reply(_first_number_as(d, b"1e39")), "text 1"),
    "null": (lambda d: reply(_first_number_as(d, b"null")), "another shape.*number"),
    "a word": (lambda d: reply(_first_number_as(d, b'"0.5"')), "another shape.*number"),
    "true": (lambda d: reply(_first_number_as(d, b"true")), "another shape.*number"),
    "text for vectors": (_vectors("AACAPwAA", "AACAPwAA", "AACAPwAA"), "another shape"),
    "nothing for vectors": (_vectors(None, None, None), "another shape"),
    "an error with status 200": (lambda d: reply(d.complaint("model is lost")), "model is lost"),
    "a list": (lambda _: reply(GOOD), "another shape"),
    "an empty object": (lambda _: reply({}), "another shape.*required"),
    "no JSON": (lambda _: reply("warming up"), "another shape.*JSON"),
    "an empty body": (lambda _: reply(b""), "another shape.*JSON"),
    "half a body": (lambda d: reply(_whole(d)[:-9]), "another shape.*JSON"),
    "two bodies": (lambda d: reply(_whole(d) * 2), "another shape.*JSON"),
    "402": (lambda d: reply(d.complaint("no credit"), status=402), "402.*no credit"),
    "422": (lambda _: reply({"detail": "bad field"}, status=422), "422.*bad field"),
    "429": (lambda d: reply(d.complaint("slow"), "Retry-After: 0", status=429), "429.*slow"),
    "500": (lambda d: reply(d.complaint("out of memory"), status=500), "500.*out of memory"),
    "502": (lambda _: reply("<h1>Bad Gateway</h1>", status=502), "502.*Bad Gateway"),
    "503": (lambda _: reply("", status=503), "answered 503"),
    "206": (lambda d: reply(d.answer(GOOD), status=206), "answered 206"),
}

WIRES: dict[str, Fault] = {
    "no byte": lambda _: hang_up,
    "no HTTP": lambda _: raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "half a status line": lambda _: raw(b"HTTP/1.1 20"),
    "a cut body": lambda d: cut_body(_whole(d)),
    "cut chunks": lambda d: cut_chunks(_whole(d)),
}


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


@with_both
@pytest.mark.parametrize("fault", REPLIES)
def test_a_wrong_reply_is_one_error(dialect: EmbedDialect, fault: str) -> None:
    behaviour, words = REPLIES[fault]
    with FaultyServer(behaviour(dialect)) as server:
        error = embed_failure(dialect.embedder(server.url))
        assert len(server.requests) == server.connections == 1
    assert type(error) is EmbeddingError
    assert re.search(words, str(error))
    assert str(server.port) in str(error)


@with_both
@pytest.mark.parametrize("fault", WIRES)
def test_a_broken_reply_is_one_error(dialect: EmbedDialect, fault: str) -> None:
    with FaultyServer(WIRES[fault](dialect)) as server:
        error = embed_failure(dialect.embedder(server.url))
        assert len(server.requests) == server.connections == 1
    assert type(error) is EmbeddingError
    assert str(server.port) in str(error)


@pytest.mark.parametrize(
    "indexes", [[0, 0, 1], [1, 2, 3], [0, 2, 3], [-1, 0, 1], [2, 1, 1]], ids=repr
)
def test_vectors_that_cannot_be_placed_are_an_error(indexes: list[int]) -> None:
    dialect = EmbedDialect("openai")
    data = [{"index": index, "embedding": row} for index, row in zip(indexes, GOOD, strict=True)]
    with FaultyServer(reply({"data": data})) as server:
        error = embed_failure(dialect.embedder(server.url))
    assert type(error) is EmbeddingError
    assert "numbered" in str(error)


@pytest.mark.parametrize("index", [None, "0", 0.5, True])
def test_an_index_that_is_no_number_is_an_error(index: object) -> None:
    dialect = EmbedDialect("openai")
    with FaultyServer(reply({"data": [{"index": index, "embedding": GOOD[0]}]})) as server:
        error = embed_failure(dialect.embedder(server.url), TEXTS[:1])
    assert type(error) is EmbeddingError
    assert "data.0.index" in str(error)


@with_both
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(dialect: EmbedDialect, status: int) -> None:
    with FaultyServer(serving(dialect)) as other:
        location = f"Location: {other.url}{dialect.path}"
        with FaultyServer(reply("", location, status=status)) as server:
            error = embed_failure(dialect.embedder(server.url))
            assert len(server.requests) == 1
        assert other.connections == 0
    assert type(error) is EmbeddingError
    assert "redirect" in str(error)


@with_both
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_a_matter_of_configuration(dialect: EmbedDialect, status: int) -> None:
    with FaultyServer(reply(dialect.complaint("no entry here"), status=status)) as server:
        error = embed_failure(dialect.embedder(server.url))
        assert len(server.requests) == 1
    assert type(error) is EmbeddingProviderNotConfiguredError
    assert "no entry here" in str(error)
    assert (KEY_NAME in str(error)) is (dialect.name == "openai")


@with_both
def test_a_missing_model_is_named_with_its_remedy(dialect: EmbedDialect) -> None:
    with FaultyServer(reply(dialect.complaint("model not found"), status=404)) as server:
        error = embed_failure(dialect.embedder(server.url))
        assert len(server.requests) == 1
    if dialect.name == "ollama":
        assert type(error) is EmbeddingProviderNotConfiguredError
        assert "ollama pull nomic" in str(error)
    else:
        assert type(error) is EmbeddingError
        assert "model not found" in str(error)


@with_both
def test_nobody_listening_is_said_with_the_place(dialect: EmbedDialect) -> None:
    port = unused_port()
    error = embed_failure(dialect.embedder(f"http://127.0.0.1:{port}"))
    assert type(error) is EmbeddingError
    assert f"127.0.0.1:{port}" in str(error)


@with_both
@pytest.mark.parametrize("wait", ["first byte", "body"])
def test_waiting_ends_at_the_deadline(dialect: EmbedDialect, wait: str) -> None:
    with FaultyServer(silence if wait == "first byte" else drip(_whole(dialect))) as server:
        embedder = dialect.embedder(server.url, timeout_seconds=2)
        began = time.monotonic()
        error = embed_failure(embedder)
        assert 1.8 < time.monotonic() - began < 5
        assert len(server.requests) == 1
    assert type(error) is EmbeddingError
    assert "2 s" in str(error)


@with_both
@pytest.mark.parametrize("echoed", [TEXTS[0], TEXTS[0][20:60], json.dumps(TEXTS[0]), KEY])
@pytest.mark.parametrize("status", [400, 404, 500])
def test_words_of_a_server_are_shown_without_what_is_ours(
    dialect: EmbedDialect, echoed: str, status: int
) -> None:
    words = f"overloaded: {echoed} (sorry)"
    if dialect.name == "ollama" and echoed == KEY:
        return  # it was never told
    with FaultyServer(reply(dialect.complaint(words), status=status)) as server:
        error = embed_failure(dialect.embedder(server.url), TEXTS[:1])
    assert "overloaded" in str(error)
    assert "(sorry)" in str(error)
    assert "opper kettle" not in str(error)
    assert "c4nary" not in str(error)


@with_both
def test_a_text_that_is_no_text_is_an_error_before_anything_is_sent(dialect: EmbedDialect) -> None:
    with FaultyServer(serving(dialect)) as server:
        error = embed_failure(dialect.embedder(server.url), ["canary \ud800"])
        assert server.requests == []
    assert type(error) is EmbeddingError
    assert "canary" not in str(error)


@with_both
def test_a_server_that_recovers_answers_the_next_call(dialect: EmbedDialect) -> None:
    with FaultyServer(hang_up, serving(dialect)) as server:
        embedder = dialect.embedder(server.url)
        embed_failure(embedder)
        np.testing.assert_allclose(embed(embedder), expected(TEXTS), atol=1e-6)
        assert len(server.requests) == 2


@with_both
@pytest.mark.parametrize("texts", [1, 32])
def test_an_endless_reply_is_cut_off(dialect: EmbedDialect, texts: int) -> None:
    with FaultyServer(flood(256 * MIB, announced=False)) as server:
        error = embed_failure(dialect.embedder(server.url), ["canary"] * texts)
        assert len(server.requests) == 1
    assert type(error) is EmbeddingError
    assert f"larger than {MAX_REPLY_BYTES} bytes" in str(error)
    assert server.requests[0].sent < MAX_REPLY_BYTES + 24 * MIB


@with_both
def test_a_large_batch_of_long_vectors_is_read(dialect: EmbedDialect) -> None:
    texts = [f"text {number}" for number in range(128)]
    row = [-0.012345678901234567 - number * 1e-17 for number in range(4096)]
    body = json.dumps(dialect.answer([row] * len(texts))).encode()
    assert len(body) > MAX_REPLY_BYTES
    with FaultyServer(reply(body)) as server:
        found = embed(dialect.embedder(server.url, dimensions=4096, batch_size=128), texts)
        assert len(server.requests) == 1
    np.testing.assert_allclose(found, np.full((128, 4096), -1 / 64), atol=1e-6)


@with_both
def test_the_permitted_size_of_a_reply_grows_with_the_batch(dialect: EmbedDialect) -> None:
    with FaultyServer(flood(128 * MIB, announced=True)) as server:
        error = embed_failure(dialect.embedder(server.url, batch_size=64), ["canary"] * 64)
    assert f"larger than {16 * MIB} bytes" in str(error)
