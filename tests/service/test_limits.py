"""What one request, and all of them at once, may take."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from groundkit_cli.service.limits import Limits
from groundkit_core.errors import ConfigurationError

from tests.service.slow import Held, with_vectors
from tests.service.support import ACCEPT, JSON, TRANSPORTS, Answer, Desk, desk

SLOW: dict[str, Any] = {"query": "valve", "mode": "dense"}
FAST: dict[str, Any] = {"query": "valve"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_vectors(tmp_path_factory.mktemp("limits"))


@pytest.fixture
def held() -> Iterator[Held]:
    embedder = Held()
    yield embedder
    embedder.go.set()


def emptied(ask: Desk) -> None:
    """Wait until no operation runs any more."""
    ask.run(ask.runtime.idle(10))
    assert ask("rest", "search", **FAST).ok["results"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_more_requests_than_places_are_refused_at_once(
    index: Path, held: Held, transport: str
) -> None:
    async def crowd(ask: Desk) -> tuple[Answer, Answer, list[Answer]]:
        inside = [asyncio.create_task(ask.ask(transport, "search", **SLOW)) for _ in range(2)]
        await asyncio.to_thread(held.holds, 2)
        refused = await ask.ask(transport, "search", **FAST)
        described = await ask.ask(transport, "index_status")
        held.go.set()
        return refused, described, [await each for each in inside]

    with desk(index, make_embedder=lambda _: held, concurrency=2) as ask:
        refused, described, inside = ask.run(crowd(ask))
        emptied(ask)
    assert (refused.code, described.code) == ("overloaded", "overloaded")
    if transport == "rest":
        assert refused.response.status_code == 503
        assert refused.response.headers["retry-after"] == "1"
    assert [answer.code for answer in inside] == ["ok", "ok"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_place_is_free_again_when_the_work_ends_not_when_its_time_is_over(
    index: Path, held: Held, transport: str
) -> None:
    with desk(index, make_embedder=lambda _: held, concurrency=1, seconds=0.2) as ask:
        late = ask(transport, "search", **SLOW)
        assert (late.code, late.body["message"]) == ("timeout", "no answer within 0.2 s")
        assert late.response.status_code == (504 if transport == "rest" else 200)
        assert ask(transport, "search", **FAST).code == "overloaded"
        held.go.set()
        emptied(ask)


def test_what_waits_for_a_thread_gives_its_place_back_in_time(index: Path, held: Held) -> None:
    async def crowd(ask: Desk) -> tuple[list[Answer], int]:
        answers = await asyncio.gather(*(ask.ask("rest", "search", **SLOW) for _ in range(20)))
        return answers, ask.runtime._gate.inside

    with desk(index, make_embedder=lambda _: held, seconds=0.3) as ask:
        answers, inside = ask.run(crowd(ask))
        running = ask.runtime._pool._max_workers
        assert {answer.code for answer in answers} == {"timeout"}
        assert inside == running < 20
        held.go.set()
        emptied(ask)
        assert ask.runtime._gate.inside == 0


def test_slow_operations_do_not_hold_up_the_event_loop(index: Path, held: Held) -> None:
    async def beside(ask: Desk) -> tuple[float, list[Answer]]:
        inside = [asyncio.create_task(ask.ask("rest", "search", **SLOW)) for _ in range(2)]
        await asyncio.to_thread(held.holds, 2)
        began = time.monotonic()
        for transport in TRANSPORTS:
            assert (await ask.ask(transport, "search", **FAST)).ok["results"]
        took = time.monotonic() - began
        held.go.set()
        return took, [await each for each in inside]

    with desk(index, make_embedder=lambda _: held) as ask:
        took, answers = ask.run(beside(ask))
    assert [answer.code for answer in answers] == ["ok", "ok"]
    assert took < 5


def test_a_client_that_goes_away_leaves_its_place_to_others(index: Path, held: Held) -> None:
    async def leave(ask: Desk) -> None:
        asking = asyncio.create_task(ask.ask("rest", "search", **SLOW))
        await asyncio.to_thread(held.holds, 1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    with desk(index, make_embedder=lambda _: held, concurrency=1) as ask:
        ask.run(leave(ask))
        held.go.set()
        emptied(ask)


async def chunks(size: int, step: int = 500) -> AsyncIterator[bytes]:
    for _ in range(size // step):
        yield b" " * step


async def stalled() -> AsyncIterator[bytes]:
    yield b'{"query": '
    await asyncio.sleep(30)


@pytest.mark.parametrize("path", ["/v1/search", "/mcp", "/", "/nothing"])
def test_a_request_that_is_too_large_is_refused_before_it_is_read(index: Path, path: str) -> None:
    headers = JSON | ACCEPT
    with desk(index, request_bytes=2_000) as ask:
        declared = ask.http("POST", path, content=b" " * 2_001, headers=headers)
        in_chunks = ask.http("POST", path, content=chunks(2_500), headers=headers)
        huge = {**headers, "content-length": "9" * 5_000}
        lied = ask.http("POST", path, content=b"{}", headers=huge)
        for response in (declared, in_chunks, lied):
            assert response.status_code == 413
            assert response.json()["error"]["code"] == "request_too_large"
            assert response.headers["x-request-id"]
        exact = b'{"query": "valve"}'.ljust(2_000)
        assert ask.http("POST", "/v1/search", content=exact, headers=JSON).status_code == 200


@pytest.mark.parametrize("path", ["/v1/search", "/mcp"])
def test_a_body_that_does_not_arrive_is_given_up(index: Path, path: str) -> None:
    with desk(index, seconds=0.2) as ask:
        response = ask.http("POST", path, content=stalled(), headers=JSON | ACCEPT)
        assert response.status_code == 408
        assert response.json()["error"]["code"] == "request_timeout"
        assert ask("rest", "search", **FAST).ok["results"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_server_may_give_fewer_results_than_the_library(index: Path, transport: str) -> None:
    with desk(index, top_k=5) as ask:
        answer = ask(transport, "search", query="valve", top_k=6)
        assert answer.code == "invalid_request"
        assert answer.body["message"] == "top_k is 6, this server gives at most 5"
        assert ask(transport, "search", query="valve", top_k=5).ok["top_k"] == 5


def test_errors_are_within_the_cap_too(index: Path) -> None:
    with desk(index, response_bytes=10_000) as ask:
        for name in ("n" * 50_000, "\x01" * 9_000, "é" * 20_000):
            for transport in TRANSPORTS:
                answer = ask(transport, "search", query="valve", **{name: 1})
                assert answer.code == "invalid_request"
                assert answer.size < 10_000


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"top_k": 0}, "--max-top-k 0: it must be at least 1"),
        ({"top_k": 101}, "--max-top-k 101: it must be at most 100"),
        ({"request_bytes": 999}, "--max-request-bytes 999: it must be at least 1000"),
        ({"response_bytes": 9_999}, "--max-response-bytes 9999: it must be at least 10000"),
        ({"concurrency": 0}, "--concurrency 0: it must be at least 1"),
        ({"seconds": 0.0}, "--timeout 0.0: it must be above 0"),
        ({"seconds": float("nan")}, "--timeout nan: it must be above 0"),
        ({"seconds": float("inf")}, "--timeout inf: it must be above 0"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Limits(**limits)
    assert str(caught.value) == said
