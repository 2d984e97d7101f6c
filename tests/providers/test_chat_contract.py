"""What every chat implementation does, whichever it is."""

import asyncio
import inspect
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
from groundkit_core.errors import ChatError
from groundkit_providers.llm import (
    OllamaChat,
    OpenAICompatChat,
    RedactingChat,
    ScriptedChatProvider,
)
from groundkit_providers.protocols import ChatProtocol

from tests.providers.dialects import DIALECTS, Dialect, echo, without_proxies
from tests.providers.faulty_server import FaultyServer, reply

Replies = Callable[[Sequence[str]], "typing.ContextManager[ChatProtocol]"]

IMPLEMENTATIONS = [OllamaChat, OpenAICompatChat, RedactingChat, ScriptedChatProvider]
KINDS = ["ollama", "openai", "scripted"]


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


@contextmanager
def speaking(kind: str, replies: Sequence[str]) -> Iterator[ChatProtocol]:
    """A chat that gives these replies, over a real connection where it has one."""
    name, redacting = kind.removesuffix("+redacting"), kind.endswith("+redacting")
    if name == "scripted":
        scripted = ScriptedChatProvider(replies)
        yield RedactingChat(scripted) if redacting else scripted
        return
    dialect = Dialect(name)
    with FaultyServer(*[reply(dialect.answer(text)) for text in replies]) as server:
        chat = dialect.chat(server.url)
        yield RedactingChat(chat) if redacting else chat


@pytest.mark.parametrize("kind", [f"{name}{more}" for name in KINDS for more in ("", "+redacting")])
class TestEveryChat:
    def test_it_is_a_chat_and_says_who_answers(self, kind: str) -> None:
        with speaking(kind, ["x"]) as chat:
            assert isinstance(chat, ChatProtocol)
            known = {
                "ollama": ("ollama", "llama3.2:3b"),
                "openai": ("openai_compatible", "some-model"),
                "scripted": ("scripted", chat.model_name),
            }
            assert (chat.provider, chat.model_name) == known[kind.removesuffix("+redacting")]
            for name in ("provider", "model_name"):
                with pytest.raises(AttributeError):
                    setattr(chat, name, "another")

    def test_it_returns_the_reply(self, kind: str) -> None:
        with speaking(kind, ["Pumps stop [1].\n\nValves open [2]."]) as chat:
            answer = asyncio.run(chat.complete("When?", system="Be brief."))
            assert answer == "Pumps stop [1].\n\nValves open [2]."

    def test_system_may_be_left_out(self, kind: str) -> None:
        with speaking(kind, ["Yes."]) as chat:
            assert asyncio.run(chat.complete("When?")) == "Yes."

    @pytest.mark.parametrize(
        ("said", "answer"),
        [
            ("<think>maybe [2]</think>Yes [1].", "Yes [1]."),
            ("\n<think>\nmaybe [2]\n</think>\n\nYes [1].", "Yes [1]."),
            ("<think></think>\n\nYes [1].", "Yes [1]."),
        ],
    )
    def test_a_leading_think_block_is_no_part_of_the_reply(
        self, kind: str, said: str, answer: str
    ) -> None:
        with speaking(kind, [said]) as chat:
            assert asyncio.run(chat.complete("When?")) == answer

    @pytest.mark.parametrize(
        "said",
        [
            "Yes [1]. <think>maybe [2]</think>",
            "<think>a</think>Yes.<think>b</think>",
            "<think>maybe [2]",
            "maybe [2]</think>Yes [1].",
            "<think>a<think>b</think>c</think>Yes [1].",
            "<THINK>maybe [2]</THINK> so <Think>",
            "Yes [1].</think>",
        ],
    )
    def test_a_think_tag_elsewhere_is_an_error(self, kind: str, said: str) -> None:
        with speaking(kind, [said]) as chat, pytest.raises(ChatError) as caught:
            asyncio.run(chat.complete("When?"))
        assert "maybe" not in str(caught.value)

    @pytest.mark.parametrize(
        "said", ["", " \n\t", "<think>maybe [2]</think>", "<think>a</think>\n"]
    )
    def test_a_reply_without_text_is_an_error(self, kind: str, said: str) -> None:
        with speaking(kind, [said]) as chat, pytest.raises(ChatError, match="no answer text"):
            asyncio.run(chat.complete("When?"))

    def test_calls_follow_each_other_in_one_loop(self, kind: str) -> None:
        async def converse(chat: ChatProtocol) -> list[str]:
            return [await chat.complete(f"Question {n}") for n in range(3)]

        with speaking(kind, ["one", "two", "three"]) as chat:
            assert asyncio.run(converse(chat)) == ["one", "two", "three"]

    def test_each_call_may_have_a_loop_of_its_own(self, kind: str) -> None:
        with speaking(kind, ["one", "two"]) as chat:
            assert [asyncio.run(chat.complete("?")) for _ in range(2)] == ["one", "two"]

    def test_calls_at_once_get_one_reply_each(self, kind: str) -> None:
        async def converse(chat: ChatProtocol) -> list[str]:
            return await asyncio.gather(*[chat.complete(f"Question {n}") for n in range(3)])

        with speaking(kind, ["one", "two", "three"]) as chat:
            assert sorted(asyncio.run(converse(chat))) == ["one", "three", "two"]


