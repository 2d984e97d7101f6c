"""What a redacting chat lets over a real connection, and what it puts back."""

import asyncio
import base64
import json
import re
from collections import Counter
from urllib.parse import quote

import pytest
from groundkit_core.errors import ChatError
from groundkit_providers.config import ChatConfig
from groundkit_providers.llm import RedactingChat, build_chat
from groundkit_providers.redaction import RedactionConfig

from tests.providers.dialects import (
    DIALECTS,
    KEY_NAME,
    Dialect,
    ask,
    both,
    echo,
    failure,
    without_proxies,
)
from tests.providers.faulty_server import Behaviour, FaultyServer, Request, reply

TOKEN = re.compile(r"\[[A-Z][A-Z0-9_]*_[1-9][0-9]*\]")
PLANTED = {
    "EMAIL": "jo.canary@mail.example.co.uk",
    "PHONE": "+44 20 7946 0958",
    "IPV4": "203.0.113.77",
    "CARD": "4111 1111 1111 1111",
    "IBAN": "GB82 WEST 1234 5698 7654 32",
    "US_SSN": "536-90-4399",
    "API_KEY": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXBhcnQ",
}
LETTER = "".join(f"{kind}: {value};\n" for kind, value in PLANTED.items())


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


def saying(dialect: Dialect, text: str) -> Behaviour:
    return reply(dialect.answer(text))


def holds(request: Request, value: str) -> bool:
    """Whether a value stands in a request, as it is or in a usual encoding."""
    raw = request.body + request.line.encode() + str(request.headers).encode()
    forms = {value, quote(value), quote(value, safe=""), json.dumps(value)[1:-1]}
    for shift in range(3):
        encoded = base64.b64encode(b"." * shift + value.encode()).decode()
        forms.add(encoded[4 if shift else 0 : -4])
    return any(form.encode() in raw for form in forms)


@both
def test_no_planted_value_is_on_the_wire_and_all_come_back(dialect: Dialect) -> None:
    with FaultyServer(echo(dialect)) as server:
        chat = RedactingChat(dialect.chat(server.url))
        assert ask(chat, LETTER, LETTER) == LETTER
        (request,) = server.requests
    assert [value for value in PLANTED.values() if holds(request, value)] == []
    assert len(set(TOKEN.findall(str(dialect.asked(request)[0])))) == len(PLANTED)


@both
def test_without_redaction_the_same_recorder_sees_every_value(dialect: Dialect) -> None:
    with FaultyServer(echo(dialect)) as server:
        ask(dialect.chat(server.url), LETTER, None)
        assert all(holds(server.requests[0], value) for value in PLANTED.values())


@both
def test_neighbouring_values_are_all_replaced(dialect: Dialect) -> None:
    text = "a@example.com b@example.org c@example.net"
    with FaultyServer(echo(dialect)) as server:
        assert ask(RedactingChat(dialect.chat(server.url)), text, None) == text
        prompt = str(dialect.asked(server.requests[0])[0])
    assert prompt == "[EMAIL_1] [EMAIL_2] [EMAIL_3]"


@both
def test_system_and_prompt_share_the_token_of_a_value(dialect: Dialect) -> None:
    with FaultyServer(saying(dialect, "ok")) as server:
        chat = RedactingChat(dialect.chat(server.url))
        ask(chat, "a@example.com or b@example.com", "Never write to b@example.com.")
        prompt, system = dialect.asked(server.requests[0])
    tokens = TOKEN.findall(f"{system} {prompt}")
    assert len(tokens) == 3
    assert tokens[0] == tokens[2] != tokens[1]


@both
def test_a_token_of_one_call_is_not_expanded_in_another(dialect: Dialect) -> None:
    with FaultyServer(echo(dialect), saying(dialect, "[EMAIL_1] and [EMAIL_2]")) as server:
        chat = RedactingChat(dialect.chat(server.url))
        ask(chat, "first@example.com second@example.com", None)
        assert ask(chat, "third@example.com", None) == "third@example.com and [EMAIL_2]"


@both
def test_text_that_looks_like_a_token_comes_back_as_it_is(dialect: Dialect) -> None:
    text = "The form says [EMAIL_1] and [PERSON_7]; ask a@example.com [1]."
    with FaultyServer(echo(dialect)) as server:
        assert ask(RedactingChat(dialect.chat(server.url)), text, None) == text
        assert "a@example.com" not in str(dialect.asked(server.requests[0])[0])


