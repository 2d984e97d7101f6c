"""Which model answers: defaults, stored settings, flags."""

import pytest
from groundkit_core.errors import ConfigurationError
from groundkit_providers.config import (
    DEFAULT_API_KEY_ENV,
    DEFAULT_CHAT_MODEL,
    DEFAULT_OLLAMA_BASE_URL,
    ChatConfig,
    resolve_chat_config,
)
from pydantic import ValidationError

DEFAULTS = {
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


def test_the_defaults_are_these() -> None:
    assert ChatConfig().model_dump() == DEFAULTS
    assert resolve_chat_config() == resolve_chat_config({}) == ChatConfig()
    named = (DEFAULT_CHAT_MODEL, DEFAULT_OLLAMA_BASE_URL, DEFAULT_API_KEY_ENV)
    assert named == (DEFAULTS["model_name"], DEFAULTS["base_url"], DEFAULTS["api_key_env"])


def test_flags_win_over_stored_settings_over_defaults() -> None:
    stored = {"model_name": "stored", "temperature": 0.5}
    config = resolve_chat_config(stored, model_name="flag", temperature=None, timeout_seconds=None)
    assert config.model_dump() == DEFAULTS | {"model_name": "flag", "temperature": 0.5}
    assert stored == {"model_name": "stored", "temperature": 0.5}


def test_a_flag_of_zero_or_false_is_a_flag() -> None:
    stored: dict[str, object] = {
        "temperature": 1.0,
        "send_temperature": True,
        "allow_private_endpoint": True,
    }
    config = resolve_chat_config(
        stored, temperature=0.0, send_temperature=False, allow_private_endpoint=False
    )
    assert (config.temperature, config.send_temperature) == (0.0, False)
    assert not config.allow_private_endpoint


def test_what_the_environment_spells_is_read() -> None:
    config = resolve_chat_config(
        {"temperature": "0.5", "max_output_tokens": "7", "allow_private_endpoint": "false"}
    )
    assert (config.temperature, config.max_output_tokens) == (0.5, 7)
    assert config.allow_private_endpoint is False


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("provider", "anthropic"),
        ("provider", "Ollama"),
        ("model_name", ""),
        ("temperature", -0.1),
        ("temperature", 2.1),
        ("temperature", float("nan")),
        ("temperature", "warm"),
        ("max_output_tokens", 0),
        ("max_output_tokens", 1.5),
        ("timeout_seconds", 0),
        ("timeout_seconds", -1),
        ("timeout_seconds", float("inf")),
        ("timeout_seconds", float("nan")),
        ("allow_private_endpoint", "perhaps"),
        ("token_limit_param", "words"),
        ("base_url", None),
        ("streaming", True),
    ],
)
def test_a_wrong_setting_is_an_error_that_names_it_and_not_its_value(
    key: str, value: object
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_chat_config({key: value})
    assert f"chat.{key}" in str(caught.value)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    if isinstance(value, str) and value:
        assert value not in str(caught.value)
    with pytest.raises(ValidationError):
        ChatConfig.model_validate({key: value})


@pytest.mark.parametrize(
    "name",
    ["AWS_SECRET_ACCESS_KEY", "groundkit_key", "MY_GROUNDKIT_KEY", "GROUNDKIT", " GROUNDKIT_"],
)
def test_only_a_flag_may_name_the_variable_of_another_program(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_chat_config({"api_key_env": name})
    for named in ("chat.api_key_env", name.strip(), "GROUNDKIT_", "--chat-api-key-env"):
        assert named in str(caught.value)
    assert resolve_chat_config(api_key_env=name).api_key_env == name


def test_a_stored_variable_of_ours_is_taken() -> None:
    stored = {"api_key_env": "GROUNDKIT_TEAM_KEY"}
    assert resolve_chat_config(stored).api_key_env == "GROUNDKIT_TEAM_KEY"


def test_a_stored_variable_is_refused_even_where_a_flag_names_another() -> None:
    with pytest.raises(ConfigurationError):
        resolve_chat_config({"api_key_env": "AWS_SECRET_ACCESS_KEY"}, api_key_env="GROUNDKIT_X")


def test_an_empty_variable_name_means_that_no_key_is_sent() -> None:
    assert resolve_chat_config({"api_key_env": ""}).api_key_env is None
    assert resolve_chat_config(api_key_env="").api_key_env is None
    stored = {"api_key_env": "GROUNDKIT_TEAM_KEY"}
    assert resolve_chat_config(stored, api_key_env="").api_key_env is None


def test_a_configuration_cannot_change() -> None:
    with pytest.raises(ValidationError):
        ChatConfig().provider = "scripted"
