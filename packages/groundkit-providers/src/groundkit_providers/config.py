"""Settings of the chat boundary."""

from collections.abc import Mapping
from typing import Literal

from groundkit_core.errors import ConfigurationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

__all__ = [
    "DEFAULT_API_KEY_ENV",
    "DEFAULT_CHAT_MODEL",
    "DEFAULT_OLLAMA_BASE_URL",
    "ChatConfig",
    "resolve_chat_config",
]

DEFAULT_CHAT_MODEL = "llama3.2:3b"
DEFAULT_OLLAMA_BASE_URL = "http://localhost:11434"
DEFAULT_API_KEY_ENV = "GROUNDKIT_OPENAI_API_KEY"


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
    that begin with `GROUNDKIT_`, so that no file can send another program's secret away.
    """
    stored = dict(settings or {})
    name = stored.get("api_key_env")
    if isinstance(name, str) and name and not name.startswith("GROUNDKIT_"):
        raise ConfigurationError(
            f"chat.api_key_env: {name} does not begin with GROUNDKIT_; "
            "only --chat-api-key-env may name another variable"
        )
    asked = stored | {key: value for key, value in flags.items() if value is not None}
    if asked.get("api_key_env") == "":
        asked["api_key_env"] = None
    problem = ""
    try:
        return ChatConfig.model_validate(asked)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        problem = f"chat.{'.'.join(map(str, first['loc']))}: {first['msg']}"
    raise ConfigurationError(problem)
