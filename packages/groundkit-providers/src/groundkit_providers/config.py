"""Settings of the chat boundary, and those of the embedding boundary by name."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from groundkit_providers.embedding_config import EmbeddingConfig, resolve_embedding_config
from groundkit_providers.settings import DEFAULT_API_KEY_ENV, DEFAULT_OLLAMA_BASE_URL, resolved

__all__ = [
    "DEFAULT_API_KEY_ENV",
    "DEFAULT_CHAT_MODEL",
    "DEFAULT_OLLAMA_BASE_URL",
    "ChatConfig",
    "EmbeddingConfig",
    "resolve_chat_config",
    "resolve_embedding_config",
]

DEFAULT_CHAT_MODEL = "llama3.2:3b"


class ChatConfig(BaseModel):
    """Which model answers, where it is and how it is asked.

    `api_key_env` names the variable that holds the key; None sends none, to private endpoints
    only. `allow_private_endpoint` permits addresses of this machine and of private networks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: Literal["ollama", "openai_compatible", "scripted"] = "ollama"
    model_name: str = Field(default=DEFAULT_CHAT_MODEL, min_length=1)
    base_url: str = DEFAULT_OLLAMA_BASE_URL
    api_key_env: str | None = DEFAULT_API_KEY_ENV
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    max_output_tokens: int = Field(default=1024, gt=0)
    timeout_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    allow_private_endpoint: bool = False
    token_limit_param: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    send_temperature: bool = True


def resolve_chat_config(
    settings: Mapping[str, object] | None = None, **flags: object
) -> ChatConfig:
    """The defaults, overlaid by stored settings, overlaid by every flag that is not None.

    An empty `api_key_env` means that no key is sent. Stored settings may name only variables
    that begin with `GROUNDKIT_`.
    """
    return resolved(ChatConfig, "chat", "--chat", settings, flags)
