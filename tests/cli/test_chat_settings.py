"""Where settings of the chat come from, and flags that a run has no use for."""

import pytest

from tests.cli.answering_helpers import QUERY, SCRIPTED, answered, ollama, openai
from tests.cli.conftest import Invoke
from tests.cli.shell import Shell
from tests.cli.test_settings import PROJECT_FILE, USER_FILE
from tests.providers.faulty_server import FaultyServer

CLOUD = ("--chat-provider", "openai_compatible", "--chat-model", "m")
AT_HOME = (*CLOUD, "--chat-base-url", "http://127.0.0.1:9", "--chat-allow-private-endpoint")
SECRET = "canary-7319"

NO_USE: dict[str, tuple[tuple[str, ...], str]] = {
    **{
        f"{flag} with a script": ((*SCRIPTED, flag, *value), flag)
        for flag, *value in (
            ("--chat-model", "m"),
            ("--chat-base-url", "http://localhost:9"),
            ("--chat-api-key-env", "GROUNDKIT_X"),
            ("--chat-allow-private-endpoint",),
            ("--chat-temperature", "0"),
            ("--chat-no-temperature",),
            ("--chat-max-output-tokens", "9"),
            ("--chat-timeout", "9"),
            ("--chat-token-limit-param", "max_tokens"),
        )
    },
    "a key for Ollama": (("--chat-api-key-env", "GROUNDKIT_X"), "--chat-api-key-env"),
    "no key for Ollama": (("--chat-api-key-env", ""), "--chat-api-key-env"),
    "no temperature for Ollama": (("--chat-no-temperature",), "--chat-no-temperature"),
    "a limit's name for Ollama": (
        ("--chat-token-limit-param", "max_tokens"),
        "--chat-token-limit-param",
    ),
    "a script for Ollama": (("--chat-script", "replies.json"), "--chat-script"),
    "a script for a server": ((*AT_HOME, "--chat-script", "replies.json"), "--chat-script"),
    "an audit of nothing": (("--show-redactions",), "--redact"),
    "a rewrite in a dry run": (("--dry-run", "--rewrite"), "--rewrite"),
    "a judge in a dry run": (("--dry-run", "--judge"), "--judge"),
}
WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "an unknown provider": (("--chat-provider", "anthropic"), "chat.provider"),
    "a server without an address": (CLOUD, "--chat-base-url"),
    "a server without a model": (
        (*CLOUD[:2], "--chat-base-url", "https://model.invalid"),
        "--chat-model",
    ),
    "a private address without permission": (AT_HOME[:-1], "--chat-allow-private-endpoint"),
    "an address without a scheme": (("--chat-base-url", "localhost:11434"), "base_url"),
    "an address with credentials": (
        ("--chat-base-url", f"http://me:{SECRET}@localhost:9"),
        "base_url",
    ),
    "a port out of range": (("--chat-base-url", "http://localhost:65536"), "base_url"),
    "a temperature too high": (("--chat-temperature", "3"), "chat.temperature"),
    "no reply at all": (("--chat-max-output-tokens", "0"), "chat.max_output_tokens"),
    "no time": (("--chat-timeout", "0"), "chat.timeout_seconds"),
    "endless time": (("--chat-timeout", "inf"), "chat.timeout_seconds"),
    "an unknown limit": ((*AT_HOME, "--chat-token-limit-param", "n"), "chat.token_limit_param"),
    "a cloud without a key": (
        (*CLOUD, "--chat-base-url", "https://model.invalid", "--chat-api-key-env", ""),
        "api_key_env",
    ),
    "a pattern without a kind": (("--redact-pattern", r"\d+"), "KIND=REGEX"),
    "a pattern that is none": (("--redact-pattern", "BADGE=("), "BADGE"),
    "a kind that names no token": (("--redact-pattern", "my badge=x"), "redact"),
    "an empty name": (("--redact-name", ""), "name"),
}


@pytest.mark.parametrize(
    ("args", "named"), [*NO_USE.values(), *WRONG.values()], ids=[*NO_USE, *WRONG]
)
def test_a_flag_of_no_use_or_sense_is_named_before_any_work(
    grk: Shell, invoke: Invoke, args: tuple[str, ...], named: str
) -> None:
    grk.write("replies.json", "[]")
    ran = invoke("answer", "x", *args, GROUNDKIT_OPENAI_API_KEY=SECRET)
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith("grk: ")
    assert named in line
    assert SECRET not in line


PROJECT = {
    "chat.base_url": "[chat]\nbase_url = 'http://collector.example'\n",
    "chat.api_key_env": "[chat]\napi_key_env = 'GROUNDKIT_OPENAI_API_KEY'\n",
    "chat.allow_private_endpoint": "[chat]\nallow_private_endpoint = true\n",
    "chat.provider": "[chat]\nprovider = 'openai_compatible'\n",
    "chat.model_name": "[chat]\nmodel_name = 'some-cloud'\n",
    "redaction.names": "[redaction]\nnames = []\n",
    "redaction.patterns": "[redaction.patterns]\nBADGE = 'x'\n",
}


