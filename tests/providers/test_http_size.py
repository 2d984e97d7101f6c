"""A reply of any size costs no more than the limit."""

import json
import tracemalloc

import pytest
from groundkit_core.errors import ChatError
from groundkit_providers.http import MAX_REPLY_BYTES

from tests.providers.dialects import Dialect, ask, both, failure, without_proxies
from tests.providers.faulty_server import FaultyServer, flood, reply

MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    without_proxies(monkeypatch)


@both
@pytest.mark.parametrize("announced", [True, False], ids=["length", "chunked"])
@pytest.mark.parametrize("status", [200, 500])
def test_a_gigabyte_is_cut_off(dialect: Dialect, announced: bool, status: int) -> None:
    with FaultyServer(flood(1024 * MIB, announced=announced, status=status)) as server:
        chat = dialect.chat(server.url)
        tracemalloc.start()
        try:
            error = failure(chat)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert len(server.requests) == 1
    assert type(error) is ChatError
    assert str(MAX_REPLY_BYTES) in str(error)
    assert peak < 50 * MIB
    assert server.requests[0].sent < MAX_REPLY_BYTES + 24 * MIB


def test_an_error_about_a_long_prompt_costs_little() -> None:
    dialect = Dialect("ollama")
    prompt = "".join(f"{number:x}-" for number in range(90_000))
    with FaultyServer(reply(dialect.complaint(f"over: {prompt[4000:9000]}"), status=500)) as server:
        chat = dialect.chat(server.url)
        tracemalloc.start()
        try:
            with pytest.raises(ChatError) as caught:
                ask(chat, prompt, None)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert "over: [our own text]" in str(caught.value)
    assert peak < 20 * MIB


@both
def test_a_reply_of_the_limit_is_read(dialect: Dialect) -> None:
    empty = len(reply_bytes(dialect, ""))
    text = "x" * (MAX_REPLY_BYTES - empty)
    assert len(reply_bytes(dialect, text)) == MAX_REPLY_BYTES
    with FaultyServer(
        reply(reply_bytes(dialect, text)), reply(reply_bytes(dialect, text + "x"))
    ) as server:
        chat = dialect.chat(server.url)
        assert ask(chat) == text
        failure(chat)


def reply_bytes(dialect: Dialect, text: str) -> bytes:
    return json.dumps(dialect.answer(text)).encode()
