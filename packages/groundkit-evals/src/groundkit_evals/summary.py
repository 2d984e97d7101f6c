"""Means, differences and curves, computed from the values that a report holds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from groundkit_core.errors import EvalError

from groundkit_evals.metrics import Difference, paired_difference, percentile
from groundkit_evals.schema import EvalReport, Kind, QueryRecord, QueryResult, Stage, StageResult

__all__ = [
    "BASELINE",
    "HEADLINE",
    "AbstentionPoint",
    "abstention_curve",
    "against",
    "answer_abstention",
    "difference",
    "headline",
    "kinds_of",
    "latency",
    "mean_of",
    "metrics_of",
    "recall_curve",
    "stage_of",
    "values_of",
]

BASELINE: Stage = "bm25"
HEADLINE = "ndcg@10"


def stage_of(report: EvalReport, stage: Stage) -> StageResult:
    """A stage of the run."""
    for found in report.stages:
        if found.stage == stage:
            return found
    raise EvalError(f"the run has no stage {stage}")


def metrics_of(report: EvalReport) -> list[str]:
    """The names of the metrics that any query has, `abstention` last."""
    names = {name: 0 for stage in report.stages for each in stage.results for name in each.metrics}
    return sorted(names, key=lambda name: name == "abstention")


def values_of(
    report: EvalReport, stage: Stage, metric: str, kind: Kind | None = None
) -> dict[str, float]:
    """A metric of each query that has it, of one kind or of all."""
    kinds = {query.id: query.kind for query in report.queries}
    return {
        each.query: each.metrics[metric]
        for each in stage_of(report, stage).results
        if metric in each.metrics and kind in (None, kinds[each.query])
    }


def mean_of(report: EvalReport, stage: Stage, metric: str, kind: Kind | None = None) -> float:
    """The mean of a metric over the queries that have it."""
    values = values_of(report, stage, metric, kind).values()
    if not values:
        raise EvalError(f"no query of stage {stage} has the metric {metric!r}")
    return sum(values) / len(values)


def against(stage: StageResult) -> list[Stage]:
    """What a stage is compared with: BM25, and what it worked on where that is another."""
    if stage.stage == BASELINE:
        return []
    others = [BASELINE, stage.input]
    return list(dict.fromkeys(other for other in others if other is not None))


def difference(report: EvalReport, stage: Stage, other: Stage, metric: str) -> Difference:
    """A stage less another on the same queries."""
    ours, theirs = values_of(report, stage, metric), values_of(report, other, metric)
    if not ours or ours.keys() != theirs.keys():
        raise EvalError(f"stages {stage} and {other} have no common queries with {metric!r}")
    return paired_difference(list(ours.values()), [theirs[query] for query in ours])


def latency(stage: StageResult, percent: float) -> float:
    """Seconds that `percent` of the queries do not exceed."""
    return percentile([each.seconds for each in stage.results], percent)


def recall_curve(report: EvalReport, stage: Stage, depth: int) -> list[float]:
    """Mean recall at each cutoff from 1 to `depth`, over queries that something answers."""
    queries = {query.id: query for query in report.queries}
    results = [each for each in stage_of(report, stage).results if queries[each.query].expected]
    if not results:
        raise EvalError("no query has an answer")
    return [
        sum(_recall(queries[each.query], each, k) for each in results) / len(results)
        for k in range(1, depth + 1)
    ]


def _recall(query: QueryRecord, result: QueryResult, k: int) -> float:
    relevant = [expected.unit for expected in query.expected if expected.gain > 0]
    found = sum(unit in result.ranks and result.ranks[unit] <= k for unit in relevant)
    return found / len(relevant) if relevant else 0.0


@dataclass(frozen=True, slots=True)
class AbstentionPoint:
    """What a least similarity would do.

    `silent` is the share of queries that nothing answers for which nothing is near enough, `kept`
    the share of the others that still find something they should among the ten best.
    """

    similarity: float
    silent: float
    kept: float


def abstention_curve(report: EvalReport, points: int = 101) -> list[AbstentionPoint]:
    """The trade-off of `min_similarity` for the run's embedder; empty where it has no sense.

    That is without a dense stage, and without queries that nothing answers.
    """
    queries = {query.id: query for query in report.queries}
    dense = [stage for stage in report.stages if stage.stage == "dense"]
    results = dense[0].results if dense else ()
    none = [_best(each) for each in results if not queries[each.query].expected]
    some = [_best_held(each) for each in results if queries[each.query].expected]
    found = [best for best in (*none, *some) if best > -1]
    if not none or not some or not found:
        return []
    return [
        AbstentionPoint(
            similarity=level,
            silent=sum(best < level for best in none) / len(none),
            kept=sum(best >= level for best in some) / len(some),
        )
        for level in _levels(found, points)
    ]


def _best(result: QueryResult) -> float:
    return max((found.score for found in result.found), default=-1.0)


def _best_held(result: QueryResult) -> float:
    """Similarity of the best passage that holds something wanted; below any if none does."""
    return max((found.score for found in result.found if found.holds), default=-2.0)


def _levels(scores: Sequence[float], points: int) -> list[float]:
    levels: list[float] = np.linspace(min(scores), max(scores), points).tolist()
    return levels


def answer_abstention(report: EvalReport) -> dict[str, float]:
    """For each query that nothing answers: 1 if the model abstained or was shown nothing, or 0."""
    unanswerable = {query.id for query in report.queries if not query.expected}
    outcomes = report.synthesis.outcomes if report.synthesis else ()
    return {
        each.query: float(each.outcome == "abstained" or each.passages == 0)
        for each in outcomes
        if each.query in unanswerable
    }


def kinds_of(report: EvalReport) -> dict[Kind, int]:
    """The kinds of query there are, with how many."""
    return dict(Counter(query.kind for query in report.queries))


def headline(report: EvalReport) -> str:
    """In one sentence, which stage is ahead of BM25 by nDCG@10, and how surely."""
    n = len(values_of(report, BASELINE, HEADLINE))
    others = [stage.stage for stage in report.stages if stage.stage != BASELINE]
    if not n:
        return "No query has an answer, so no stage can be ahead of another."
    if not others:
        return f"BM25 alone has nDCG@10 {mean_of(report, BASELINE, HEADLINE):.3f} on {n} queries."
    gaps = {stage: difference(report, stage, BASELINE, HEADLINE) for stage in others}
    ahead = [stage for stage in others if gaps[stage].is_clear and gaps[stage].mean > 0]
    best = max(ahead or others, key=lambda stage: gaps[stage].mean)
    gap = gaps[best]
    interval = f"(95 % {gap.low:+.3f} to {gap.high:+.3f}, {n} queries)"
    if ahead:
        return f"{best} is ahead of BM25 by {gap.mean:.3f} nDCG@10 {interval}."
    if all(each.is_clear for each in gaps.values()):
        return f"Every other stage is behind BM25, {best} by {-gap.mean:.3f} nDCG@10 {interval}."
    return f"No stage is clearly ahead of BM25: {best} has {gap.mean:+.3f} nDCG@10 {interval}."
