"""What the usual servers send, and what becomes of it.

Each file in `replies/` says where its shape is documented.
"""

import re
from pathlib import Path

import pytest
from groundkit_core.errors import ChatError, ChatProviderNotConfiguredError, ChatReplyError

from tests.providers.dialects import Dialect, ask, failure, recorded, without_proxies
from tests.providers.faulty_server import FaultyServer, reply

ANSWER = "Pumps stop at 7 bar [1]."
REPLIES = Path(__file__).with_name("replies")

ANSWERS = ["ollama/answer", "ollama/thinking"] + [
    f"openai/{name}" for name in ("answer", "llama_cpp_answer", "vllm_reasoning")
]
TRUNCATED = ["ollama/length", "ollama/unfinished", "openai/length", "openai/reasoning_cut"]
NO_ANSWER = [
    "ollama/loaded",
    "ollama/thinking_only",
    "openai/reasoning_only",
    "openai/reasoning_only_renamed",
    "openai/refusal",
]
OTHER = {
    "ollama/prompt_too_long": "400: the input length exceeds the context length",
    "ollama/runner_died": "500: llama runner process has terminated: signal: killed",
    "openai/content_filter": "content_filter",
    "openai/tool_calls": "tool_calls|no answer text",
    "openai/unsupported_max_tokens": "max_completion_tokens.*token_limit_param.*"
    "--chat-token-limit-param",
    "openai/unsupported_temperature": "temperature.*send_temperature",
    "openai/temperature_not_supported": "temperature.*send_temperature",
    "openai/rate_limit": "429.*Rate limit reached",
    "openai/model_missing": "404.*does not exist",
    "openai/llama_cpp_context": "400.*exceeds the available context size",
    "openai/vllm_error": "400.*maximum context length is 4096 tokens",
    "openai/fastapi_detail": "422.*Field required",
}
UNCONFIGURED = {
    "ollama/model_missing": "not found.*ollama pull llama3.2:3b",
    "openai/bad_key": "GROUNDKIT_OPENAI_API_KEY.*Incorrect API key",
}


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


def serving(name: str) -> tuple[Dialect, FaultyServer]:
    server, _, reply_name = name.partition("/")
    status, body = recorded(server, reply_name)
    return Dialect(server), FaultyServer(reply(body, status=status))


def test_every_recorded_reply_is_used() -> None:
    recordings = {str(path.relative_to(REPLIES).with_suffix("")) for path in REPLIES.glob("*/*")}
    assert recordings == {*ANSWERS, *TRUNCATED, *NO_ANSWER, *OTHER, *UNCONFIGURED}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_whole_reply_is_the_answer(name: str) -> None:
    dialect, serve = serving(name)
    with serve as server:
        assert ask(dialect.chat(server.url)) == ANSWER


@pytest.mark.parametrize("name", TRUNCATED)
def test_a_reply_cut_off_is_said_to_be_truncated(name: str) -> None:
    message = refused(name, ChatReplyError)
    assert "truncated" in message
    assert "Pumps" not in message
    assert "1024" in message


@pytest.mark.parametrize("name", NO_ANSWER)
def test_a_reply_without_an_answer_says_so(name: str) -> None:
    message = refused(name, ChatReplyError)
    assert "no answer text" in message
    assert "maybe" not in message


@pytest.mark.parametrize("name", OTHER)
def test_a_servers_own_words_are_shown(name: str) -> None:
    ended = name in ("openai/content_filter", "openai/tool_calls")
    message = refused(name, ChatReplyError if ended else ChatError)
    assert re.search(OTHER[name], message)
    assert "Pumps" not in message


@pytest.mark.parametrize("name", UNCONFIGURED)
def test_what_only_the_user_can_give_is_named(name: str) -> None:
    message = refused(name, ChatProviderNotConfiguredError)
    assert re.search(UNCONFIGURED[name], message)
    assert "sk-canar" not in message


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 99999. This model supports at most 16384 completion tokens.",
        "max_tokens must be at least 1, got 0.",
        "5000 tokens were requested (3976 in the messages, 1024 in max_tokens), 4096 is the most.",
    ],
)
def test_another_complaint_about_the_limit_is_not_mistaken_for_its_name(words: str) -> None:
    body = {"error": {"message": words, "param": "max_tokens", "code": "invalid_value"}}
    with FaultyServer(reply(body, status=400)) as server:
        message = str(failure(Dialect("openai").chat(server.url)))
    assert words in message
    assert "token_limit_param" not in message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("done_reason", "length"),
        ("done", False),
        ("prompt_eval_count", "11"),
        ("prompt_eval_count", 11.5),
        ("done", "true"),
        ("thinking", ["x"]),
    ],
)
def test_a_wrong_field_of_ollama_is_an_error(field: str, value: object) -> None:
    dialect = Dialect("ollama")
    with FaultyServer(reply(dialect.answer() | {field: value})) as server:
        assert isinstance(failure(dialect.chat(server.url)), ChatError)


@pytest.mark.parametrize(
    "choices",
    [
        [],
        None,
        {},
        ["x"],
        [{}],
        [{"message": None}],
        [{"message": "x"}],
        [{"text": "x", "finish_reason": "stop"}],
        [{"delta": {"content": "x"}}],
        [{"message": {"content": [{"type": "text", "text": "x"}]}}],
        [{"message": {"content": "x"}, "finish_reason": 1}],
    ],
)
def test_choices_of_another_shape_are_an_error(choices: object) -> None:
    dialect = Dialect("openai")
    with FaultyServer(reply(dialect.answer() | {"choices": choices})) as server:
        assert isinstance(failure(dialect.chat(server.url)), ChatError)


def test_the_first_of_several_choices_is_the_answer() -> None:
    body = Dialect("openai").answer("first")
    body["choices"] += Dialect("openai").answer("second")["choices"]
    with FaultyServer(reply(body)) as server:
        assert ask(Dialect("openai").chat(server.url)) == "first"


def refused(name: str, kind: type[ChatError]) -> str:
    """The message of the one error, of exactly this kind, after one request."""
    dialect, serve = serving(name)
    with serve as server:
        error = failure(dialect.chat(server.url))
        assert len(server.requests) == 1
    assert type(error) is kind
    return str(error)
