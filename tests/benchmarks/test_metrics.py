from math import log2

import pytest

from benchmarks.metrics import character_recall, ndcg, recall


def test_ndcg_of_a_ranking_worked_out_by_hand() -> None:
    gains = {"a": 1.0, "b": 1.0, "c": 1.0}
    # Found at ranks 1, 3 and 5; the best order has them at 1, 2 and 3.
    found = 1 / log2(2) + 1 / log2(4) + 1 / log2(6)
    best = 1 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert found == pytest.approx(1.8868528)
    assert best == pytest.approx(2.1309298)
    assert ndcg(["a", "x", "b", "y", "c"], gains, 5) == pytest.approx(found / best)


def test_ndcg_weighs_grades_by_their_rank() -> None:
    gains = {"good": 3.0, "fair": 1.0, "bad": 0.0}
    found = 1 / log2(2) + 0 / log2(3) + 3 / log2(4)
    best = 3 / log2(2) + 1 / log2(3)
    assert ndcg(["fair", "bad", "good"], gains, 3) == pytest.approx(found / best)


def test_ndcg_is_cut_at_k_on_both_sides() -> None:
    gains = {"a": 1.0, "b": 1.0, "c": 1.0}
    assert ndcg(["x", "a", "b"], gains, 2) == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))


@pytest.mark.parametrize(("ranked", "expected"), [(["a", "b"], 1.0), ([], 0.0), (["x"], 0.0)])
def test_ndcg_at_its_ends(ranked: list[str], expected: float) -> None:
    assert ndcg(ranked, {"a": 2.0, "b": 1.0}, 10) == expected


def test_recall_counts_the_relevant_within_k_and_no_others() -> None:
    gains = {"a": 1.0, "b": 2.0, "c": 1.0, "irrelevant": 0.0}
    assert recall(["irrelevant", "a", "b", "c"], gains, 3) == 2 / 3


def test_character_recall_counts_overlaps_once_and_only_in_the_same_document() -> None:
    wanted = [("doc", 100, 160), ("doc", 200, 240)]
    found = [("doc", 80, 130), ("doc", 120, 140), ("doc", 230, 300), ("other", 140, 160)]
    assert character_recall(found, wanted) == (40 + 10) / (60 + 40)
