"""Settings of the embedding boundary."""

from collections.abc import Mapping
from typing import Literal

from groundkit_core.errors import ConfigurationError
from pydantic import BaseModel, ConfigDict, Field

from groundkit_providers.settings import DEFAULT_API_KEY_ENV, resolved

__all__ = ["EmbeddingConfig", "resolve_embedding_config"]

_OPTIONS = {"model_name": "--embed-model", "timeout_seconds": "--embed-timeout"}
_OF_A_SERVER = {
    "allow_private_endpoint",
    "api_key_env",
    "base_url",
    "batch_size",
    "timeout_seconds",
}
# What each provider has no use for.
_NO_USE = {
    "static": {*_OF_A_SERVER, "document_prefix", "query_prefix"},
    "onnx": {*_OF_A_SERVER, "dimensions"},
    "inmemory": _OF_A_SERVER,
    "ollama": {"api_key_env"},
    "openai_compatible": set[str](),
}


class EmbeddingConfig(BaseModel):
    """Which model makes vectors, where it is and how it is asked.

    `model_name` is the path of a folder for `onnx`; `static` has one model, which needs no name.
    `dimensions` None takes what the model gives; a prefix of None is the model's own or none.
    `api_key_env` and `allow_private_endpoint` are those of `ChatConfig`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: Literal["static", "onnx", "ollama", "openai_compatible", "inmemory"] = "static"
    model_name: str | None = Field(default=None, min_length=1)
    base_url: str | None = None
    api_key_env: str | None = DEFAULT_API_KEY_ENV
    dimensions: int | None = Field(default=None, gt=0)
    document_prefix: str | None = None
    query_prefix: str | None = None
    batch_size: int = Field(default=32, gt=0, le=512)
    timeout_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    allow_private_endpoint: bool = False


def resolve_embedding_config(
    settings: Mapping[str, object] | None = None, **flags: object
) -> EmbeddingConfig:
    """The defaults, overlaid by stored settings, overlaid by every flag that is not None.

    A flag that its provider has no use for is an error; a stored setting is not.
    """
    config = resolved(EmbeddingConfig, "embed", "--embed", settings, flags)
    for key in sorted(_NO_USE[config.provider]):
        if flags.get(key) is not None:
            option = _OPTIONS.get(key, f"--embed-{key.replace('_', '-')}")
            raise ConfigurationError(f"{option} has no use with provider {config.provider}")
    return config
