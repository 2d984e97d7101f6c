"""Which provider a configuration gives, and which of them redact."""

import pytest
from groundkit_core.errors import ChatProviderNotConfiguredError, ConfigurationError, GroundkitError
from groundkit_providers.config import ChatConfig, resolve_chat_config
from groundkit_providers.llm import build_chat
from groundkit_providers.redaction import RedactionConfig
from pydantic import ValidationError

LOCAL, NEAR, FAR = "http://localhost:11434", "http://10.0.0.1:11434", "https://model.test"
BARE, WRAPPED, SCRIPT = "OllamaChat", "RedactingChat", "ScriptedChatProvider"

# provider, base URL, permission, redaction, script → what is built.
ROWS: list[tuple[str, str, bool, str, bool, str | type[GroundkitError]]] = [
    ("ollama", LOCAL, False, "no", False, BARE),
    ("ollama", LOCAL, True, "no", False, BARE),
    ("ollama", "http://127.0.0.1:11434", False, "no", False, BARE),
    ("ollama", "http://[::1]:11434", False, "no", False, BARE),
    ("ollama", "http://LOCALHOST:11434/", False, "no", False, BARE),
    ("ollama", LOCAL, False, "default", False, WRAPPED),
    ("ollama", LOCAL, False, "empty", False, WRAPPED),
    ("ollama", NEAR, False, "no", False, ConfigurationError),
    ("ollama", NEAR, True, "no", False, WRAPPED),
    ("ollama", NEAR, True, "default", False, WRAPPED),
    ("ollama", NEAR, True, "empty", False, ConfigurationError),
    ("ollama", FAR, False, "no", False, WRAPPED),
    ("ollama", FAR, False, "default", False, WRAPPED),
    ("ollama", FAR, False, "empty", False, ConfigurationError),
    ("ollama", "http://localhost.model.test", False, "no", False, WRAPPED),
    ("ollama", "http://169.254.169.254", True, "no", False, ConfigurationError),
    ("ollama", LOCAL, False, "no", True, ConfigurationError),
    ("openai_compatible", FAR, False, "no", False, WRAPPED),
    ("openai_compatible", FAR, True, "no", False, WRAPPED),
    ("openai_compatible", FAR, False, "default", False, WRAPPED),
    ("openai_compatible", FAR, False, "empty", False, ConfigurationError),
    ("openai_compatible", FAR, False, "names", False, ConfigurationError),
    ("openai_compatible", LOCAL, False, "no", False, ConfigurationError),
    ("openai_compatible", LOCAL, True, "no", False, WRAPPED),
    ("openai_compatible", LOCAL, True, "default", False, WRAPPED),
    ("openai_compatible", LOCAL, True, "empty", False, ConfigurationError),
    ("openai_compatible", NEAR, True, "no", False, WRAPPED),
    ("openai_compatible", NEAR, False, "no", False, ConfigurationError),
    ("openai_compatible", FAR, False, "no", True, ConfigurationError),
    ("scripted", LOCAL, False, "no", False, ChatProviderNotConfiguredError),
    ("scripted", LOCAL, False, "no", True, SCRIPT),
    ("scripted", LOCAL, False, "default", True, WRAPPED),
    ("scripted", LOCAL, False, "default", False, ChatProviderNotConfiguredError),
]


@pytest.mark.parametrize(("provider", "url", "permitted", "redaction", "script", "built"), ROWS)
def test_each_row_builds_what_it_must(
    provider: str,
    url: str,
    permitted: bool,
    redaction: str,
    script: bool,
    built: str | type[GroundkitError],
) -> None:
    config = resolve_chat_config(
        provider=provider, base_url=url, allow_private_endpoint=permitted, model_name="m"
    )
    given = {
        "no": None,
        "default": RedactionConfig(),
        "empty": RedactionConfig(patterns=()),
        "names": RedactionConfig(patterns=(), names=("Ann",)),
    }[redaction]
    if isinstance(built, str):
        chat = build_chat(config, redaction=given, script=["x"] if script else None)
        assert type(chat).__name__ == built
        assert chat.provider == provider
    else:
        with pytest.raises(built) as caught:
            build_chat(config, redaction=given, script=["x"] if script else None)
        assert type(caught.value) is built
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("model", "built"),
    [
        ("gpt-oss:120b-cloud", WRAPPED),
        ("gpt-oss:cloud", WRAPPED),
        ("minimax-m2:CLOUD", WRAPPED),
        ("registry.test/me/gpt-oss:120b-cloud", WRAPPED),
        ("llama3.2:3b", BARE),
        ("cloud", BARE),
        ("my-cloud", BARE),
        ("cloudy:3b", BARE),
        ("cloud:3b", BARE),
    ],
)
def test_a_cloud_model_of_a_local_ollama_is_redacted(model: str, built: str) -> None:
    assert type(build_chat(ChatConfig(model_name=model))).__name__ == built


