"""Metrics worked out by hand, and spans against sets of characters."""

from math import log2

import pytest
from groundkit_evals.metrics import (
    Span,
    abstention,
    ndcg,
    percentile,
    precision,
    recall,
    reciprocal_rank,
    span_iou,
    span_precision,
    span_recall,
)
from groundkit_evals.metrics.spans import covered
from hypothesis import given
from hypothesis import strategies as st

GAINS = {"a": 1.0, "b": 2.0, "c": 1.0, "judged": 0.0, "worse": -1.0}


def test_recall_counts_the_relevant_within_k_and_no_others() -> None:
    assert recall(["judged", "a", "unjudged", "b", "c"], GAINS, 4) == 2 / 3


@pytest.mark.parametrize(("ranked", "expected"), [(["c", "a", "b"], 1.0), ([], 0.0), (["x"], 0.0)])
def test_recall_at_its_ends(ranked: list[str], expected: float) -> None:
    assert recall(ranked, GAINS, 100) == expected


@pytest.mark.parametrize("gains", [{}, {"a": 0.0}, {"a": -1.0}])
def test_all_metrics_are_0_where_nothing_is_relevant(gains: dict[str, float]) -> None:
    ranked = ["a", "b"]
    assert recall(ranked, gains, 5) == 0
    assert precision(ranked, gains, 5) == 0
    assert reciprocal_rank(ranked, gains) == 0
    assert ndcg(ranked, gains, 5) == 0


def test_precision_counts_an_empty_place_as_a_miss() -> None:
    assert precision(["a", "judged", "worse", "b"], GAINS, 5) == 2 / 5
    assert precision(["a", "judged", "worse", "b"], GAINS, 3) == 1 / 3


@pytest.mark.parametrize(
    ("ranked", "expected"),
    [
        (["a", "b"], 1),
        (["judged", "worse", "b", "a"], 1 / 3),
        (["x"] * 200 + ["c"], 1 / 201),
        (["x"], 0),
        ([], 0),
    ],
)
def test_reciprocal_rank_is_one_over_the_rank_of_the_first_relevant(
    ranked: list[str], expected: float
) -> None:
    assert reciprocal_rank(ranked, GAINS) == expected


def test_ndcg_is_the_discounted_gain_over_that_of_the_best_order() -> None:
    found = 1 / log2(2) + 0 / log2(3) + 2 / log2(4) + 1 / log2(6)
    best = 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert ndcg(["a", "judged", "b", "x", "c"], GAINS, 5) == pytest.approx(found / best, rel=1e-12)


def test_ndcg_is_cut_at_k_on_both_sides() -> None:
    gains = {"a": 1.0, "b": 1.0, "c": 1.0}
    found, best = 1 / log2(3), 1 / log2(2) + 1 / log2(3)
    assert ndcg(["x", "a", "b"], gains, 2) == pytest.approx(found / best, rel=1e-12)


def test_ndcg_takes_a_gain_below_0_as_0() -> None:
    found, best = 1 / log2(3), 1 / log2(2)
    assert ndcg(["worse", "a"], {"worse": -5.0, "a": 1.0}, 5) == found / best


@pytest.mark.parametrize(("ranked", "expected"), [(["b", "a", "c"], 1.0), ([], 0.0), (["x"], 0.0)])
def test_ndcg_at_its_ends(ranked: list[str], expected: float) -> None:
    assert ndcg(ranked, GAINS, 10) == expected


@pytest.mark.parametrize(("found", "expected"), [(0, 1.0), (1, 0.0), (7, 0.0)])
def test_abstention_is_1_only_where_nothing_was_returned(found: int, expected: float) -> None:
    assert abstention(found) == expected


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1), (25, 2), (50, 3), (90, 4.6), (95, 4.8), (100, 5)]
)
def test_a_percentile_lies_between_its_neighbours_in_proportion(
    percent: float, expected: float
) -> None:
    assert percentile([5, 1, 4, 2, 3], percent) == pytest.approx(expected, rel=1e-12)
    assert percentile([7], percent) == 7


GOLD = [("doc", 100, 160)]


@pytest.mark.parametrize("size", [80, 400])
def test_a_covered_span_is_found_whole_whatever_the_size_of_chunks(size: int) -> None:
    chunks: list[Span] = [("doc", start, start + size) for start in range(0, 800, size)]
    assert span_recall(chunks, GOLD) == 1
    assert span_precision(chunks, GOLD) == 60 / 800
    assert span_iou(chunks, GOLD) == 60 / 800


def test_overlapping_hits_count_once() -> None:
    found = [("doc", 80, 140), ("doc", 120, 170), ("doc", 80, 140)]
    assert span_recall(found, GOLD) == 1
    assert span_precision(found, GOLD) == 60 / 90
    assert span_iou(found, GOLD) == 60 / 90


def test_half_a_span_is_half_and_not_1() -> None:
    assert span_recall([("doc", 130, 400)], GOLD) == 0.5
    assert span_precision([("doc", 130, 400)], GOLD) == 30 / 270
    assert span_iou([("doc", 130, 400)], GOLD) == 30 / 300


def test_overlapping_gold_counts_once() -> None:
    gold = [*GOLD, ("doc", 120, 200)]
    assert span_recall([("doc", 120, 160)], gold) == 40 / 100


def test_the_same_place_in_another_document_is_not_found() -> None:
    assert span_recall([("other", 100, 160)], GOLD) == 0
    assert span_precision([("other", 100, 160)], GOLD) == 0
    assert span_iou([("other", 100, 160)], GOLD) == 0


def test_spans_that_touch_share_nothing() -> None:
    assert covered([("doc", 0, 100), ("doc", 160, 200)], GOLD) == 0


def test_nothing_found_and_nothing_wanted_are_0() -> None:
    assert span_recall([], GOLD) == span_precision([], GOLD) == span_iou([], GOLD) == 0
    assert span_recall(GOLD, []) == span_precision(GOLD, []) == span_iou(GOLD, []) == 0
    assert span_recall([], []) == span_precision([], []) == span_iou([], []) == 0


# A few positions only, so that spans nest, touch, overlap and repeat.
SPANS = st.lists(
    st.builds(
        lambda name, start, size: (name, start, start + size),
        st.sampled_from(["", "a", "b"]),
        st.integers(0, 12),
        st.integers(1, 12),
    ),
    max_size=8,
)


def characters(spans: list[Span]) -> set[tuple[str, int]]:
    return {(name, at) for name, start, end in spans for at in range(start, end)}


@given(SPANS, SPANS)
def test_spans_count_as_sets_of_characters(found: list[Span], wanted: list[Span]) -> None:
    ours, theirs = characters(found), characters(wanted)
    both, either = len(ours & theirs), len(ours | theirs)
    assert covered(found, wanted) == both
    assert span_recall(found, wanted) == (both / len(theirs) if theirs else 0)
    assert span_precision(found, wanted) == (both / len(ours) if ours else 0)
    assert span_iou(found, wanted) == (both / either if either else 0)
