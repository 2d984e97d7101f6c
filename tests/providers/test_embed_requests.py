"""What goes over the wire for vectors: bodies, prefixes, batches, halves, keys, places."""

import asyncio
import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from groundkit_core.embedding import Purpose, identity_of
from groundkit_core.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingProviderNotConfiguredError,
)
from groundkit_providers import http
from groundkit_providers.embeddings import OllamaEmbedder, OpenAICompatibleEmbedder

from tests.providers.dialects import KEY, KEY_NAME, without_proxies
from tests.providers.embed_dialects import (
    DIMENSIONS,
    TEXTS,
    EmbedDialect,
    embed,
    embed_failure,
    expected,
    sent_texts,
    serving,
    vector_of,
    with_both,
)
from tests.providers.faulty_server import FaultyServer, hang_up, reply

OLLAMA, OPENAI = EmbedDialect("ollama"), EmbedDialect("openai")


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


def test_ollama_is_asked_for_vectors_of_whole_texts() -> None:
    with FaultyServer(serving(OLLAMA)) as server:
        embed(OllamaEmbedder(model_name="m:1b", base_url=server.url))
        (request,) = server.requests
    assert request.line == "POST /api/embed HTTP/1.1"
    assert request.json == {"model": "m:1b", "input": TEXTS, "truncate": False}
    assert "authorization" not in request.headers
    assert request.headers["accept-encoding"] == "identity"


def test_an_openai_compatible_server_is_asked_for_vectors_as_numbers() -> None:
    with FaultyServer(serving(OPENAI)) as server:
        embed(
            OpenAICompatibleEmbedder(
                model_name="m", base_url=server.url, allow_private_endpoint=True, dimensions=4
            )
        )
        (request,) = server.requests
    assert request.line == "POST /v1/embeddings HTTP/1.1"
    assert request.json == {"model": "m", "input": TEXTS, "encoding_format": "float"}
    assert request.headers["authorization"] == f"Bearer {KEY}"


@with_both
@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "//", "/v1//"])
def test_a_base_url_may_end_as_it_likes(dialect: EmbedDialect, ending: str) -> None:
    if dialect.name == "ollama" and "v1" in ending:
        return
    with FaultyServer(serving(dialect)) as server:
        embed(dialect.embedder(server.url + ending))
        assert server.requests[0].line == f"POST {dialect.path} HTTP/1.1"


@with_both
@pytest.mark.parametrize(("purpose", "prefix"), [("document", "passage: "), ("query", "Q: ")])
def test_the_prefix_of_the_purpose_goes_before_each_text(
    dialect: EmbedDialect, purpose: str, prefix: str
) -> None:
    prefixed = [prefix + text for text in TEXTS]
    with FaultyServer(serving(dialect)) as server:
        embedder = dialect.embedder(server.url, document_prefix="passage: ", query_prefix="Q: ")
        found = embed(embedder, TEXTS, cast("Purpose", purpose))
        assert sent_texts(server.requests[0]) == prefixed
    np.testing.assert_allclose(found, expected(prefixed), atol=1e-6)
    assert (embedder.document_prefix, embedder.query_prefix) == ("passage: ", "Q: ")


@with_both
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_no_request_holds_more_texts_than_a_batch(dialect: EmbedDialect, size: int) -> None:
    texts = [f"text number {number}" for number in range(7)]
    with FaultyServer(serving(dialect, inputs=size)) as server:
        found = embed(dialect.embedder(server.url, batch_size=size), texts)
        sent = [sent_texts(request) for request in server.requests]
    assert sent == [texts[start : start + size] for start in range(0, 7, size)]
    np.testing.assert_allclose(found, expected(texts), atol=1e-6)


def halves(texts: Sequence[str], most: int) -> list[list[str]]:
    """The requests for a batch of which a server takes no more than `most` texts."""
    if len(texts) <= most:
        return [list(texts)]
    half = len(texts) // 2
    return [list(texts), *halves(texts[:half], most), *halves(texts[half:], most)]


@with_both
@pytest.mark.parametrize("status", [400, 413])
def test_a_batch_that_is_too_large_is_sent_in_halves(dialect: EmbedDialect, status: int) -> None:
    texts = [f"passage {number} of nineteen, each of nine words or so" for number in range(19)]
    with FaultyServer(serving(dialect, inputs=8, tokens=100, status=status)) as server:
        found = embed(dialect.embedder(server.url), texts)
        sent = [sent_texts(request) for request in server.requests]
    assert sent == halves(texts, 8)
    assert found.shape == (19, DIMENSIONS)
    np.testing.assert_allclose(found, expected(texts), atol=1e-6)


