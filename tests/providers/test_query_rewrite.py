"""A rewrite is used as it is or rejected; the original query never stands in for it."""

import pytest
from groundkit_core.config import MAX_QUERY_LEN
from groundkit_core.errors import ChatError, ConfigurationError, QueryRewriteError
from groundkit_providers.query_rewrite import (
    DEFAULT_REWRITE_TEMPLATE,
    REWRITE_SYSTEM,
    QueryRewriter,
)

from tests.providers.answering_helpers import CANARY, background, run, scripted

QUERY = "When does the pump stop?"


@pytest.mark.parametrize(
    ("reply", "rewritten"),
    [
        ("pump stop seconds", "pump stop seconds"),
        ("  pump stop\n", "pump stop"),
        ("pump stop\nvalve close", "pump stop\nvalve close"),
        ('"pump stop"', '"pump stop"'),
        ("Query: pump {query}", "Query: pump {query}"),
        (QUERY, QUERY),
        ("x" * MAX_QUERY_LEN, "x" * MAX_QUERY_LEN),
        (f" {'x' * MAX_QUERY_LEN}\n", "x" * MAX_QUERY_LEN),
    ],
)
def test_the_reply_is_the_query_without_the_space_around_it(reply: str, rewritten: str) -> None:
    chat = scripted(reply)
    assert run(QueryRewriter(chat).rewrite(QUERY)) == rewritten
    prompt = DEFAULT_REWRITE_TEMPLATE.replace("{query}", QUERY)
    assert chat.calls == [(prompt, REWRITE_SYSTEM)]


class Careless:
    """A model with a reply that no provider of ours lets through."""

    provider = model_name = "careless"

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.calls = 0

    async def complete(self, prompt: str, *, system: str | None = None) -> str:  # noqa: ARG002
        self.calls += 1
        return self.reply


@pytest.mark.parametrize("reply", ["", " ", "\n\t \u00a0\u2003"])
def test_a_blank_rewrite_is_rejected_after_one_attempt(reply: str) -> None:
    chat = Careless(reply)
    with pytest.raises(QueryRewriteError, match="empty"):
        run(QueryRewriter(chat).rewrite(QUERY))
    assert chat.calls == 1


def test_a_rewrite_too_long_to_search_for_is_rejected_after_one_attempt() -> None:
    chat = scripted(CANARY.ljust(MAX_QUERY_LEN + 1, "x"), "pump stop")
    with pytest.raises(QueryRewriteError) as caught:
        run(QueryRewriter(chat).rewrite(QUERY))
    assert str(MAX_QUERY_LEN + 1) in str(caught.value)
    assert str(MAX_QUERY_LEN) in str(caught.value)
    assert len(chat.calls) == 1
    assert not any(CANARY in shown or QUERY in shown for shown in background(caught.value))


def test_a_rewrite_that_no_search_takes_is_rejected_here() -> None:
    with pytest.raises(QueryRewriteError):
        run(QueryRewriter(Careless("pump \ud800 stop")).rewrite(QUERY))


def test_the_error_of_the_model_comes_through_as_it_is() -> None:
    with pytest.raises(ChatError, match="script") as caught:
        run(QueryRewriter(scripted()).rewrite(QUERY))
    assert type(caught.value) is ChatError


def test_a_query_that_holds_the_placeholder_is_not_filled_in_twice() -> None:
    chat = scripted("pump")
    run(QueryRewriter(chat, prompt_template="Rewrite: {query} {other}").rewrite("a {query} b"))
    assert chat.calls == [("Rewrite: a {query} b {other}", REWRITE_SYSTEM)]


@pytest.mark.parametrize("template", ["", "Rewrite.", "{Query}", "{ query }"])
def test_a_template_without_its_placeholder_is_refused_at_once(template: str) -> None:
    with pytest.raises(ConfigurationError, match=r"\{query\}"):
        QueryRewriter(scripted(), prompt_template=template)
