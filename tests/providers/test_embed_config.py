"""Which model makes vectors: defaults, stored settings, flags, and what is built of them."""

import asyncio
from pathlib import Path

import pytest
from groundkit_core.embedders.static import STATIC_MODEL
from groundkit_core.embedding import identity_of
from groundkit_core.errors import (
    ConfigurationError,
    EmbeddingProviderNotConfiguredError,
    GroundkitError,
)
from groundkit_providers import config
from groundkit_providers.embedding_config import EmbeddingConfig, resolve_embedding_config
from groundkit_providers.embeddings import build_embedder, open_embedder
from pydantic import ValidationError

from tests.providers.dialects import without_proxies
from tests.providers.embed_dialects import EmbedDialect, embed, sent_texts, serving
from tests.providers.faulty_server import FaultyServer

DEFAULTS = {
    "provider": "static",
    "model_name": None,
    "base_url": None,
    "api_key_env": "GROUNDKIT_OPENAI_API_KEY",
    "dimensions": None,
    "document_prefix": None,
    "query_prefix": None,
    "batch_size": 32,
    "timeout_seconds": 60.0,
    "allow_private_endpoint": False,
}
HERE = {"base_url": "http://127.0.0.1:9", "allow_private_endpoint": True}


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


def test_the_defaults_need_no_server() -> None:
    assert EmbeddingConfig().model_dump() == DEFAULTS
    assert resolve_embedding_config() == resolve_embedding_config({}) == EmbeddingConfig()


def test_the_settings_of_both_boundaries_are_found_in_one_place() -> None:
    assert config.EmbeddingConfig is EmbeddingConfig
    assert config.resolve_embedding_config is resolve_embedding_config


def test_flags_win_over_stored_settings_over_defaults() -> None:
    stored = {"provider": "ollama", "model_name": "stored", "batch_size": "8"}
    found = resolve_embedding_config(
        stored, model_name="flag", dimensions=None, allow_private_endpoint=False
    )
    changed = {"provider": "ollama", "model_name": "flag", "batch_size": 8}
    assert found.model_dump() == DEFAULTS | changed
    assert stored == {"provider": "ollama", "model_name": "stored", "batch_size": "8"}


def test_an_empty_prefix_is_a_prefix() -> None:
    found = resolve_embedding_config({"document_prefix": "x"}, provider="onnx", document_prefix="")
    assert found.document_prefix == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("provider", "openai"),
        ("provider", "Static"),
        ("model_name", ""),
        ("dimensions", 0),
        ("dimensions", 1.5),
        ("batch_size", 0),
        ("batch_size", 513),
        ("timeout_seconds", 0),
        ("timeout_seconds", float("inf")),
        ("timeout_seconds", float("nan")),
        ("allow_private_endpoint", "perhaps"),
        ("api_key", "c4nary"),
        ("Model_Name", "c4nary"),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it_and_not_its_value(
    key: str, value: object
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_embedding_config({key: value})
    assert f"embed.{key}" in str(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert "c4nary" not in str(caught.value)


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "groundkit_key", "MY_GROUNDKIT_KEY"])
def test_only_a_flag_may_name_the_variable_of_another_program(name: str) -> None:
    stored = {"provider": "openai_compatible", "api_key_env": name}
    with pytest.raises(ConfigurationError) as caught:
        resolve_embedding_config(stored)
    for named in ("embed.api_key_env", name, "GROUNDKIT_", "--embed-api-key-env"):
        assert named in str(caught.value)
    found = resolve_embedding_config(provider="openai_compatible", api_key_env=name)
    assert found.api_key_env == name


def test_an_empty_variable_name_means_that_no_key_is_sent() -> None:
    assert resolve_embedding_config({"api_key_env": ""}).api_key_env is None
    found = resolve_embedding_config(provider="openai_compatible", api_key_env="")
    assert found.api_key_env is None


