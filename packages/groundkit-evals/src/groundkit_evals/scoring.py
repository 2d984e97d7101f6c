"""The metrics of one ranked list, and of your own search over a whole set."""

from collections.abc import Callable, Mapping, Sequence

from groundkit_core.errors import EvalError

from groundkit_evals.dataset import Dataset
from groundkit_evals.metrics import (
    abstention,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    span_iou,
    span_precision,
    span_recall,
)
from groundkit_evals.metrics.spans import Span, covered
from groundkit_evals.schema import QueryRecord

__all__ = ["Places", "Scores", "evaluate", "gains_of", "held", "mean", "scored", "scores"]

Places = Sequence[Span]
"""Where one passage stands: usually a single place, more if equal text stands elsewhere."""

Scores = dict[str, dict[str, float]]
"""For each query id, a value for each metric."""


def evaluate(dataset: Dataset, search: Callable[[str], Sequence[str] | Sequence[Span]]) -> Scores:
    """The metrics of each query for a search that returns documents or spans, best first."""
    found: Scores = {}
    for query in dataset.queries:
        places = [(_span(query, hit),) for hit in search(query.text)]
        found[query.id] = scores(query, places)
    return found


def mean(found: Scores, metric: str) -> float:
    """The mean of a metric over the queries that have it."""
    values = [each[metric] for each in found.values() if metric in each]
    if not values:
        raise EvalError(f"no query has the metric {metric!r}")
    return sum(values) / len(values)


def scores(query: QueryRecord, passages: Sequence[Places]) -> dict[str, float]:
    """Each metric of a ranked list of passages; a query that nothing answers has `abstention`.

    Ranks count documents, by their best passage, or with spans as gold, the spans that passages
    hold.
    """
    return scored(query, passages, held(query, passages))


def scored(
    query: QueryRecord, passages: Sequence[Places], brought: Sequence[Sequence[str]]
) -> dict[str, float]:
    """`scores`, where what each passage brings (`held`) is at hand."""
    if not query.expected:
        return {"abstention": abstention(len(passages))}
    gains = gains_of(query)
    ranked = [unit for units in brought for unit in units]
    values = {
        "ndcg@10": ndcg(ranked, gains, 10),
        "mrr": reciprocal_rank(ranked, gains),
        "recall@5": recall(ranked, gains, 5),
        "recall@10": recall(ranked, gains, 10),
        "recall@100": recall(ranked, gains, 100),
        "precision@5": precision(ranked, gains, 5),
    }
    wanted = _wanted(query)
    if wanted:
        found = [place for places in passages[:5] for place in places]
        values["span_recall@5"] = span_recall(found, wanted)
        values["span_precision@5"] = span_precision(found, wanted)
        values["span_iou@5"] = span_iou(found, wanted)
    return values


def gains_of(query: QueryRecord) -> Mapping[str, float]:
    """The gain of each unit that a query should find."""
    return {expected.unit: expected.gain for expected in query.expected}


def held(query: QueryRecord, passages: Sequence[Places]) -> list[list[str]]:
    """For each passage the units that it is the first to bring.

    With spans as gold, a passage brings each span of which it holds more than half, or else a
    unit of its own; otherwise it brings its documents.
    """
    spans = {
        each.unit: (each.source, each.span.start, each.span.end)
        for each in query.expected
        if each.span is not None
    }
    seen: set[str] = set()
    brought: list[list[str]] = []
    for rank, places in enumerate(passages, start=1):
        units = _spans_in(places, spans, rank) if spans else [source for source, *_ in places]
        new = [unit for unit in dict.fromkeys(units) if unit not in seen]
        seen.update(new)
        brought.append(new)
    return brought


def _spans_in(places: Places, spans: Mapping[str, Span], rank: int) -> list[str]:
    found = [
        unit for unit, span in spans.items() if 2 * covered(places, [span]) > span[2] - span[1]
    ]
    return found or [f"passage {rank}"]


def _wanted(query: QueryRecord) -> list[Span]:
    return [(each.source, each.span.start, each.span.end) for each in query.expected if each.span]


def _span(query: QueryRecord, hit: str | Span) -> Span:
    if not isinstance(hit, str):
        return hit
    if any(each.span for each in query.expected):
        raise EvalError(
            f"query {query.id!r} has spans as gold: the search must return (source, start, end)"
        )
    return hit, 0, 0