@both
@pytest.mark.parametrize(
    ("said", "restored"),
    [
        ("Ask [EMAIL_1] [1].", "Ask a@example.com [1]."),
        ("Ask [email_1].", "Ask a@example.com."),
        (r"Ask \[EMAIL\_1\].", "Ask a@example.com."),
        ("Ask [EMAIL_9].", "Ask [EMAIL_9]."),
        ("Ask [PERSON_1].", "Ask [PERSON_1]."),
        ("Ask [EMAIL_01] [EMAIL_1", "Ask [EMAIL_01] [EMAIL_1"),
        ("<think>[EMAIL_1]?</think>Ask [EMAIL_1].", "Ask a@example.com."),
    ],
)
def test_a_reply_is_restored_as_far_as_it_can_be(
    dialect: Dialect, said: str, restored: str
) -> None:
    with FaultyServer(saying(dialect, said)) as server:
        chat = RedactingChat(dialect.chat(server.url))
        assert ask(chat, "Who? a@example.com", None) == restored


def test_a_value_is_not_searched_for_tokens_when_it_is_put_back() -> None:
    dialect = DIALECTS[0]
    config = RedactionConfig(names=("Anne [EMAIL_1] Smith",))
    with FaultyServer(echo(dialect)) as server:
        chat = RedactingChat(dialect.chat(server.url), config)
        text = "Anne [EMAIL_1] Smith, a@example.com"
        assert ask(chat, text, None) == text


@both
def test_redactions_are_counted_by_kind_over_all_calls(dialect: Dialect) -> None:
    with FaultyServer(saying(dialect, "ok")) as server:
        chat = RedactingChat(dialect.chat(server.url))
        assert chat.redactions == Counter()
        ask(chat, "a@example.com, 203.0.113.77", "b@example.com")
        ask(chat, "a@example.com", None)
    assert chat.redactions == {"EMAIL": 3, "IPV4": 1}
    assert "example" not in f"{chat!r} {vars(chat)}"


def test_calls_at_once_are_counted_together() -> None:
    async def converse(chat: RedactingChat) -> None:
        await asyncio.gather(*[chat.complete(f"u{n}@example.com") for n in range(4)])

    with FaultyServer(saying(DIALECTS[0], "ok")) as server:
        chat = RedactingChat(DIALECTS[0].chat(server.url))
        asyncio.run(converse(chat))
    assert chat.redactions == {"EMAIL": 4}


@both
def test_an_error_comes_through_as_it_is(dialect: Dialect) -> None:
    with FaultyServer(reply(dialect.complaint("overloaded"), status=503)) as server:
        error = failure(RedactingChat(dialect.chat(server.url)))
    assert type(error) is ChatError
    assert "overloaded" in str(error)


def test_a_remote_ollama_gets_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    dialect = DIALECTS[0]
    with FaultyServer(echo(dialect)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        chat = build_chat(ChatConfig(base_url="http://model.test:11434"))
        assert ask(chat, LETTER, LETTER) == LETTER
        (request,) = proxy.requests
    assert request.line.startswith("POST http://model.test:11434/")
    assert [value for value in PLANTED.values() if holds(request, value)] == []


def test_a_local_openai_compatible_server_gets_no_value() -> None:
    dialect = DIALECTS[1]
    with FaultyServer(echo(dialect)) as server:
        config = ChatConfig(
            provider="openai_compatible",
            base_url=server.url,
            api_key_env=KEY_NAME,
            allow_private_endpoint=True,
        )
        assert ask(build_chat(config), LETTER, LETTER) == LETTER
        assert [v for v in PLANTED.values() if holds(server.requests[0], v)] == []


def test_a_local_ollama_gets_the_text_unless_redaction_is_asked_for() -> None:
    dialect = DIALECTS[0]
    with FaultyServer(echo(dialect)) as server:
        config = ChatConfig(base_url=server.url)
        ask(build_chat(config), LETTER, None)
        ask(build_chat(config, redaction=RedactionConfig()), LETTER, None)
        bare, redacted = server.requests
    assert all(holds(bare, value) for value in PLANTED.values())
    assert not any(holds(redacted, value) for value in PLANTED.values())
