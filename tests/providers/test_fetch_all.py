"""Many documents: in order, a few at a time, one at a time from each host."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from groundkit_core.errors import ConfigurationError, RefusedError, SourceError
from groundkit_core.loading.snapshot import Snapshot
from groundkit_providers.fetch import fetch_all

from tests.providers.faulty_server import Behaviour, FaultyServer, Request
from tests.providers.fetching import Network, page, redirect


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    return Network(monkeypatch)


class Busy:
    """Counts how many requests are under way, in all and to each host, at most."""

    def __init__(self, seconds: float = 0.05, then: Behaviour | None = None) -> None:
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._seconds = seconds
        self._then = then or page(b"<p>Kettles.</p>")

    def __call__(self, request: Request) -> None:
        names = ("all", request.headers["host"].partition(":")[0])
        with self._lock:
            self.now.update(names)
            self.most |= self.now
        time.sleep(self._seconds)
        with self._lock:
            self.now.subtract(names)
        self._then(request)


def outcomes(urls: Sequence[str], **options: Any) -> list[tuple[str, Snapshot | SourceError]]:
    options.setdefault("allow_private", ["127.0.0.1"])

    async def collect() -> list[tuple[str, Snapshot | SourceError]]:
        return [pair async for pair in fetch_all(urls, **options)]

    return asyncio.run(collect())


def named(network: Network, port: int, count: int) -> list[str]:
    for number in range(count):
        network.place(f"h{number}.test", "93.184.216.34", port=port)
    return [f"http://h{number}.test/" for number in range(count)]


def test_documents_come_in_the_order_of_their_urls(network: Network) -> None:
    def slow_at_first(request: Request) -> None:
        time.sleep(0.2 if request.headers["host"] == "h0.test" else 0)
        page(request.headers["host"])(request)

    with FaultyServer(slow_at_first) as server:
        urls = named(network, server.port, 9)
        found = outcomes(urls, concurrency=2)
    assert [url for url, _ in found] == urls
    bodies = [each.body for _, each in found if isinstance(each, Snapshot)]
    assert bodies == [f"h{number}.test".encode() for number in range(9)]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_few_are_fetched_at_a_time(network: Network, concurrency: int) -> None:
    busy = Busy()
    with FaultyServer(busy) as server:
        outcomes(named(network, server.port, 8), concurrency=concurrency)
    assert busy.most["all"] == concurrency


def test_a_host_has_one_request_at_a_time_however_it_is_written(network: Network) -> None:
    busy = Busy()
    with FaultyServer(busy) as server:
        urls = named(network, server.port, 2)
        forms = [
            "http://H0.test/a",
            "http://h0.test:8080/b",
            "http://h1.test/",
            "http://h0.test./c",
        ]
        network.names["h0.test."] = network.names["h0.test"]
        outcomes([*urls, *forms], concurrency=6)
        assert len(server.requests) == 6
    assert busy.most["all"] == 2
    assert busy.now["h0.test"] + busy.now["h0.test."] == 0
    assert busy.most["h0.test"] == busy.most["h1.test"] == 1


def test_a_host_that_others_lead_to_has_one_request_at_a_time_too(network: Network) -> None:
    busy = Busy()
    with FaultyServer(busy) as target:
        network.place("target.test", "8.8.8.8", port=target.port)
        with FaultyServer(redirect("http://target.test/")) as server:
            found = outcomes(named(network, server.port, 4))
    assert [type(each) for _, each in found] == [Snapshot] * 4
    assert busy.most["target.test"] == 1


def test_waiting_for_a_turn_is_not_counted_against_the_deadline(network: Network) -> None:
    with FaultyServer(Busy(0.3)) as server:
        network.place("docs.test", "93.184.216.34", port=server.port)
        found = outcomes([f"http://docs.test/{number}" for number in range(5)], deadline=1.0)
    assert [type(each) for _, each in found] == [Snapshot] * 5


def test_a_failure_is_a_result_among_others(network: Network) -> None:
    def by_path(request: Request) -> None:
        path = request.line.split()[1]
        replies = {"/gone": page("", status=404), "/png": page(b"", "Content-Type: image/png")}
        replies.get(path, page(b"<p>Kettles.</p>"))(request)

    with FaultyServer(by_path) as server:
        network.place("docs.test", "93.184.216.34", port=server.port)
        network.place("inside.test", "10.0.0.1")
        paths = ["docs.test/a", "docs.test/gone", "inside.test/", "docs.test/png", "docs.test/b"]
        found = outcomes([f"http://{path}" for path in paths])
    kinds = [Snapshot, SourceError, SourceError, RefusedError, Snapshot]
    assert [type(each) for _, each in found] == kinds
    assert str(found[1][1]) == "http://docs.test/gone: it answered 404"


def test_a_url_that_may_not_be_fetched_stops_all_before_the_first(network: Network) -> None:
    with pytest.raises(ConfigurationError, match="ftp://"):
        outcomes(["http://docs.test/", "ftp://docs.test/"])
    assert network.asked == []


def test_nothing_is_under_way_while_the_caller_has_a_result(network: Network) -> None:
    async def take_one_and_wait(urls: list[str]) -> int:
        results = fetch_all(urls, concurrency=1)
        await anext(results)
        seen = len(server.requests)
        time.sleep(0.3)
        await asyncio.sleep(0.3)
        assert len(server.requests) == seen
        return seen

    with FaultyServer(page(b"")) as server:
        assert asyncio.run(take_one_and_wait(named(network, server.port, 9))) < 9


def test_none_at_a_time_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="concurrency"):
        outcomes(["http://docs.test/"], concurrency=0)


def test_no_url_is_no_result() -> None:
    assert outcomes([]) == []
