"""Targets, as ratios of figures that one run printed."""

from collections.abc import Sequence
from typing import Any

from benchmarks.index_case import Case
from benchmarks.index_changes import BESIDE, LARGE, SMALL
from benchmarks.index_searches import SHORT
from benchmarks.index_sides import COLLECTION, EMPTY, NUMBA, OURS
from benchmarks.report import Row, Target

__all__ = ["targets"]

_QUERY = {100_000: 2.5, 1_000_000: 1.2}
"""The most that p50 may be of bm25s's with numba, by the number of passages."""
_EIGHT, _BUILD, _OPEN, _DISK = 3.0, 0.35, 20.0, 0.8
_COMMIT, _PRIVATE = 3.0, 200.0


def targets(cases: Sequence[Case]) -> list[Target]:
    """Those of each corpus, then those of its size."""
    found = [target for case in cases for target in _of_any(case)]
    made_up = [case for case in cases if case.name.startswith("Zipf")]
    found += [target for case in made_up for target in _of_size(case)]
    return found


def _of_any(case: Case) -> list[Target]:
    builds, opens = case.builds, case.opens
    build = [_figure(builds, "build", side=side) for side in (OURS, NUMBA)]
    disk = [_figure(builds, "disk", side=side) for side in (OURS, NUMBA)]
    opening = [_figure(opens, "open", side=side) for side in (COLLECTION, EMPTY)]
    return [
        Target(f"{case.name}: build from ids / bm25s numba", _ratio(build), at_most=_BUILD),
        Target(f"{case.name}: segment files / bm25s's", _ratio(disk), at_most=_DISK),
        Target(f"{case.name}: open / an empty collection", _ratio(opening), at_most=_OPEN),
    ]


def _of_size(case: Case) -> list[Target]:
    found: list[Target] = []
    if case.size in _QUERY:
        peer, one, eight = (
            _figure(case.searches, "p50", queries=SHORT, side=side, segments=segments)
            for side, segments in ((NUMBA, 1), (OURS, 1), (OURS, 8))
        )
        limit = _QUERY[case.size]
        found = [
            Target(f"{case.name}: query p50 / bm25s numba", one / peer, at_most=limit),
            Target(f"{case.name}: that in eight segments", eight / peer, at_most=_EIGHT),
        ]
    if case.size == LARGE:
        small, large = (
            _figure(case.changes, "1 changed, ms", side=side) for side in (BESIDE, COLLECTION)
        )
        what = f"{case.name}: one changed document / at {SMALL:,}"
        found.append(Target(what, large / small, at_most=_COMMIT))
        private = _figure(case.opens, "RssAnon", side=COLLECTION)
        found.append(Target(f"{case.name}: private memory, MB", private, at_most=_PRIVATE))
    return found


def _ratio(pair: Sequence[float]) -> float:
    ours, peer = pair
    return ours / peer


def _figure(rows: Sequence[Row], column: str, **where: Any) -> float:
    """The one row's figure."""
    (found,) = (row[column] for row in rows if where.items() <= row.items())
    return float(found)
