"""Tables and curves against what their report says, worked out by hand."""

from collections import Counter

import pytest
from groundkit_core.errors import EvalError
from groundkit_evals import paired_difference
from groundkit_evals.schema import (
    EvalReport,
    Kind,
    ModelIdentity,
    Stage,
    StageResult,
    SynthesisOutcome,
    SynthesisReport,
)
from groundkit_evals.summary import (
    AbstentionPoint,
    abstention_curve,
    against,
    answer_abstention,
    difference,
    headline,
    kinds_of,
    latency,
    mean_of,
    metrics_of,
    recall_curve,
    stage_of,
    values_of,
)

from tests.evals.sets import document, found, query, report, result

QUERIES = (
    query("q1", "one", document("a"), document("b"), document("c", 0)),
    query("q2", "two", document("a"), kind="ambiguous"),
    query("q3", "three", kind="no_answer"),
    query("q4", "four", kind="no_answer"),
)
BM25 = StageResult(
    stage="bm25",
    results=(
        result("q1", ranks={"c": 1, "a": 2, "b": 4}, seconds=0.1, ndcg_10=0.5, mrr=0.5),
        result("q2", ranks={"a": 3}, seconds=0.2, ndcg_10=0.75, mrr=0.25),
        result("q3", seconds=0.3, abstention=1),
        result("q4", seconds=0.4, abstention=0),
    ),
)
DENSE = StageResult(
    stage="dense",
    model="m",
    results=(
        result("q2", found(0.875), found(0.75, "a"), found(0.5), ndcg_10=1.0, mrr=0.5),
        result("q1", found(1.0, "a"), found(0.875, "b"), ndcg_10=0.25, mrr=1.0),
        result("q4", found(0.5), found(0.375), abstention=0),
        result("q3", found(0.25), abstention=0),
    ),
)
RUN = report(QUERIES, BM25, DENSE)


def test_a_stage_is_found_by_its_name() -> None:
    assert stage_of(RUN, "dense") is DENSE
    with pytest.raises(EvalError, match=r"^the run has no stage rerank$"):
        stage_of(RUN, "rerank")


def test_metrics_are_those_that_any_query_has_with_abstention_last() -> None:
    assert metrics_of(RUN) == ["ndcg@10", "mrr", "abstention"]
    first = report(QUERIES, StageResult(stage="bm25", results=BM25.results[::-1]))
    assert metrics_of(first) == ["ndcg@10", "mrr", "abstention"]


def test_values_are_those_of_the_queries_that_have_the_metric() -> None:
    assert values_of(RUN, "bm25", "ndcg@10") == {"q1": 0.5, "q2": 0.75}
    assert values_of(RUN, "bm25", "abstention") == {"q3": 1, "q4": 0}
    assert values_of(RUN, "bm25", "recall@5") == {}


def test_values_can_be_those_of_one_kind() -> None:
    assert values_of(RUN, "dense", "mrr", "ambiguous") == {"q2": 0.5}
    assert values_of(RUN, "dense", "mrr", "no_answer") == {}


def test_a_mean_is_over_the_queries_that_have_the_metric() -> None:
    assert mean_of(RUN, "bm25", "ndcg@10") == (0.5 + 0.75) / 2
    assert mean_of(RUN, "bm25", "abstention") == (1 + 0) / 2
    assert mean_of(RUN, "bm25", "ndcg@10", "ambiguous") == 0.75


@pytest.mark.parametrize(("metric", "kind"), [("recall@5", None), ("mrr", "no_answer")])
def test_a_mean_over_no_query_is_an_error(metric: str, kind: Kind | None) -> None:
    with pytest.raises(EvalError) as caught:
        mean_of(RUN, "bm25", metric, kind)
    assert str(caught.value) == f"no query of stage bm25 has the metric {metric!r}"


