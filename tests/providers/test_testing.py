"""The doubles that ship with the package."""

import pytest
from groundkit_core.errors import ChatError
from groundkit_providers.protocols import ChatProtocol
from groundkit_providers.testing import RecordingChat, ScriptedChatProvider

from tests.providers.answering_helpers import run


def test_a_script_is_played_in_order_and_then_ends() -> None:
    replies = ["one", "two", "two"]
    chat = ScriptedChatProvider(replies)
    replies.append("three")
    assert [run(chat.complete("?")) for _ in range(3)] == ["one", "two", "two"]
    for _ in range(2):
        with pytest.raises(ChatError, match="3 replies"):
            run(chat.complete("?"))


def test_an_empty_script_has_no_reply() -> None:
    with pytest.raises(ChatError):
        run(ScriptedChatProvider([]).complete("?"))


@pytest.mark.parametrize(
    "reply", ["", " \n", "<think>[1]</think>", "Yes <think>no</think>", "\ud800"]
)
def test_a_scripted_reply_must_be_an_answer_like_any_other(reply: str) -> None:
    with pytest.raises(ChatError, match="scripted reply 1"):
        run(ScriptedChatProvider([reply]).complete("?"))


def test_a_recorder_keeps_what_was_asked_and_passes_everything_on() -> None:
    inner = ScriptedChatProvider(["one", "two"])
    chat = RecordingChat(inner)
    assert isinstance(chat, ChatProtocol)
    assert (chat.provider, chat.model_name) == (inner.provider, inner.model_name)
    assert run(chat.complete("first", system="be brief")) == "one"
    assert run(chat.complete("second")) == "two"
    with pytest.raises(ChatError):
        run(chat.complete("third"))
    assert chat.calls == [("first", "be brief"), ("second", None), ("third", None)]
