"""Two runs side by side, if they measured the same thing."""

from collections.abc import Sequence
from typing import Any

import pytest
from groundkit_core.config import ChunkingConfig
from groundkit_core.errors import ConfigurationError
from groundkit_evals.compare import Compared, compare, refusals, settings_changed
from groundkit_evals.metrics import paired_difference
from groundkit_evals.schema import (
    DatasetInfo,
    EvalReport,
    QueryRecord,
    QueryResult,
    RunConfig,
    Stage,
    StageResult,
)

DATA = DatasetInfo(name="d", corpus_hash="c", judgments_hash="j", documents=1, passages=1)
Values = dict[str, float]
FIRST = {"a": 0.5, "b": 0.25, "c": 1.0}
SECOND = {"a": 1.0, "b": 0.25, "c": 0.75}


def stage(
    name: Stage, values: Values, metric: str = "mrr", *, model: str | None = None
) -> StageResult:
    """A stage with one value for each query, in this order."""
    results = tuple(
        QueryResult(query=query, seconds=0.1, found=(), ranks={}, metrics={metric: value})
        for query, value in values.items()
    )
    return StageResult(stage=name, model=model, results=results)


def report(*stages: StageResult, **fields: Any) -> EvalReport:
    """A run of these stages."""
    ids = [result.query for result in stages[0].results]
    whole: dict[str, Any] = {
        "created": "2026-01-01",
        "groundkit": "1",
        "dataset": DATA,
        "config": RunConfig(),
        "queries": tuple(QueryRecord(id=id_, text=id_) for id_ in ids),
        "stages": stages,
    }
    return EvalReport(**whole | fields)


def test_a_metric_is_compared_query_by_query() -> None:
    (row,) = compare(report(stage("bm25", FIRST)), report(stage("bm25", SECOND)))
    assert row == Compared(
        stage="bm25",
        metric="mrr",
        first=(0.5 + 0.25 + 1.0) / 3,
        second=(1.0 + 0.25 + 0.75) / 3,
        difference=paired_difference([1.0, 0.25, 0.75], [0.5, 0.25, 1.0]),
    )
    assert row.difference.mean == pytest.approx((0.5 + 0.0 - 0.25) / 3)
    assert row.difference.n == 3
    assert row.difference.low < 0 < row.difference.high


def test_the_second_run_less_the_first_is_positive_where_it_is_better() -> None:
    better = dict.fromkeys(FIRST, 1.0)
    worse = dict.fromkeys(FIRST, 0.25)
    runs = report(stage("bm25", worse)), report(stage("bm25", better))
    for (first, second), sign in ((runs, 1), (runs[::-1], -1)):
        (row,) = compare(first, second)
        assert row.difference.mean == row.difference.low == row.difference.high == sign * 0.75


def test_queries_are_paired_by_their_ids_whatever_their_order() -> None:
    turned = dict(reversed(SECOND.items()))
    (straight,) = compare(report(stage("bm25", FIRST)), report(stage("bm25", SECOND)))
    (row,) = compare(report(stage("bm25", FIRST)), report(stage("bm25", turned)))
    assert row == straight


def test_a_run_does_not_differ_from_itself() -> None:
    run = report(stage("bm25", FIRST), stage("dense", SECOND))
    for row in compare(run, run):
        assert (row.difference.mean, row.difference.low, row.difference.high) == (0, 0, 0)
        assert row.difference.p == 1
        assert not row.difference.is_clear


def test_only_stages_of_both_runs_are_compared_in_the_order_of_the_first() -> None:
    first = report(stage("bm25", FIRST), stage("dense", FIRST), stage("fusion", FIRST))
    second = report(stage("fusion", SECOND), stage("bm25", SECOND), stage("rerank", SECOND))
    assert [row.stage for row in compare(first, second)] == ["bm25", "fusion"]


def test_every_metric_is_compared_on_the_queries_that_have_it() -> None:
    def run(values: Values, silent: float) -> EvalReport:
        answered, unanswerable = stage("bm25", values), stage("bm25", {"z": silent}, "abstention")
        results = (*unanswerable.results, *answered.results)
        return report(StageResult(stage="bm25", results=results))

    rows = compare(run(FIRST, 0.0), run(SECOND, 1.0))
    assert [(row.metric, row.difference.n) for row in rows] == [("mrr", 3), ("abstention", 1)]
    assert (rows[1].first, rows[1].second) == (0.0, 1.0)


def test_a_metric_that_a_stage_lacks_is_left_out_there() -> None:
    run = report(stage("bm25", FIRST), stage("dense", SECOND, "recall"))
    assert [(row.stage, row.metric) for row in compare(run, run)] == [
        ("bm25", "mrr"),
        ("dense", "recall"),
    ]


def with_data(**fields: str) -> EvalReport:
    return report(stage("bm25", FIRST), dataset=DATA.model_copy(update=fields))


BASE = report(stage("bm25", FIRST))
REFUSED: dict[str, tuple[EvalReport, Sequence[str]]] = {
    "documents": (
        with_data(corpus_hash="x", name="other"),
        ["their documents differ (d, other)"],
    ),
    "judgments": (with_data(judgments_hash="x"), ["their queries or judgments differ"]),
    "both": (
        with_data(corpus_hash="x", judgments_hash="x"),
        ["their documents differ (d, d)", "their queries or judgments differ"],
    ),
    "stages": (report(stage("dense", FIRST)), ["they have no stage in common"]),
    "metrics": (report(stage("bm25", FIRST, "recall")), ["their metrics differ"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_runs_that_measured_something_else_are_refused_with_every_reason(name: str) -> None:
    other, reasons = REFUSED[name]
    for pair in ((BASE, other), (other, BASE)):
        said = refusals(*pair)
        assert [each.replace("(other, d)", "(d, other)") for each in said] == reasons
        with pytest.raises(ConfigurationError) as caught:
            compare(*pair)
        assert str(caught.value) == f"the runs cannot be compared: {'; '.join(said)}"


def test_a_set_by_another_name_is_the_same_set() -> None:
    renamed = with_data(name="moved")
    assert refusals(BASE, renamed) == []
    assert compare(BASE, renamed)


def test_what_was_changed_is_named() -> None:
    first = report(
        stage("bm25", FIRST), stage("dense", FIRST, model="old"), stage("rerank", FIRST, model="x")
    )
    second = report(
        stage("bm25", FIRST),
        stage("dense", FIRST, model="new"),
        stage("fusion", FIRST, model="new"),
        groundkit="2",
        config=RunConfig(chunking=ChunkingConfig(size=100), min_similarity=0.5),
    )
    changed = settings_changed(first, second)
    size_before, size_after = (
        run.config.model_dump(mode="json")["chunking"] for run in (first, second)
    )
    assert changed == [
        f"chunking: {size_before} -> {size_after}",
        "min_similarity: None -> 0.5",
        "version: 1 -> 2",
        "model of dense: old -> new",
    ]
    assert refusals(first, second) == []


def test_equal_settings_are_not_named() -> None:
    assert settings_changed(BASE, report(stage("bm25", SECOND), created="2027-01-01")) == []