@pytest.mark.parametrize(
    ("provider", "flag", "value", "option"),
    [
        ("static", "base_url", "http://127.0.0.1:9", "--embed-base-url"),
        ("static", "document_prefix", "x", "--embed-document-prefix"),
        ("static", "batch_size", 8, "--embed-batch-size"),
        ("onnx", "timeout_seconds", 5.0, "--embed-timeout"),
        ("onnx", "dimensions", 5, "--embed-dimensions"),
        ("inmemory", "allow_private_endpoint", True, "--embed-allow-private-endpoint"),
        ("ollama", "api_key_env", "GROUNDKIT_X", "--embed-api-key-env"),
    ],
)
def test_a_flag_without_use_is_an_error_and_a_setting_is_not(
    provider: str, flag: str, value: object, option: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_embedding_config(None, provider=provider, **{flag: value})
    assert str(caught.value) == f"{option} has no use with provider {provider}"
    assert resolve_embedding_config({flag: value}, provider=provider).provider == provider


def test_a_configuration_cannot_change() -> None:
    with pytest.raises(ValidationError):
        EmbeddingConfig().provider = "onnx"


@pytest.mark.parametrize(
    ("settings", "built"),
    [
        ({}, "StaticEmbedder"),
        ({"model_name": STATIC_MODEL, "dimensions": 64}, "StaticEmbedder"),
        ({"provider": "inmemory"}, "InMemoryEmbedder"),
        ({"provider": "ollama", "model_name": "m"}, "OllamaEmbedder"),
        ({"provider": "openai_compatible", "model_name": "m", **HERE}, "OpenAICompatibleEmbedder"),
        (
            {
                "provider": "openai_compatible",
                "model_name": "m",
                "base_url": "https://model.test/v1",
            },
            "OpenAICompatibleEmbedder",
        ),
    ],
)
def test_each_provider_is_built_bare(settings: dict[str, object], built: str) -> None:
    if built == "StaticEmbedder":
        pytest.importorskip("safetensors", reason="groundkit-core[static] is missing")
    embedder = build_embedder(EmbeddingConfig.model_validate(settings))
    assert type(embedder).__name__ == built
    assert embedder.provider == settings.get("provider", "static")


def test_a_folder_is_opened_with_its_prefixes(tmp_path: Path) -> None:
    from tests.core.embedders.tiny_models import tiny_model

    folder = tiny_model(tmp_path / "tiny")
    (folder / "embedding.json").write_text('{"document_prefix": "red ", "query_prefix": "say : "}')
    found = EmbeddingConfig(provider="onnx", model_name=str(folder), query_prefix="")
    identity = identity_of(build_embedder(found))
    assert (identity.provider, identity.document_prefix, identity.query_prefix) == (
        "onnx",
        "red ",
        "",
    )


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"provider": "ollama"}, ConfigurationError, "--embed-model"),
        ({"provider": "onnx"}, ConfigurationError, "--embed-model"),
        ({"provider": "openai_compatible", **HERE}, ConfigurationError, "--embed-model"),
        (
            {"provider": "openai_compatible", "model_name": "m"},
            ConfigurationError,
            "--embed-base-url",
        ),
        (
            {"provider": "openai_compatible", "model_name": "m", "base_url": "http://127.0.0.1:9"},
            ConfigurationError,
            "--embed-allow-private-endpoint",
        ),
        ({"model_name": "another"}, ConfigurationError, STATIC_MODEL),
        ({"dimensions": 7}, ConfigurationError, "7 dimensions"),
        (
            {"provider": "onnx", "model_name": "no/such/folder"},
            EmbeddingProviderNotConfiguredError,
            "no/such/folder",
        ),
    ],
)
def test_what_is_missing_is_named(
    settings: dict[str, object], error: type[GroundkitError], words: str
) -> None:
    with pytest.raises(error) as caught:
        build_embedder(EmbeddingConfig.model_validate(settings))
    assert type(caught.value) is error
    assert words in str(caught.value)


@pytest.mark.parametrize("provider", ["ollama", "openai_compatible"])
def test_all_settings_reach_an_embedder_behind_http(provider: str) -> None:
    dialect = EmbedDialect("ollama" if provider == "ollama" else "openai")
    with FaultyServer(serving(dialect)) as server:
        found = EmbeddingConfig.model_validate(
            {
                "provider": provider,
                "model_name": "m",
                "base_url": server.url,
                "dimensions": 4,
                "document_prefix": "passage: ",
                "query_prefix": "Q: ",
                "batch_size": 2,
                "allow_private_endpoint": True,
            }
        )
        embedder = build_embedder(found)
        embed(embedder, ["a", "b", "c"])
        sent = [sent_texts(request) for request in server.requests]
        models = {request.json["model"] for request in server.requests}
    assert sent == [["passage: a", "passage: b"], ["passage: c"]]
    assert models == {"m"}
    assert embedder.dimensions == 4


def test_the_variable_of_the_key_reaches_the_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDKIT_TEAM_KEY", "c4nary-team")
    with FaultyServer(serving(EmbedDialect("openai"))) as server:
        for name in ("GROUNDKIT_TEAM_KEY", None):
            found = EmbeddingConfig(
                provider="openai_compatible",
                model_name="m",
                base_url=server.url,
                api_key_env=name,
                allow_private_endpoint=True,
            )
            embed(build_embedder(found), ["a"])
        sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == ["Bearer c4nary-team", None]


@pytest.mark.parametrize("asked", [None, 4])
def test_an_opened_embedder_knows_its_dimensions(asked: int | None) -> None:
    with FaultyServer(serving(EmbedDialect("ollama"))) as server:
        found = EmbeddingConfig(
            provider="ollama", model_name="m", base_url=server.url, dimensions=asked
        )
        assert asyncio.run(open_embedder(found)).dimensions == 4
        assert len(server.requests) == (asked is None)


def test_the_dimensions_of_a_collection_spare_the_request() -> None:
    with FaultyServer(serving(EmbedDialect("ollama"))) as server:
        unknown = EmbeddingConfig(provider="ollama", model_name="m", base_url=server.url)
        assert build_embedder(unknown, dimensions=4).dimensions == 4
        known = unknown.model_copy(update={"dimensions": 5})
        assert build_embedder(known, dimensions=4).dimensions == 5
        assert server.requests == []


def test_an_embedder_in_this_process_is_opened_as_it_is() -> None:
    found = EmbeddingConfig(provider="inmemory", dimensions=8)
    assert asyncio.run(open_embedder(found)).dimensions == 8
    assert build_embedder(found, dimensions=9).dimensions == 8