@pytest.mark.parametrize(
    ("stage", "input_", "expected"),
    [
        ("bm25", None, []),
        ("dense", None, ["bm25"]),
        ("fusion", "dense", ["bm25", "dense"]),
        ("rerank", "bm25", ["bm25"]),
        ("rerank", "fusion", ["bm25", "fusion"]),
    ],
)
def test_a_stage_is_compared_with_words_and_with_its_input(
    stage: Stage, input_: Stage | None, expected: list[Stage]
) -> None:
    assert against(StageResult(stage=stage, input=input_, results=())) == expected


def test_a_difference_pairs_the_same_queries_whatever_their_order() -> None:
    assert difference(RUN, "dense", "bm25", "ndcg@10") == paired_difference(
        [1.0, 0.25], [0.75, 0.5]
    )
    assert difference(RUN, "bm25", "dense", "mrr").mean == ((0.5 - 1) + (0.25 - 0.5)) / 2


@pytest.mark.parametrize(("percent", "expected"), [(0, 0.1), (50, 0.25), (100, 0.4)])
def test_latency_is_a_percentile_over_all_queries(percent: float, expected: float) -> None:
    assert latency(BM25, percent) == pytest.approx(expected, rel=1e-12)


def test_recall_rises_with_each_relevant_document() -> None:
    # q1 has two relevant documents, at 2 and 4; q2 has one, at 3; the others have no answer.
    assert recall_curve(RUN, "bm25", 5) == [
        0,
        (1 / 2 + 0) / 2,
        (1 / 2 + 1) / 2,
        (1 + 1) / 2,
        (1 + 1) / 2,
    ]


def test_a_query_with_nothing_relevant_counts_0_in_the_recall_curve() -> None:
    queries = (QUERIES[1], query("q5", "five", document("a", 0)))
    results = (BM25.results[1], result("q5", ranks={"a": 1}))
    small = report(queries, StageResult(stage="bm25", results=results))
    assert recall_curve(small, "bm25", 3) == [0, 0, (1 + 0) / 2]


def test_silence_and_what_it_costs_at_each_similarity() -> None:
    # Nothing answers q3, nearest 0.25, and q4, 0.5; q1 holds something at 1, q2 at 0.75.
    assert abstention_curve(RUN, points=7) == [
        AbstentionPoint(0.25, silent=0, kept=1),
        AbstentionPoint(0.375, silent=1 / 2, kept=1),
        AbstentionPoint(0.5, silent=1 / 2, kept=1),
        AbstentionPoint(0.625, silent=1, kept=1),
        AbstentionPoint(0.75, silent=1, kept=1),
        AbstentionPoint(0.875, silent=1, kept=1 / 2),
        AbstentionPoint(1.0, silent=1, kept=1 / 2),
    ]


def test_the_curve_has_101_points_between_the_least_and_the_greatest() -> None:
    curve = abstention_curve(RUN)
    assert [point.similarity for point in curve] == pytest.approx(
        [0.25 + 0.75 * step / 100 for step in range(101)]
    )


def dense(*results: tuple[str, list[float], list[float]]) -> EvalReport:
    """A run by vectors: scores of passages that hold nothing, and of those that hold `a`."""
    stage = StageResult(
        stage="dense",
        results=tuple(
            result(id_, *(found(score) for score in bare), *(found(score, "a") for score in held))
            for id_, bare, held in results
        ),
    )
    return report(QUERIES, StageResult(stage="bm25", results=()), stage)


def test_a_query_that_never_finds_anything_is_never_kept() -> None:
    curve = abstention_curve(
        dense(("q1", [0.9], []), ("q2", [], [0.4]), ("q3", [0.2], [])), points=2
    )
    assert [(point.silent, point.kept) for point in curve] == [(0, 1 / 2), (1, 1 / 2)]
    assert [point.similarity for point in curve] == [0.2, 0.4]


def test_a_query_without_any_passage_is_silent_at_every_similarity() -> None:
    run = dense(("q1", [], [0.5]), ("q2", [], [0.25]), ("q3", [], []))
    assert abstention_curve(run, points=2) == [
        AbstentionPoint(0.25, silent=1, kept=1),
        AbstentionPoint(0.5, silent=1, kept=1 / 2),
    ]