@pytest.mark.parametrize("redacting", [False, True], ids=["plain", "redacting"])
@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_calls_at_once_do_not_mix(dialect: Dialect, redacting: bool) -> None:
    asked = [f"Write to user{n}@example.com about {n}." for n in range(5)]

    async def converse(chat: ChatProtocol) -> list[str]:
        return await asyncio.gather(*[chat.complete(prompt) for prompt in asked])

    with FaultyServer(echo(dialect)) as server:
        chat = dialect.chat(server.url)
        assert asyncio.run(converse(RedactingChat(chat) if redacting else chat)) == asked
        seen = " ".join(str(dialect.asked(request)[0]) for request in server.requests)
    assert ("@example.com" in seen) is not redacting


@pytest.mark.parametrize("redacting", [False, True], ids=["plain", "redacting"])
@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_prompt_and_system_arrive_as_they_are(dialect: Dialect, redacting: bool) -> None:
    prompt, system = 'Über 茶\n\t"q" \\ \u2028 \x00 🙂', "Sei kurz.\r\nÉ"
    with FaultyServer(reply(dialect.answer("x"))) as server:
        chat = dialect.chat(server.url)
        wrapped = RedactingChat(chat) if redacting else chat
        asyncio.run(wrapped.complete(prompt, system=system))
        asyncio.run(wrapped.complete(prompt))
        assert [dialect.asked(request) for request in server.requests] == [
            (prompt, system),
            (prompt, None),
        ]


def test_a_redacting_chat_may_wrap_another() -> None:
    chat = RedactingChat(RedactingChat(ScriptedChatProvider(["Ask a@example.com [EMAIL_1]."])))
    assert asyncio.run(chat.complete("?")) == "Ask a@example.com [EMAIL_1]."


def test_a_script_fails_closed_at_its_end() -> None:
    chat = ScriptedChatProvider(["only"])
    assert asyncio.run(chat.complete("?")) == "only"
    for _ in range(2):
        with pytest.raises(ChatError, match="script"):
            asyncio.run(chat.complete("?"))


def test_a_script_keeps_its_replies_when_its_list_changes() -> None:
    script = ["one", "two"]
    chat = ScriptedChatProvider(script)
    script.clear()
    assert [asyncio.run(chat.complete("?")) for _ in range(2)] == ["one", "two"]


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_each_implementation_has_the_signatures_of_the_seam(implementation: type) -> None:
    assert shape(implementation) == shape(ChatProtocol)


def test_a_drifted_signature_is_seen() -> None:
    class Drifted(ScriptedChatProvider):
        async def complete(self, prompt: str, system: str | None = None) -> str:
            return prompt + str(system)

    assert shape(Drifted) != shape(ChatProtocol)


def shape(kind: type) -> dict[str, object]:
    """Names, kinds, defaults and types of what a chat has."""
    complete = inspect.getattr_static(kind, "complete")
    signature = inspect.signature(complete, eval_str=True)
    found: dict[str, object] = {
        "complete": [*signature.parameters.values(), signature.return_annotation],
        "async": inspect.iscoroutinefunction(complete),
    }
    for name in ("provider", "model_name"):
        attribute = inspect.getattr_static(kind, name)
        assert isinstance(attribute, property)
        assert attribute.fget is not None
        found[name] = typing.get_type_hints(attribute.fget)["return"]
    return found