@with_both
def test_a_batch_of_too_many_words_is_sent_in_halves(dialect: EmbedDialect) -> None:
    texts = [" ".join(f"w{number}" for _ in range(60)) for number in range(8)]
    with FaultyServer(serving(dialect, inputs=8, tokens=100)) as server:
        found = embed(dialect.embedder(server.url), texts)
        sent = [sent_texts(request) for request in server.requests]
    assert sent == halves(texts, 1)
    np.testing.assert_allclose(found, expected(texts), atol=1e-6)


@with_both
@pytest.mark.parametrize("status", [400, 413])
@pytest.mark.parametrize("place", [1, 2, 6, 7])
def test_a_text_that_is_refused_by_itself_is_named_by_its_place(
    dialect: EmbedDialect, status: int, place: int
) -> None:
    texts = [f"canary {number}" for number in range(7)]
    texts[place - 1] = "canary " * 101
    with FaultyServer(serving(dialect, tokens=100, status=status)) as server:
        error = embed_failure(dialect.embedder(server.url, batch_size=4), texts)
        assert [texts[place - 1]] == sent_texts(server.requests[-1])
    assert type(error) is EmbeddingError
    assert f"refused text {place} by itself ({status}): too many" in str(error)


@with_both
@pytest.mark.parametrize("status", [401, 404, 422, 429, 500, 503])
def test_other_refusals_are_final(dialect: EmbedDialect, status: int) -> None:
    with FaultyServer(reply({"detail": "too many"}, status=status), serving(dialect)) as server:
        embed_failure(dialect.embedder(server.url), TEXTS)
        assert len(server.requests) == 1


@with_both
def test_a_fault_in_a_later_batch_is_named_by_the_place_in_all(dialect: EmbedDialect) -> None:
    good = serving(dialect)
    bad = reply(dialect.answer([[1.0, 0, 0, 0], [0.0] * 4]))
    with FaultyServer(good, bad) as server:
        error = embed_failure(dialect.embedder(server.url, batch_size=2), [*TEXTS, "canary four"])
    assert "for text 4" in str(error)


@with_both
@pytest.mark.parametrize("texts", [["canary", ""], ["canary", " \n\t"]])
def test_a_blank_text_is_an_error_before_anything_is_sent(
    dialect: EmbedDialect, texts: list[str]
) -> None:
    with FaultyServer(serving(dialect)) as server:
        with pytest.raises(EmbeddingError, match="text 2: it is blank"):
            embed(dialect.embedder(server.url, document_prefix="passage: "), texts)
        assert server.requests == []


@with_both
def test_dimensions_are_learned_from_one_request(dialect: EmbedDialect) -> None:
    with FaultyServer(serving(dialect)) as server:
        embedder = dialect.embedder(server.url, dimensions=None)
        with pytest.raises(EmbeddingProviderNotConfiguredError, match="--embed-dimensions"):
            _ = embedder.dimensions
        assert server.requests == []
        assert [asyncio.run(embedder.probe()) for _ in range(2)] == [4, 4]
        assert len(server.requests) == 1
        assert identity_of(embedder).dimensions == 4
        embed(embedder)


@with_both
def test_dimensions_that_are_given_cost_no_request(dialect: EmbedDialect) -> None:
    with FaultyServer(serving(dialect)) as server:
        assert asyncio.run(dialect.embedder(server.url, dimensions=7).probe()) == 7
        assert server.requests == []


@with_both
def test_dimensions_that_were_learned_hold(dialect: EmbedDialect) -> None:
    with FaultyServer(serving(dialect), reply(dialect.answer([[1.0, 2.0, 3.0]]))) as server:
        embedder = dialect.embedder(server.url, dimensions=None)
        embed(embedder)
        error = embed_failure(embedder, TEXTS[:1])
        assert embedder.dimensions == 4
    assert "gave 3 numbers for text 1" in str(error)


@with_both
def test_a_failed_probe_learns_nothing(dialect: EmbedDialect) -> None:
    with FaultyServer(reply(dialect.answer([[]])), serving(dialect)) as server:
        embedder = dialect.embedder(server.url, dimensions=None)
        with pytest.raises(EmbeddingError, match="0 numbers"):
            asyncio.run(embedder.probe())
        assert asyncio.run(embedder.probe()) == 4


