"""What goes over the wire, to the byte where it matters."""

from collections.abc import Callable

import pytest
from groundkit_core.errors import (
    ChatError,
    ChatProviderNotConfiguredError,
    ChatReplyError,
    ConfigurationError,
)
from groundkit_providers.budget import estimate_tokens
from groundkit_providers.llm import OllamaChat, OpenAICompatChat

from tests.providers.dialects import (
    ANSWER,
    KEY,
    KEY_NAME,
    PROMPT,
    SYSTEM,
    Dialect,
    ask,
    both,
    failure,
    without_proxies,
)
from tests.providers.faulty_server import FaultyServer, Request, reply

OLLAMA, OPENAI = Dialect("ollama"), Dialect("openai")


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


def sent(
    dialect: Dialect,
    build: Callable[[str], OllamaChat | OpenAICompatChat],
    prompt: str = PROMPT,
    system: str | None = SYSTEM,
) -> Request:
    """The one request of one call."""
    with FaultyServer(reply(dialect.answer())) as server:
        ask(build(server.url), prompt, system)
        (request,) = server.requests
        return request


def test_ollama_is_asked_for_one_whole_reply_to_a_whole_prompt() -> None:
    def build(url: str) -> OllamaChat:
        return OllamaChat(model_name="m:1b", base_url=url, temperature=0.5, max_output_tokens=77)

    request = sent(OLLAMA, build)
    assert request.line == "POST /api/generate HTTP/1.1"
    assert request.json == {
        "model": "m:1b",
        "prompt": PROMPT,
        "system": SYSTEM,
        "stream": False,
        "truncate": False,
        "options": {"temperature": 0.5, "num_predict": 77, "num_ctx": 4096},
    }
    assert "authorization" not in request.headers


def test_an_openai_compatible_server_is_asked_for_one_whole_reply() -> None:
    def build(url: str) -> OpenAICompatChat:
        return OpenAICompatChat(
            model_name="m",
            base_url=url,
            temperature=0.5,
            max_output_tokens=77,
            allow_private_endpoint=True,
        )

    request = sent(OPENAI, build)
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert request.json == {
        "model": "m",
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": PROMPT},
        ],
        "temperature": 0.5,
        "max_tokens": 77,
        "stream": False,
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"


@both
def test_an_uncompressed_json_reply_is_asked_for(dialect: Dialect) -> None:
    request = sent(dialect, dialect.chat)
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "identity"
    assert "cookie" not in request.headers


@both
def test_a_system_text_that_is_not_given_is_not_sent(dialect: Dialect) -> None:
    request = sent(dialect, dialect.chat, system=None)
    assert b"system" not in request.body


@both
def test_what_would_be_sent_is_what_is_sent(dialect: Dialect) -> None:
    with FaultyServer(reply(dialect.answer())) as server:
        chat = dialect.chat(server.url)
        ask(chat)
        assert isinstance(chat, OllamaChat | OpenAICompatChat)
        would = chat.request(PROMPT, system=SYSTEM)
        assert would.url == f"{server.url}{dialect.path}"
        assert would.body == server.requests[0].json
    assert KEY not in str(would)


@both
@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "//", "/v1//"])
def test_a_base_url_may_end_as_it_likes(dialect: Dialect, ending: str) -> None:
    if dialect.name == "ollama" and "v1" in ending:
        return
    with FaultyServer(reply(dialect.answer())) as server:
        ask(dialect.chat(server.url + ending))
        assert server.requests[0].line == f"POST {dialect.path} HTTP/1.1"


@both
def test_a_base_url_may_have_a_path(dialect: Dialect) -> None:
    with FaultyServer(reply(dialect.answer())) as server:
        ask(dialect.chat(f"{server.url}/of/my own"))
        assert server.requests[0].line == f"POST /of/my%20own{dialect.path} HTTP/1.1"