@pytest.mark.parametrize(
    "run",
    [
        report(QUERIES, BM25),
        dense(("q1", [], [0.4])),
        dense(("q3", [0.4], [])),
        dense(("q1", [], []), ("q3", [], [])),
    ],
    ids=["no vectors", "nothing unanswerable", "nothing answerable", "nothing found"],
)
def test_there_is_no_curve_where_it_has_no_sense(run: EvalReport) -> None:
    assert abstention_curve(run) == []


def test_kinds_are_counted() -> None:
    assert kinds_of(RUN) == {"normal": 1, "ambiguous": 1, "no_answer": 2}


def answered(*outcomes: SynthesisOutcome) -> SynthesisReport:
    count = Counter(each.outcome for each in outcomes)
    return SynthesisReport(
        input_stage="bm25",
        top_k=5,
        synthesis=ModelIdentity(provider="p", model_name="m", prompt_hash="h"),
        redacted=False,
        n_total=len(outcomes),
        answered=count["answered"],
        abstained=count["abstained"],
        rejected=count["rejected"],
        outcomes=outcomes,
    )


def test_an_answer_abstains_by_saying_so_or_by_having_been_shown_nothing() -> None:
    queries = [*(query(f"n{number}", "x", kind="no_answer") for number in range(5)), *QUERIES]
    model = answered(
        SynthesisOutcome(query="n0", outcome="abstained", passages=3),
        SynthesisOutcome(query="n1", outcome="answered", passages=3, cited=(1,)),
        SynthesisOutcome(query="n2", outcome="rejected", passages=3, reason="r"),
        SynthesisOutcome(query="n3", outcome="rejected", passages=0, reason="nothing"),
        SynthesisOutcome(query="q1", outcome="abstained", passages=3),
    )
    run = report(queries, BM25).model_copy(update={"synthesis": model})
    assert answer_abstention(run) == {"n0": 1, "n1": 0, "n2": 0, "n3": 1}
    assert answer_abstention(RUN) == {}


def compared(**stages: list[float]) -> EvalReport:
    """A run in which each stage has these values of nDCG@10."""
    size = len(next(iter(stages.values())))
    results: dict[Stage, tuple[float, ...]] = {
        name: tuple(stages[name]) for name in ("bm25", "dense", "fusion") if name in stages
    }
    return report(
        [query(f"q{number}", "x", document("a")) for number in range(size)],
        *(
            StageResult(
                stage=name,
                results=tuple(
                    result(f"q{number}", ndcg_10=value) for number, value in enumerate(values)
                ),
            )
            for name, values in results.items()
        ),
    )


HALF = [0.5] * 20
BEHIND = (
    "Every other stage is behind BM25, dense by 0.125 nDCG@10 (95 % -0.125 to -0.125, 20 queries)."
)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (compared(bm25=[0.25, 0.75, 0.8]), "BM25 alone has nDCG@10 0.600 on 3 queries."),
        (
            compared(bm25=HALF, dense=[0.4] * 20, fusion=[0.75] * 20),
            "fusion is ahead of BM25 by 0.250 nDCG@10 (95 % +0.250 to +0.250, 20 queries).",
        ),
        (
            compared(bm25=HALF, dense=[0.375] * 20, fusion=[0.25] * 20),
            BEHIND,
        ),
    ],
)
def test_the_headline_says_who_is_ahead(run: EvalReport, expected: str) -> None:
    assert headline(run) == expected


@pytest.mark.parametrize("up", [0.8, 0.1])
def test_the_headline_says_when_nobody_is_clearly_ahead(up: float) -> None:
    run = compared(bm25=HALF, dense=[up, *HALF[1:]])
    gap = difference(run, "dense", "bm25", "ndcg@10")
    assert headline(run) == (
        f"No stage is clearly ahead of BM25: dense has {(up - 0.5) / 20:+.3f} nDCG@10 "
        f"(95 % {gap.low:+.3f} to {gap.high:+.3f}, 20 queries)."
    )
