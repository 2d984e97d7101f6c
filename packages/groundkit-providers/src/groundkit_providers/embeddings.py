"""Embedders behind `EmbeddingProtocol`, and the one place that chooses between them."""

from typing import Any

from groundkit_core.embedding import EmbeddingProtocol
from groundkit_core.errors import ConfigurationError

from groundkit_providers.embedding_config import EmbeddingConfig
from groundkit_providers.http_embedder import HttpEmbedder
from groundkit_providers.ollama_embedder import OllamaEmbedder
from groundkit_providers.openai_embedder import OpenAICompatibleEmbedder

__all__ = ["OllamaEmbedder", "OpenAICompatibleEmbedder", "build_embedder", "open_embedder"]

_SERVER_SETTINGS = {"batch_size", "timeout_seconds", "allow_private_endpoint"}


def build_embedder(config: EmbeddingConfig, *, dimensions: int | None = None) -> EmbeddingProtocol:
    """The embedder that a configuration names; texts reach it as they are, never redacted.

    `dimensions` are those of a collection that is there already: what a model behind HTTP has
    to give where the configuration does not say so.
    """
    if config.provider in ("ollama", "openai_compatible"):
        return _behind_http(config, dimensions)
    return _in_process(config)


async def open_embedder(config: EmbeddingConfig) -> EmbeddingProtocol:
    """`build_embedder`, and where nobody knows the dimensions, one request that tells them."""
    embedder = build_embedder(config)
    if isinstance(embedder, HttpEmbedder):
        await embedder.probe()
    return embedder


def _behind_http(
    config: EmbeddingConfig, dimensions: int | None
) -> OllamaEmbedder | OpenAICompatibleEmbedder:
    settings: dict[str, Any] = config.model_dump(include=_SERVER_SETTINGS) | _given(
        config, "base_url", "dimensions", "document_prefix", "query_prefix"
    )
    settings.setdefault("dimensions", dimensions)
    settings["model_name"] = _needed(config, "model_name", "--embed-model")
    if config.provider == "ollama":
        return OllamaEmbedder(**settings)
    settings["base_url"] = _needed(config, "base_url", "--embed-base-url")
    return OpenAICompatibleEmbedder(api_key_env=config.api_key_env, **settings)


def _in_process(config: EmbeddingConfig) -> EmbeddingProtocol:
    # Each of them is imported only where it is wanted: their libraries are large, or extras.
    if config.provider == "static":
        from groundkit_core.embedders.static import STATIC_MODEL, StaticEmbedder

        if config.model_name not in (None, STATIC_MODEL):
            raise ConfigurationError(
                f"embed.model_name: provider static has {STATIC_MODEL} and no other model "
                "(--embed-model)"
            )
        return StaticEmbedder(**_given(config, "dimensions"))
    if config.provider == "onnx":
        from groundkit_core.embedders.onnx import OnnxEmbedder

        folder = _needed(config, "model_name", "--embed-model")
        return OnnxEmbedder(folder, **_given(config, "document_prefix", "query_prefix"))
    from groundkit_core.testing import InMemoryEmbedder

    settings = _given(config, "model_name", "dimensions", "document_prefix", "query_prefix")
    return InMemoryEmbedder(**settings)


def _given(config: EmbeddingConfig, *names: str) -> dict[str, Any]:
    return config.model_dump(include=set(names), exclude_none=True)


def _needed(config: EmbeddingConfig, name: str, option: str) -> str:
    found: str | None = getattr(config, name)
    if not found:
        raise ConfigurationError(f"embed.{name}: provider {config.provider} needs it ({option})")
    return found