@pytest.mark.parametrize(
    ("prompt", "system", "output", "context"),
    [
        ("short", None, 1024, 4096),
        ("abcd " * 1120, None, 1024, 4096),
        ("abcd " * 1127, None, 1024, 8192),
        ("abcd " * 564, "abcd " * 564, 1024, 8192),
        ("short", None, 4096, 8192),
        ("茶" * 10_000, None, 1024, 32768),
        ("1" * 1_000_000, None, 1024, 1 << 20),
    ],
)
def test_ollamas_context_holds_the_prompt_and_the_reply(
    prompt: str, system: str | None, output: int, context: int
) -> None:
    def build(url: str) -> OllamaChat:
        return OllamaChat(model_name="m", base_url=url, max_output_tokens=output)

    options = sent(OLLAMA, build, prompt, system).json["options"]
    assert options == {"temperature": 0.0, "num_predict": output, "num_ctx": context}
    needed = estimate_tokens(prompt) + estimate_tokens(system or "") + output
    assert needed < context


@pytest.mark.parametrize(("missing", "whole"), [(-1, False), (0, False), (1, True)])
def test_a_prompt_that_fills_the_context_is_an_error(missing: int, whole: bool) -> None:
    body = OLLAMA.answer() | {"prompt_eval_count": 4096 - missing}
    with FaultyServer(reply(body)) as server:
        chat = OLLAMA.chat(server.url)
        if whole:
            assert ask(chat) == ANSWER
        else:
            error = failure(chat)
            assert type(error) is ChatReplyError
            assert "4096" in str(error)


@pytest.mark.parametrize("count", [0, 1, None])
def test_a_small_or_missing_prompt_count_proves_nothing(count: int | None) -> None:
    with FaultyServer(reply(OLLAMA.answer() | {"prompt_eval_count": count})) as server:
        assert ask(OLLAMA.chat(server.url)) == ANSWER


def test_the_token_limit_may_go_by_its_other_name() -> None:
    def build(url: str) -> OpenAICompatChat:
        return OpenAICompatChat(
            model_name="m",
            base_url=url,
            allow_private_endpoint=True,
            max_output_tokens=77,
            token_limit_param="max_completion_tokens",
        )

    body = sent(OPENAI, build).json
    assert body["max_completion_tokens"] == 77
    assert "max_tokens" not in body


def test_the_temperature_may_be_left_out() -> None:
    def build(url: str) -> OpenAICompatChat:
        return OpenAICompatChat(
            model_name="m", base_url=url, allow_private_endpoint=True, send_temperature=False
        )

    assert "temperature" not in sent(OPENAI, build).json


def test_the_key_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyServer(reply(OPENAI.answer())) as server:
        chat = OpenAICompatChat(
            model_name="m",
            base_url=server.url,
            api_key_env="ANOTHER_NAME",
            allow_private_endpoint=True,
        )
        for key in ("first", "second"):
            monkeypatch.setenv("ANOTHER_NAME", key)
            ask(chat)
        sent_keys = [request.headers["authorization"] for request in server.requests]
    assert sent_keys == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_key_is_named_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv(KEY_NAME)
    else:
        monkeypatch.setenv(KEY_NAME, value)
    error = failure(OpenAICompatChat(model_name="m", base_url="https://192.0.2.1.test"))
    assert type(error) is ChatProviderNotConfiguredError
    assert KEY_NAME in str(error)


def test_loopback_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_NAME)
    assert "authorization" not in sent(OPENAI, OPENAI.chat).headers


def test_ollama_never_sends_a_key() -> None:
    assert KEY.encode() not in sent(OLLAMA, OLLAMA.chat).body
    assert "authorization" not in sent(OLLAMA, OLLAMA.chat).headers


@both
def test_a_prompt_that_is_no_text_is_an_error_before_anything_is_sent(dialect: Dialect) -> None:
    with FaultyServer(reply(dialect.answer())) as server:
        with pytest.raises(ChatError) as caught:
            ask(dialect.chat(server.url), "canary \ud800", None)
        assert server.requests == []
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None


@both
@pytest.mark.parametrize("secret", ["api_key_env", "key"])
def test_a_provider_does_not_show_its_key(dialect: Dialect, secret: str) -> None:
    chat = dialect.chat("http://127.0.0.1:9")
    assert KEY not in f"{chat!r} {chat} {vars(chat)} {secret}"


def test_a_private_ollama_is_reached_with_permission_only() -> None:
    with pytest.raises(ConfigurationError, match="allow_private_endpoint"):
        OllamaChat(model_name="m", base_url="http://10.0.0.1:11434")
    OllamaChat(model_name="m", base_url="http://10.0.0.1:11434", allow_private_endpoint=True)
