"""The `--chat-*` and `--redact-*` options, and what they ask for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from groundkit_providers.config import ChatConfig
    from groundkit_providers.protocols import ChatProtocol
    from groundkit_providers.redaction import RedactionConfig, RedactionPattern

    from groundkit_cli.settings import Settings
    from groundkit_cli.stored import StoredRedaction

__all__ = [
    "AllowPrivate",
    "ApiKeyEnv",
    "BaseUrl",
    "DetectNames",
    "MaxOutputTokens",
    "Model",
    "NoTemperature",
    "Provider",
    "Redact",
    "RedactNames",
    "RedactPatterns",
    "Script",
    "Temperature",
    "Timeout",
    "TokenLimitParam",
    "chat_config",
    "chat_for",
    "given",
    "lasting",
    "read_script",
    "redaction_config",
]

Provider = Annotated[
    str | None,
    typer.Option(
        "--chat-provider", help="ollama, openai_compatible or scripted. [default: ollama]"
    ),
]
Model = Annotated[
    str | None, typer.Option("--chat-model", help="Name of the model. [default: llama3.2:3b]")
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--chat-base-url", help="Where it is. [default: http://localhost:11434]"),
]
Script = Annotated[
    Path | None, typer.Option("--chat-script", help="JSON list of replies, for scripted.")
]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(
        "--chat-api-key-env",
        help="Variable that holds the key; '' sends none. [default: GROUNDKIT_OPENAI_API_KEY]",
    ),
]
AllowPrivate = Annotated[
    bool,
    typer.Option(
        "--chat-allow-private-endpoint", help="Permit a server on this machine or a local network."
    ),
]
Temperature = Annotated[
    float | None, typer.Option("--chat-temperature", help="0 to 2. [default: 0]")
]
NoTemperature = Annotated[bool, typer.Option("--chat-no-temperature", help="Send no temperature.")]
MaxOutputTokens = Annotated[
    int | None,
    typer.Option("--chat-max-output-tokens", help="Most tokens of a reply. [default: 1024]"),
]
Timeout = Annotated[
    float | None, typer.Option("--chat-timeout", help="Seconds for a whole call. [default: 60]")
]
TokenLimitParam = Annotated[
    str | None,
    typer.Option(
        "--chat-token-limit-param",
        help="max_tokens or max_completion_tokens. [default: max_tokens]",
    ),
]
Redact = Annotated[
    bool, typer.Option("--redact", help="Redact although the model is on this machine.")
]
RedactNames = Annotated[
    list[str] | None,
    typer.Option("--redact-name", metavar="NAME", help="A name to redact."),
]
RedactPatterns = Annotated[
    list[str] | None,
    typer.Option("--redact-pattern", metavar="KIND=REGEX", help="What else to redact."),
]
DetectNames = Annotated[
    bool,
    typer.Option("--detect-names", help="Redact names that a spaCy model finds (an extra)."),
]

_OPTIONS = {
    "model_name": "--chat-model",
    "base_url": "--chat-base-url",
    "api_key_env": "--chat-api-key-env",
    "allow_private_endpoint": "--chat-allow-private-endpoint",
    "temperature": "--chat-temperature",
    "send_temperature": "--chat-no-temperature",
    "max_output_tokens": "--chat-max-output-tokens",
    "timeout_seconds": "--chat-timeout",
    "token_limit_param": "--chat-token-limit-param",
}
_NO_USE = {
    "scripted": set(_OPTIONS),
    "ollama": {"api_key_env", "send_temperature", "token_limit_param"},
}


def given(
    provider: str | None,
    model: str | None,
    base_url: str | None,
    api_key_env: str | None,
    allow_private: bool,
    temperature: float | None,
    no_temperature: bool,
    max_output_tokens: int | None,
    timeout: float | None,
    token_limit_param: str | None,
) -> dict[str, Any]:
    """The options that were given, by the names of their settings."""
    flags = {
        "provider": provider,
        "model_name": model,
        "base_url": base_url,
        "api_key_env": api_key_env,
        "allow_private_endpoint": allow_private or None,
        "temperature": temperature,
        "send_temperature": False if no_temperature else None,
        "max_output_tokens": max_output_tokens,
        "timeout_seconds": timeout,
        "token_limit_param": token_limit_param,
    }
    return {key: value for key, value in flags.items() if value is not None}


def chat_for(
    settings: "Settings",
    flags: dict[str, Any],
    script: Path | None,
    redact: bool,
    names: list[str] | None,
    patterns: list[str] | None,
    detect_names: bool,
) -> tuple["ChatProtocol", "ChatConfig"]:
    """The model that flags and settings name, redacting where it must or is asked to."""
    from groundkit_providers.llm import build_chat, is_sent_away

    config = chat_config(settings.chat, script, **flags)
    redaction = None
    if redact or names or patterns or detect_names or is_sent_away(config):
        redaction = redaction_config(settings.redaction, names, patterns, detect_names)
    return build_chat(config, redaction=redaction, script=read_script(script)), config


def lasting(config: "ChatConfig", *redaction: Any) -> str:
    """The settings that replies depend on, besides the model; where its server is, is none."""
    kept = config.model_dump_json(include={"temperature", "send_temperature", "max_output_tokens"})
    return f"{kept} {redaction}"


def chat_config(settings: dict[str, Any], script: Path | None, **flags: Any) -> "ChatConfig":
    """The chat settings asked for; a flag that its provider has no use for is an error."""
    from groundkit_core.errors import ConfigurationError
    from groundkit_providers.config import resolve_chat_config

    config = resolve_chat_config(settings, **flags)
    for key in sorted(_NO_USE.get(config.provider, ())):
        if flags.get(key) is not None:
            raise ConfigurationError(f"{_OPTIONS[key]} has no use with provider {config.provider}")
    if script is not None and config.provider != "scripted":
        raise ConfigurationError(f"--chat-script has no use with provider {config.provider}")
    if config.provider == "openai_compatible":
        for key in ("base_url", "model_name"):
            if settings.get(key) is None and flags.get(key) is None:
                raise ConfigurationError(
                    f"provider openai_compatible needs {_OPTIONS[key]} (or chat.{key})"
                )
    return config


def read_script(file: Path | None) -> list[str] | None:
    """The replies in a script file."""
    import json

    from groundkit_core.errors import ConfigurationError

    if file is None:
        return None
    problem = "it must be a JSON list of strings"
    try:
        replies = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(replies, list) and all(isinstance(reply, str) for reply in replies):
            return replies
    except OSError as error:
        problem = error.strerror or str(error)
    except (ValueError, RecursionError):
        pass
    raise ConfigurationError(f"--chat-script {file}: {problem}")


def redaction_config(
    settings: dict[str, Any],
    names: list[str] | None,
    patterns: list[str] | None,
    detect_names: bool,
) -> "RedactionConfig":
    """The default patterns and whatever settings and flags add to them."""
    from groundkit_providers.redaction import DEFAULT_PATTERNS, RedactionConfig

    stored = _stored_redaction(settings)
    added = dict(stored.patterns)
    for option in patterns or []:
        kind, _, pattern = option.partition("=")
        added[kind] = pattern
    detector = None
    if detect_names or stored.detect_names:
        from groundkit_providers.names import SpacyNameDetector

        detector = SpacyNameDetector()
    return RedactionConfig(
        patterns=(*DEFAULT_PATTERNS, *(_pattern(*each) for each in added.items())),
        names=(*stored.names, *(names or ())),
        detector=detector,
    )


def _pattern(kind: str, pattern: str) -> "RedactionPattern":
    from groundkit_core.errors import ConfigurationError
    from groundkit_providers.redaction import RedactionPattern
    from pydantic import ValidationError

    try:
        return RedactionPattern(name=kind, pattern=pattern)
    except ValidationError as error:
        reason = error.errors(include_input=False)[0]["msg"]
    raise ConfigurationError(
        f"--redact-pattern, redaction.patterns: it must be KIND=REGEX, a kind like BADGE: {reason}"
    )


def _stored_redaction(settings: dict[str, Any]) -> "StoredRedaction":
    from groundkit_core.errors import ConfigurationError
    from pydantic import ValidationError

    from groundkit_cli.stored import StoredRedaction

    try:
        return StoredRedaction.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
    raise ConfigurationError(f"redaction.{first['loc'][0]}: {first['msg']}")