def test_the_key_is_read_at_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer(serving(OPENAI)) as server:
        embedder = OpenAICompatibleEmbedder(
            model_name="m",
            base_url=server.url,
            api_key_env="ANOTHER_NAME",
            allow_private_endpoint=True,
        )
        for key in ("first", "second"):
            monkeypatch.setenv("ANOTHER_NAME", key)
            embed(embedder)
        sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer first", "Bearer second"]


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_NAME)
    error = embed_failure(OpenAICompatibleEmbedder(model_name="m", base_url="https://model.test"))
    assert type(error) is EmbeddingProviderNotConfiguredError
    assert KEY_NAME in str(error)


def test_a_key_is_not_sent_over_plain_http_and_the_flag_is_that_of_embeddings() -> None:
    embedder = OpenAICompatibleEmbedder(
        model_name="m", base_url="http://10.0.0.1", allow_private_endpoint=True
    )
    error = embed_failure(embedder)
    assert type(error) is EmbeddingProviderNotConfiguredError
    assert "plain HTTP" in str(error)
    assert "--embed-api-key-env ''" in str(error)


@pytest.mark.parametrize(
    ("build", "url"),
    [
        (OllamaEmbedder, "http://10.0.0.1:11434"),
        (OpenAICompatibleEmbedder, "http://127.0.0.1:8080"),
        (OpenAICompatibleEmbedder, "http://192.168.1.1"),
    ],
)
def test_a_private_place_needs_the_permission_of_embeddings(
    build: type[OllamaEmbedder | OpenAICompatibleEmbedder], url: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        build(model_name="m", base_url=url)
    assert "--embed-allow-private-endpoint" in str(caught.value)
    assert build(model_name="m", base_url=url, allow_private_endpoint=True).model_name == "m"


def test_going_without_a_key_needs_the_permission_of_embeddings() -> None:
    with pytest.raises(ConfigurationError, match="--embed-allow-private-endpoint"):
        OpenAICompatibleEmbedder(model_name="m", base_url="https://model.test", api_key_env=None)


@with_both
@pytest.mark.parametrize(
    "url", ["http://169.254.169.254", "ftp://model.test", "https://u:p@model.test", "model.test"]
)
def test_an_address_that_is_never_right_is_refused(dialect: EmbedDialect, url: str) -> None:
    with pytest.raises(ConfigurationError):
        dialect.embedder(url, allow_private_endpoint=True)


@with_both
def test_a_name_that_leads_to_a_private_place_is_refused(
    dialect: EmbedDialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def inside(host: str, port: int) -> list[str]:  # noqa: ARG001
        return ["93.184.216.34", "10.0.0.7"]

    monkeypatch.setattr(http, "resolve_host", inside)
    error = embed_failure(dialect.embedder("https://model.test", allow_private_endpoint=False))
    assert type(error) is EmbeddingError
    assert "10.0.0.7" in str(error)
    assert "--embed-allow-private-endpoint" in str(error)


@with_both
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
def test_loopback_is_never_reached_through_a_proxy(
    dialect: EmbedDialect, monkeypatch: pytest.MonkeyPatch, host: str, variable: str
) -> None:
    with FaultyServer(serving(dialect)) as server, FaultyServer(hang_up) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        found = embed(dialect.embedder(f"http://{host}:{server.port}"))
        assert proxy.connections == 0
    np.testing.assert_allclose(found, expected(TEXTS), atol=1e-6)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
def test_a_remote_host_is_reached_through_the_proxy(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    with FaultyServer(serving(OLLAMA)) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        embed(OLLAMA.embedder("http://model.test:8080"))
        (request,) = proxy.requests
    assert request.line == "POST http://model.test:8080/api/embed HTTP/1.1"


@with_both
def test_calls_at_once_do_not_mix(dialect: EmbedDialect) -> None:
    async def all_at_once(url: str) -> list[object]:
        embedder = dialect.embedder(url, dimensions=None)
        calls = [embedder.embed([f"text {n}"], purpose="query") for n in range(5)]
        return [found.tolist() for found in await asyncio.gather(*calls)]

    with FaultyServer(serving(dialect)) as server:
        found = asyncio.run(all_at_once(server.url))
    np.testing.assert_allclose(
        np.array(found)[:, 0], expected([f"text {n}" for n in range(5)]), atol=1e-6
    )


def test_a_vector_is_made_as_long_as_one() -> None:
    row = vector_of("x")
    assert math.hypot(*row) > 1
    with FaultyServer(serving(OLLAMA)) as server:
        (found,) = embed(OLLAMA.embedder(server.url), ["x"])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.array(row) / math.hypot(*row), atol=1e-6)


@with_both
def test_an_embedder_does_not_show_its_key(dialect: EmbedDialect) -> None:
    embedder = dialect.embedder("http://127.0.0.1:9")
    assert KEY not in f"{embedder!r} {embedder} {vars(embedder)}"
