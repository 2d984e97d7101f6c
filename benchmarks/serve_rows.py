"""Rows of figures: searches over HTTP, and the same searches in this process."""

import statistics
import time
from collections.abc import Mapping, Sequence

from groundkit_core import Collection

from benchmarks.report import Row
from benchmarks.serve_corpus import Indexed
from benchmarks.serve_load import Load, ask_for, request
from benchmarks.serve_process import Server

__all__ = ["PLAIN", "VERIFIED", "Rows", "in_process"]

PLAIN, VERIFIED = "search", "search, verified"
_WARM_UP = 200
_TURNS = 6


class Rows:
    """Loads of one server and their figures, in milliseconds but for requests a second."""

    def __init__(self, server: Server, seconds: float, own: Sequence[Row]) -> None:
        self._server = server
        self._seconds = seconds
        self._own = {str(row["what"]): float(row["per second"]) for row in own}
        self.ceiling: list[Row] = []
        self.searches: list[Row] = []

    def load(self, clients: int, requests: Sequence[str], share: float = 1.0) -> dict[str, float]:
        """The figures of some clients."""
        return ask_for(Load(self._server.url, clients, share * self._seconds, requests))

    def gain(self, few: int, many: int, requests: Sequence[str]) -> float:
        """How much more is answered to many than to few, who take turns as the machine changes."""
        answered = dict.fromkeys((few, many), 0.0)
        for _ in range(_TURNS):
            for clients in answered:
                answered[clients] += self.load(clients, requests, 1 / _TURNS)["per second"]
        return answered[many] / answered[few]

    def answer_nothing(self, clients: int) -> None:
        """A row of what clients and server can do at most together."""
        figures = self.load(clients, [request("/healthz")])
        shown = ("requests", "errors", "per second", "p50", "p99")
        row: Row = {"what": "healthz", "clients": clients}
        self.ceiling.append(row | {name: figures[name] for name in shown})

    def search(
        self, what: str, clients: int, requests: Sequence[str], like: str = VERIFIED
    ) -> None:
        """A row of searches; the ratio is to searches of the kind `like` in this process."""
        figures = self.load(clients, requests)
        ratio = figures["per second"] / self._own[like]
        self.searches.append({"what": what, "clients": clients, **figures, "of in-process": ratio})

    def total(self, name: str) -> int:
        """The sum of a column."""
        return sum(int(row[name]) for row in (*self.ceiling, *self.searches))

    def figure(self, what: str, clients: int, name: str) -> float:
        """A figure of a row of searches."""
        found: Mapping[str, float] = next(
            row for row in self.searches if (row["what"], row["clients"]) == (what, clients)
        )
        return found[name]


def in_process(held: Indexed) -> list[Row]:
    """Searches by one thread of this process."""
    rows: list[Row] = []
    for what in (PLAIN, VERIFIED):
        times = []
        with Collection.open(held.index / "default") as collection:
            for query in [*held.queries[:_WARM_UP], *held.queries]:
                begin = time.perf_counter()
                collection.search(query, verify=what == VERIFIED)
                times.append(1000 * (time.perf_counter() - begin))
        times = times[_WARM_UP:]
        parts = statistics.quantiles(times, n=100, method="inclusive")
        figures = {"per second": 1000 / statistics.mean(times), "p50": parts[49], "p99": parts[98]}
        rows.append({"what": what, "searches": len(times), **figures})
    return rows