def test_the_settings_reach_the_provider() -> None:
    config = ChatConfig(
        provider="openai_compatible",
        model_name="m",
        base_url="https://model.test/v1",
        temperature=0.7,
        max_output_tokens=5,
        token_limit_param="max_completion_tokens",
    )
    chat = build_chat(config)
    assert (chat.provider, chat.model_name) == ("openai_compatible", "m")
    would = getattr(chat, "request")("?")  # noqa: B009
    assert would.url == "https://model.test/v1/chat/completions"
    assert would.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "?"}],
        "temperature": 0.7,
        "max_completion_tokens": 5,
        "stream": False,
    }


def test_the_defaults_are_a_local_ollama() -> None:
    assert ChatConfig().model_dump() == {
        "provider": "ollama",
        "model_name": "llama3.2:3b",
        "base_url": "http://localhost:11434",
        "api_key_env": "GROUNDKIT_OPENAI_API_KEY",
        "temperature": 0.0,
        "max_output_tokens": 1024,
        "timeout_seconds": 60.0,
        "allow_private_endpoint": False,
        "token_limit_param": "max_tokens",
        "send_temperature": True,
    }
    assert resolve_chat_config() == ChatConfig()


WRONG: list[tuple[str, object]] = [
    ("provider", "openai"),
    ("model_name", ""),
    ("temperature", -0.1),
    ("temperature", 2.1),
    ("temperature", float("nan")),
    ("max_output_tokens", 0),
    ("max_output_tokens", 1.5),
    ("timeout_seconds", 0),
    ("timeout_seconds", float("inf")),
    ("timeout_seconds", float("nan")),
    ("token_limit_param", "max_new_tokens"),
    ("send_temperature", None),
    ("api_key", "c4nary"),
    ("Model_Name", "m"),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_wrong_setting_is_refused_by_its_name(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        ChatConfig.model_validate({field: value})
    with pytest.raises(ConfigurationError) as caught:
        resolve_chat_config({field: value})
    assert f"chat.{field}" in str(caught.value)
    assert "c4nary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_config_is_frozen() -> None:
    with pytest.raises(ValidationError):
        ChatConfig().base_url = FAR


def test_flags_win_over_settings_and_settings_over_defaults() -> None:
    stored = {"model_name": "stored", "temperature": 0.5}
    resolved = resolve_chat_config(stored, model_name="flag", temperature=None, base_url=None)
    assert resolved == ChatConfig(model_name="flag", temperature=0.5)
    assert stored == {"model_name": "stored", "temperature": 0.5}


def test_a_false_flag_is_a_flag() -> None:
    stored = {"send_temperature": True, "allow_private_endpoint": True}
    resolved = resolve_chat_config(stored, send_temperature=False, allow_private_endpoint=False)
    assert resolved == ChatConfig(send_temperature=False)


@pytest.mark.parametrize("where", ["settings", "flag"])
def test_an_empty_key_variable_means_that_no_key_is_sent(where: str) -> None:
    from_settings = where == "settings"
    given = {"api_key_env": ""}
    resolved = resolve_chat_config(given) if from_settings else resolve_chat_config(api_key_env="")
    assert resolved.api_key_env is None


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "XGROUNDKIT_KEY", "groundkit_key", " "])
def test_settings_may_not_name_another_programs_secret(name: str) -> None:
    with pytest.raises(ConfigurationError, match="api_key_env"):
        resolve_chat_config({"api_key_env": name})
    assert resolve_chat_config(api_key_env=name).api_key_env == name
    assert resolve_chat_config({"api_key_env": "GROUNDKIT_MINE"}).api_key_env == "GROUNDKIT_MINE"
