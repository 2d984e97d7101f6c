from typing import Any

import pytest

from benchmarks.index_case import Case
from benchmarks.index_searches import LONG, SHORT
from benchmarks.index_targets import targets

Rows = list[dict[str, Any]]


def case(name: str, size: int) -> Case:
    """Figures of which no two are alike, so that a target of other rows is another number."""
    builds: Rows = [
        {"side": "groundkit", "build": 3.0, "disk": 14.0},
        {"side": "groundkit, 20,000 at once", "build": 99.0, "disk": 98.0},
        {"side": "bm25s numba", "build": 10.0, "disk": 20.0},
        {"side": "groundkit Collection", "build": 97.0, "disk": 96.0},
    ]
    opens: Rows = [
        {"side": "groundkit, empty", "open": 0.5, "RssAnon": 95.0},
        {"side": "groundkit Collection", "open": 4.0, "RssAnon": 150.0},
        {"side": "bm25s numba", "open": 94.0, "RssAnon": 93.0},
    ]
    searches: Rows = [
        {"queries": queries, "side": side, "segments": segments, "p50": p50 * factor}
        for queries, factor in ((SHORT, 1), (LONG, 50))
        for side, segments, p50 in (
            ("groundkit", 1, 2.0),
            ("groundkit", 8, 7.0),
            ("groundkit, as committed", 8, 92.0),
            ("bm25s numba", 1, 2.5),
            ("tantivy", 1, 91.0),
        )
    ]
    changes: Rows = [
        {"side": "groundkit Collection", "1 changed, ms": 50.0},
        {"side": "groundkit Collection, beside", "1 changed, ms": 20.0},
        {"side": "FTS5", "1 changed, ms": 90.0},
    ]
    return Case(size, name, builds, opens, searches, [], changes)


def figures(*cases: Case) -> dict[str, tuple[float, float | None]]:
    return {each.what: (each.value, each.at_most) for each in targets(cases)}


EVERYWHERE: dict[str, tuple[Any, float]] = {
    "build from ids / bm25s numba": (pytest.approx(3 / 10), 0.35),
    "segment files / bm25s's": (pytest.approx(14 / 20), 0.8),
    "open / an empty collection": (pytest.approx(4 / 0.5), 20.0),
}


@pytest.mark.parametrize(("name", "size"), [("Zipf 10,000", 10_000), ("real 100,000", 100_000)])
def test_a_small_or_real_corpus_has_the_targets_of_any(name: str, size: int) -> None:
    wanted = {f"{name}: {what}": figure for what, figure in EVERYWHERE.items()}
    assert figures(case(name, size)) == wanted


@pytest.mark.parametrize(("size", "limit"), [(100_000, 2.5), (1_000_000, 1.2)])
def test_queries_are_held_against_bm25s_at_two_sizes(size: int, limit: float) -> None:
    found = figures(case("Zipf", size))
    assert found["Zipf: query p50 / bm25s numba"] == (2 / 2.5, limit)
    assert found["Zipf: that in eight segments"] == (7 / 2.5, 3.0)


def test_private_memory_is_held_against_a_limit_at_a_million() -> None:
    assert figures(case("Zipf", 1_000_000))["Zipf: private memory, MB"] == (150.0, 200.0)
    assert "Zipf: private memory, MB" not in figures(case("Zipf", 100_000))


def test_a_commit_at_a_million_is_held_against_one_at_ten_thousand_beside_it() -> None:
    what = "Zipf: one changed document / at 10,000"
    assert figures(case("Zipf", 1_000_000))[what] == (50 / 20, 3.0)
    assert what not in figures(case("Zipf", 10_000), case("Zipf", 100_000))
