"""The two protocols of a chat server, so that each fault is tried over both."""

import asyncio
import json
import traceback
from pathlib import Path
from typing import Any, TypedDict, Unpack

import pytest
from groundkit_core.errors import GroundkitError
from groundkit_providers.llm import OllamaChat, OpenAICompatChat
from groundkit_providers.protocols import ChatProtocol

from tests.providers.faulty_server import Behaviour, Request, reply

__all__ = [
    "ANSWER",
    "DIALECTS",
    "KEY",
    "KEY_NAME",
    "PROMPT",
    "SYSTEM",
    "Dialect",
    "ask",
    "both",
    "echo",
    "failure",
    "recorded",
    "without_proxies",
]

KEY_NAME = "GROUNDKIT_OPENAI_API_KEY"
KEY = "c4nary/k3y+w1th=marks"
PROMPT = 'What did "Ms Canary Prompt" order?\nSource: nine copper kettles, paid in cash.'
SYSTEM = "You answer for the canary system of Harbour Lane."
ANSWER = "The canary answer is forty-one lanterns."
_PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD"]


class Settings(TypedDict, total=False):
    """Settings that both providers have."""

    temperature: float
    max_output_tokens: int
    timeout_seconds: float
    allow_private_endpoint: bool


class Dialect:
    """One protocol: the client that speaks it and the bodies that go to and fro."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = "/api/generate" if name == "ollama" else "/v1/chat/completions"

    def __repr__(self) -> str:
        return self.name

    def chat(self, base_url: str, **settings: Unpack[Settings]) -> OllamaChat | OpenAICompatChat:
        """A client that may speak with loopback."""
        if self.name == "ollama":
            return OllamaChat(model_name="llama3.2:3b", base_url=base_url, **settings)
        settings.setdefault("allow_private_endpoint", True)
        return OpenAICompatChat(model_name="some-model", base_url=base_url, **settings)

    def answer(self, text: str = ANSWER) -> dict[str, Any]:
        """The body of a whole reply."""
        if self.name == "ollama":
            return recorded("ollama", "answer")[1] | {"response": text}
        body = recorded("openai", "answer")[1]
        body["choices"][0]["message"]["content"] = text
        return body

    def complaint(self, words: str) -> dict[str, object]:
        """The body of an error."""
        return {"error": words if self.name == "ollama" else {"message": words, "code": "bad"}}

    def asked(self, request: Request) -> tuple[object, object]:
        """The prompt and the system text that a request carries."""
        if self.name == "ollama":
            return request.json["prompt"], request.json.get("system")
        messages = request.json["messages"]
        assert isinstance(messages, list)
        assert [m["role"] for m in messages] in (["user"], ["system", "user"])
        said = {m["role"]: m["content"] for m in messages}
        return said["user"], said.get("system")


DIALECTS = [Dialect("ollama"), Dialect("openai")]
both = pytest.mark.parametrize("dialect", DIALECTS, ids=repr)


def recorded(server: str, name: str) -> tuple[int, dict[str, Any]]:
    """The status and the body of a reply in `replies/`."""
    path = Path(__file__).with_name("replies") / server / f"{name}.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    return found["status"], found["body"]


def echo(dialect: Dialect) -> Behaviour:
    """The prompt that came over the wire, as the reply."""

    def behave(request: Request) -> None:
        reply(dialect.answer(str(dialect.asked(request)[0])))(request)

    return behave


def ask(chat: ChatProtocol, prompt: str = PROMPT, system: str | None = SYSTEM) -> str:
    """One call in an event loop of its own."""
    return asyncio.run(chat.complete(prompt, system=system))


def failure(chat: ChatProtocol) -> GroundkitError:
    """The one error of a call, once nothing confidential is found in or behind it."""
    with pytest.raises(GroundkitError) as caught:
        ask(chat)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = "".join([str(error), repr(error), *traceback.format_exception(error)])
    for text in (KEY, PROMPT, SYSTEM, ANSWER):
        assert text not in shown
        assert json.dumps(text)[1:-1] not in shown
        assert text.splitlines()[0] not in shown
    assert str(error).isprintable()
    return error


def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment with a key and without a proxy."""
    for name in _PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv(KEY_NAME, KEY)
