"""The `--embed-*` options, and the embedder they ask for."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from groundkit_core.contracts import SearchMode
    from groundkit_core.embedding import EmbeddingIdentity, EmbeddingProtocol
    from groundkit_core.index.collection import Collection

_FLAGS = {
    "provider": "provider",
    "model_name": "model",
    "base_url": "base-url",
    "api_key_env": "api-key-env",
    "allow_private_endpoint": "allow-private-endpoint",
    "timeout_seconds": "timeout",
}

__all__ = [
    "AllowPrivate",
    "ApiKeyEnv",
    "BaseUrl",
    "BatchSize",
    "Dimensions",
    "DocumentPrefix",
    "MinSimilarity",
    "Mode",
    "Model",
    "Provider",
    "QueryPrefix",
    "Timeout",
    "embedder_for",
    "given",
    "searched_mode",
]

Mode = Annotated[
    str | None,
    typer.Option("--mode", help="bm25 (words), dense (vectors) or hybrid. [default: bm25]"),
]
MinSimilarity = Annotated[
    float | None,
    typer.Option("--min-similarity", help="Least cosine that counts as near. [default: none]"),
]
Provider = Annotated[
    str | None,
    typer.Option(
        "--embed-provider",
        help="static, onnx, ollama, openai_compatible (sends your texts there, in the clear) or "
        "inmemory. [default: the collection's, static for a new one]",
    ),
]
Model = Annotated[
    str | None, typer.Option("--embed-model", help="Its model; for onnx, the model's folder.")
]
BaseUrl = Annotated[str | None, typer.Option("--embed-base-url", help="Where its server is.")]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(
        "--embed-api-key-env",
        help="Variable that holds the key; '' sends none. [default: GROUNDKIT_OPENAI_API_KEY]",
    ),
]
AllowPrivate = Annotated[
    bool,
    typer.Option(
        "--embed-allow-private-endpoint", help="Permit a server on this machine or local network."
    ),
]
Timeout = Annotated[
    float | None, typer.Option("--embed-timeout", help="Seconds for a request. [default: 60]")
]
BatchSize = Annotated[
    int | None, typer.Option("--embed-batch-size", help="Most texts in a request. [default: 32]")
]
Dimensions = Annotated[
    int | None,
    typer.Option("--embed-dimensions", help="Numbers in a vector, if there is a choice."),
]
DocumentPrefix = Annotated[
    str | None, typer.Option("--embed-document-prefix", help="What goes before each passage.")
]
QueryPrefix = Annotated[
    str | None, typer.Option("--embed-query-prefix", help="What goes before each query.")
]


def given(
    provider: str | None,
    model: str | None,
    base_url: str | None,
    api_key_env: str | None,
    allow_private: bool,
    timeout: float | None,
    **others: Any,
) -> dict[str, Any]:
    """The options that were given, by the names of their settings."""
    flags = {
        "provider": provider,
        "model_name": model,
        "base_url": base_url,
        "api_key_env": api_key_env,
        "allow_private_endpoint": allow_private or None,
        "timeout_seconds": timeout,
        **others,
    }
    return {key: value for key, value in flags.items() if value is not None}


MAKE_VECTORS = "grk ingest PATH --dense"


def searched_mode(
    settings: dict[str, Any],
    collection: "Collection",
    mode: str | None,
    min_similarity: float | None,
    flags: dict[str, Any],
) -> "SearchMode":
    """The mode, after the collection was given its embedder where the mode needs one."""
    from groundkit_core.errors import (
        CollectionNotFoundError,
        ConfigurationError,
        RetrievalError,
    )

    if mode not in (None, "bm25", "dense", "hybrid"):
        raise ConfigurationError(f"--mode {mode}: it is bm25, dense or hybrid")
    if min_similarity is not None and not -1 <= min_similarity <= 1:
        raise ConfigurationError(f"--min-similarity {min_similarity}: it must be -1 to 1")
    if mode in (None, "bm25"):
        if flags or min_similarity is not None:
            first = next(iter(flags), None)
            option = f"--embed-{_FLAGS[first]}" if first else "--min-similarity"
            raise ConfigurationError(f"{option} has no use in mode bm25; add --mode hybrid")
        return "bm25"
    if not collection.exists():
        raise CollectionNotFoundError(collection.path)
    if collection.embedding() is None:
        raise RetrievalError(f"{collection.name} has no vectors; make them with: {MAKE_VECTORS}")
    collection.embedder = embedder_for(settings, collection, flags)
    return "dense" if mode == "dense" else "hybrid"


def embedder_for(
    settings: dict[str, Any],
    collection: "Collection | None",
    flags: dict[str, Any],
    *,
    afresh: bool = False,
) -> "EmbeddingProtocol":
    """The embedder that flags and settings name, and where they do not, the collection's.

    `afresh` is for vectors that will replace the collection's; without one there is nothing that
    they could have to fit.
    """
    from groundkit_core.blocking import result_of
    from groundkit_providers.config import resolve_embedding_config
    from groundkit_providers.embeddings import build_embedder, open_embedder

    identity = collection.embedding() if collection and collection.exists() else None
    own = identity.provider if identity is not None else None
    provider = flags.get("provider") or (None if afresh else own) or settings.get("provider") or own
    # What is stored for one provider, above all where it is, says nothing about another.
    stored = dict(settings) if settings.get("provider") in (None, provider) else {}
    if provider is not None:
        stored["provider"] = provider
    if identity is not None and not afresh and provider == own:
        stored |= _known(identity)
    config = resolve_embedding_config(stored, **flags)
    if identity is not None and not afresh and config.provider == identity.provider:
        return build_embedder(config, dimensions=identity.dimensions)
    return result_of(open_embedder(config))


def _known(identity: "EmbeddingIdentity") -> dict[str, Any]:
    """What an identity says about how to make its vectors again."""
    known: dict[str, Any] = {}
    if identity.provider in ("ollama", "openai_compatible", "inmemory"):
        known["model_name"] = identity.model_name
    if identity.provider in ("static", "inmemory"):
        known["dimensions"] = identity.dimensions
    if identity.provider != "static":
        known["document_prefix"] = identity.document_prefix
        known["query_prefix"] = identity.query_prefix
    return known