@pytest.mark.parametrize(("key", "content"), PROJECT.items(), ids=PROJECT.keys())
def test_a_project_may_not_say_where_texts_and_secrets_go(
    grk: Shell, invoke: Invoke, key: str, content: str
) -> None:
    grk.write(PROJECT_FILE, content)
    with FaultyServer(answered("It stops [1].")) as server:
        ran = invoke("answer", "x", *ollama(server))
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    for named in (f"grk: {PROJECT_FILE}: ", key, str(grk.folder / USER_FILE), "environment"):
        assert named in line
    assert "collector" not in line
    assert server.connections == 0


WRONG_SETTINGS = {
    "an unknown key": ("[chat]\nmodel = 'm'\n", "chat.model"),
    "an unknown provider": ("[chat]\nprovider = 'x'\n", "chat.provider"),
    "a wrong number": ("[chat]\ntemperature = 'warm'\n", "chat.temperature"),
    "a section for a name": ("[chat.model_name]\nx = 1\n", "chat.model_name"),
    "another program's key": ("[chat]\napi_key_env = 'AWS_SECRET_ACCESS_KEY'\n", "GROUNDKIT_"),
    "a name that is no list": ("[redaction]\nnames = 'Ada Byron'\n", "redaction.names"),
    "a name that is no text": ("[redaction]\nnames = [1]\n", "redaction.names"),
    "patterns in a list": ("[redaction]\npatterns = ['x']\n", "redaction.patterns"),
    "a pattern that is no text": ("[redaction.patterns]\nBADGE = 1\n", "redaction.patterns"),
    "a pattern that is none": ("[redaction.patterns]\nBADGE = '('\n", "BADGE"),
    "a kind that names no token": ("[redaction.patterns]\nbadge = 'x'\n", "redaction.patterns"),
    "detection that is no truth": ("[redaction]\ndetect_names = 'yes'\n", "redaction.detect_names"),
}


@pytest.mark.parametrize(("content", "named"), WRONG_SETTINGS.values(), ids=WRONG_SETTINGS.keys())
def test_a_wrong_setting_of_the_user_is_an_error_that_names_it(
    grk: Shell, invoke: Invoke, content: str, named: str
) -> None:
    grk.write(USER_FILE, content)
    ran = invoke("answer", "x", "--redact")
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith("grk: ")
    assert named in line


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("GROUNDKIT__CHAT__TEMPERATURE", "warm", "chat.temperature"),
        ("GROUNDKIT__CHAT__API_KEY_ENV", "AWS_SECRET_ACCESS_KEY", "GROUNDKIT_"),
        ("GROUNDKIT__CHAT__KEY", "x", "chat.key"),
        ("GROUNDKIT__REDACTION__NAMES", "Ada Byron", "redaction.names"),
        ("GROUNDKIT__REDACTION__PATTERNS", "x", "redaction.patterns"),
        ("GROUNDKIT__REDACTION__DETECT_NAMES", "perhaps", "redaction.detect_names"),
    ],
)
def test_a_wrong_variable_is_an_error_that_names_it(
    invoke: Invoke, name: str, value: str, named: str
) -> None:
    ran = invoke("answer", "x", "--redact", **{name: value})
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert named in line


def test_detection_of_names_can_be_turned_off_in_the_environment(invoke: Invoke) -> None:
    for value in ("false", "0"):
        ran = invoke("answer", "x", "--redact", GROUNDKIT__REDACTION__DETECT_NAMES=value)
        assert ran.exit_code == 3


def test_flags_win_over_environment_over_the_users_file(indexed: Shell) -> None:
    with FaultyServer(answered("It stops [1].")) as server, FaultyServer() as unused:
        indexed.write(
            USER_FILE,
            f"[chat]\nbase_url = '{unused.url}'\nmodel_name = 'of-the-file'\n"
            "temperature = 0.25\nmax_output_tokens = 7\n",
        )
        env = {
            "GROUNDKIT__CHAT__BASE_URL": server.url,
            "GROUNDKIT__CHAT__MODEL_NAME": "of-the-environment",
            "GROUNDKIT__CHAT__MAX_OUTPUT_TOKENS": "9",
        }
        indexed("answer", QUERY, "--chat-model", "of-the-flag", env=env)
    (request,) = server.requests
    assert request.json["model"] == "of-the-flag"
    options = request.json["options"]
    assert isinstance(options, dict)
    assert (options["num_predict"], options["temperature"]) == (9, 0.25)
    assert unused.connections == 0


@pytest.mark.parametrize(
    ("flags", "sent"),
    [
        ((), "Bearer ours"),
        (("--chat-api-key-env", "OTHER_KEY"), "Bearer of-another-program"),
        (("--chat-api-key-env", ""), None),
    ],
    ids=str,
)
def test_the_key_is_that_of_the_variable_named(
    indexed: Shell, flags: tuple[str, ...], sent: str | None
) -> None:
    keys = {"GROUNDKIT_OPENAI_API_KEY": "ours", "OTHER_KEY": "of-another-program"}
    with FaultyServer(answered("It stops [1].", "openai")) as server:
        ran = indexed("answer", QUERY, *openai(server), *flags, env=keys)
    (request,) = server.requests
    assert request.headers.get("authorization") == sent
    assert "another-program" not in ran.out + ran.err


def test_a_cloud_without_its_key_names_the_variable(indexed: Shell) -> None:
    ran = indexed("answer", QUERY, *CLOUD, "--chat-base-url", "https://model.invalid", code=4)
    assert "GROUNDKIT_OPENAI_API_KEY is not set" in ran.err
    assert len(ran.err.splitlines()) == 1
