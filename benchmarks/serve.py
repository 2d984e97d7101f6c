"""Search over HTTP by some clients at once, beside the same search in the process."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.report import Report, Row, Table, Target
from benchmarks.serve_corpus import Indexed, indexed
from benchmarks.serve_load import request
from benchmarks.serve_process import changing, served
from benchmarks.serve_rows import PLAIN, VERIFIED, Rows, in_process

__all__ = ["run"]

CLIENTS = (1, 8, 64)
SOME, MANY = 8, 64


@dataclass(frozen=True, slots=True)
class _Size:
    """How much is measured; `requests` at least before memory is measured again."""

    passages: int
    seconds: float
    requests: int


WHOLE, QUICK = _Size(100_000, 30.0, 50_000), _Size(10_000, 3.0, 3_000)


def run(*, quick: bool) -> Report:
    """Requests a second, their latencies and errors, memory, and ratios to the process's own."""
    size = QUICK if quick else WHOLE
    with TemporaryDirectory() as name:
        base = Path(name)
        held = indexed(base, size.passages)
        own = in_process(held)
        rows, beside = _measured(held, base / "log", size, own)
    notes: list[Row] = [{"what": what, "value": value} for what, value in beside.items()]
    about = f"{size.passages:,} passages in files; ms"
    return Report(
        benchmark="serve",
        quick=quick,
        peers=("fastapi", "mcp", "uvicorn"),
        tables=[
            Table(f"in this process, one thread: {about}", own),
            Table("over HTTP, what clients and server can do at most; ms", rows.ceiling),
            Table("over HTTP, and health checks beside them; ms", rows.searches),
            Table("the server", notes),
        ],
        targets=_targets(rows, beside),
    )


_GAIN = f"{{}}: a second for {SOME} clients / for one, taking turns"
_BEFORE, _AFTER, _ASKED = "memory after the warm-up, MB", "memory at the end, MB", "requests"


def _measured(
    held: Indexed, log: Path, size: _Size, own: Sequence[Row]
) -> tuple[Rows, dict[str, float]]:
    """All rows, and what is known of the server beside them."""
    sent = _requests(held.queries)
    with served(held.index, log) as server:
        rows = Rows(server, size.seconds, own)
        rows.load(MANY, sent[VERIFIED])
        beside: dict[str, float] = {_BEFORE: server.private()}
        for clients in CLIENTS:
            rows.answer_nothing(clients)
        for what in (PLAIN, VERIFIED):
            for clients in CLIENTS:
                rows.search(what, clients, sent[what], like=what)
        for what in (PLAIN, VERIFIED):
            beside[_GAIN.format(what)] = rows.gain(1, SOME, sent[what])
        rows.search("search, verified, MCP", SOME, sent["MCP"])
        searched = sum(int(row["requests"]) for row in rows.searches)
        while searched < size.requests:
            searched += int(rows.load(SOME, sent[VERIFIED])["requests"])
        beside |= {_AFTER: server.private(), _ASKED: searched}
        before = held.generation()
        with changing(held.documents, held.index):
            rows.search("search, verified, during ingests", SOME, sent[VERIFIED])
        beside["generations during ingests"] = held.generation() - before
    return rows, beside


def _requests(queries: Sequence[str]) -> dict[str, list[str]]:
    def call(query: str) -> dict[str, Any]:
        params = {"name": "search", "arguments": {"query": query}}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    return {
        PLAIN: [request("/v1/search", {"query": query, "verify": False}) for query in queries],
        VERIFIED: [request("/v1/search", {"query": query}) for query in queries],
        "MCP": [request("/mcp", call(query)) for query in queries],
    }


def _targets(rows: Rows, beside: dict[str, float]) -> list[Target]:
    return [
        Target("errors", rows.total("errors"), at_most=0.0),
        *(
            Target(what, beside[what], at_least=1.0)
            for what in (_GAIN.format(PLAIN), _GAIN.format(VERIFIED))
        ),
        Target(
            f"health check beside {MANY} clients, p50 in ms",
            rows.figure(VERIFIED, MANY, "healthz p50"),
            at_most=25.0,
        ),
        Target(
            f"memory after {beside[_ASKED]} searches / after the warm-up",
            beside[_AFTER] / beside[_BEFORE],
            at_most=1.1,
        ),
    ]
