"""What every embedder does, whichever it is."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import pytest
from groundkit_core.embedders.onnx import OnnxEmbedder
from groundkit_core.embedders.static import StaticEmbedder
from groundkit_core.embedding import EmbeddingProtocol, identity_of
from groundkit_core.errors import EmbeddingError
from groundkit_core.testing import InMemoryEmbedder
from groundkit_providers.embeddings import (
    OllamaEmbedder,
    OpenAICompatibleEmbedder,
    build_embedder,
)
from groundkit_providers.http_embedder import HttpEmbedder

from tests.providers.dialects import without_proxies
from tests.providers.embed_dialects import EmbedDialect, embed, serving
from tests.providers.faulty_server import FaultyServer

IMPLEMENTATIONS = [
    InMemoryEmbedder,
    OllamaEmbedder,
    OnnxEmbedder,
    OpenAICompatibleEmbedder,
    StaticEmbedder,
]
GREEN, BLUE = "green ", "blue "
TEXTS = ["red pump", "blue valve valve", "green", "red pump"]

Making = Callable[[Path], AbstractContextManager[EmbeddingProtocol]]


@contextmanager
def _inmemory(_: Path) -> Iterator[EmbeddingProtocol]:
    yield InMemoryEmbedder(dimensions=16, document_prefix=GREEN, query_prefix=BLUE)


@contextmanager
def _static(_: Path) -> Iterator[EmbeddingProtocol]:
    pytest.importorskip("safetensors", reason="groundkit-core[static] is missing")
    yield StaticEmbedder()


@contextmanager
def _onnx(folder: Path) -> Iterator[EmbeddingProtocol]:
    from tests.core.embedders.tiny_models import tiny_model

    yield OnnxEmbedder(tiny_model(folder), document_prefix=GREEN, query_prefix=BLUE)


def _behind_http(name: str) -> Making:
    @contextmanager
    def made(_: Path) -> Iterator[EmbeddingProtocol]:
        dialect = EmbedDialect(name)
        with FaultyServer(serving(dialect, inputs=3)) as server:
            yield dialect.embedder(server.url, document_prefix=GREEN, query_prefix=BLUE)

    return made


MAKING: dict[str, Making] = {
    "inmemory": _inmemory,
    "static": _static,
    "onnx": _onnx,
    "ollama": _behind_http("ollama"),
    "openai_compatible": _behind_http("openai"),
}


@pytest.fixture(params=MAKING)
def embedder(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[EmbeddingProtocol]:
    without_proxies(monkeypatch)
    with MAKING[request.param](tmp_path / "model") as made:
        assert made.provider == request.param
        yield made


def test_it_is_an_embedder_with_an_identity(embedder: EmbeddingProtocol) -> None:
    assert isinstance(embedder, EmbeddingProtocol)
    identity = identity_of(embedder)
    assert identity.model_name
    assert identity.dimensions > 0
    if identity.provider != "static":
        assert (identity.document_prefix, identity.query_prefix) == (GREEN, BLUE)


def test_each_text_has_one_row_of_length_one_in_its_place(embedder: EmbeddingProtocol) -> None:
    found = embed(embedder, TEXTS)
    assert found.shape == (4, embedder.dimensions)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.ones(4), atol=1e-6)
    for text, row in zip(TEXTS, found, strict=True):
        np.testing.assert_allclose(embed(embedder, [text])[0], row, atol=1e-6)
    assert len({row.tobytes() for row in found}) == 3


def test_the_order_of_the_texts_is_the_order_of_the_rows(embedder: EmbeddingProtocol) -> None:
    forwards, backwards = embed(embedder, TEXTS), embed(embedder, TEXTS[::-1])
    np.testing.assert_allclose(forwards, backwards[::-1], atol=1e-6)


def test_the_purpose_chooses_the_prefix(embedder: EmbeddingProtocol) -> None:
    document, query = embed(embedder, ["red"]), embed(embedder, ["red"], "query")
    assert np.allclose(document, query, atol=1e-6) is (embedder.provider == "static")


def test_no_texts_have_no_rows(embedder: EmbeddingProtocol) -> None:
    assert embed(embedder, []).shape == (0, embedder.dimensions)


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_text_is_an_error_that_names_its_place(
    embedder: EmbeddingProtocol, blank: str
) -> None:
    with pytest.raises(EmbeddingError, match="text 2"):
        embed(embedder, ["red", blank])


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_each_implementation_has_the_signature_of_the_seam(implementation: type) -> None:
    assert shape(implementation) == shape(EmbeddingProtocol)


def test_a_drifted_signature_is_seen() -> None:
    class Drifted(InMemoryEmbedder):
        async def embed(self, texts, purpose="document"):  # type: ignore[no-untyped-def]
            return await super().embed(texts, purpose=purpose)

    assert shape(Drifted) != shape(EmbeddingProtocol)


def shape(kind: type) -> tuple[object, ...]:
    """Names, kinds, defaults and types of what an embedder is asked with."""
    embed = inspect.getattr_static(kind, "embed")
    signature = inspect.signature(embed, eval_str=True)
    parameters = list(signature.parameters.values())
    return parameters, signature.return_annotation, inspect.iscoroutinefunction(embed)


def test_both_that_speak_http_share_their_checks() -> None:
    for implementation in (OllamaEmbedder, OpenAICompatibleEmbedder):
        assert implementation.embed is HttpEmbedder.embed


def test_every_provider_of_the_settings_has_an_implementation_here() -> None:
    from groundkit_providers.embedding_config import EmbeddingConfig

    named = EmbeddingConfig.model_json_schema()["properties"]["provider"]["enum"]
    assert sorted(named) == sorted(MAKING)
    assert build_embedder(EmbeddingConfig(provider="inmemory")).provider == "inmemory"
