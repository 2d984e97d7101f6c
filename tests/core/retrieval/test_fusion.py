import math

import pytest
from groundkit_core.retrieval.fusion import RRF_K, fused
from hypothesis import given
from hypothesis import strategies as st

rankings = st.lists(st.sampled_from("abcdefgh"), max_size=12)
weights = st.floats(0, 8)


def test_k_is_sixty() -> None:
    assert RRF_K == 60


def test_a_score_is_the_sum_of_weight_by_k_and_rank() -> None:
    assert fused([["x", "y"], ["y", "z"]]) == {
        "x": 1 / 61,
        "y": 1 / 62 + 1 / 61,
        "z": 1 / 62,
    }
    assert fused([["x", "y"], ["y"]], [1.5, 0.5], k=10) == {"x": 1.5 / 11, "y": 1.5 / 12 + 0.5 / 11}


def test_a_ranking_of_no_weight_adds_nothing() -> None:
    assert fused([["x"], ["y"]], [1, 0]) == {"x": 1 / 61}
    assert round(1 / 61, 6) == 0.016393
    assert fused([["x"], ["y"]], [0, 0]) == {}
    assert fused([]) == {}
    assert fused([[], []]) == {}


def test_only_the_first_mention_counts_and_takes_no_other_place() -> None:
    assert fused([["x", "x", "y", "x"]]) == {"x": 1 / 61, "y": 1 / 62}


@given(rankings, rankings, weights, weights)
def test_the_order_of_two_rankings_does_not_matter(
    first: list[str], second: list[str], one: float, other: float
) -> None:
    assert fused([first, second], [one, other]) == fused([second, first], [other, one])


@given(st.lists(st.tuples(rankings, weights), max_size=4), st.integers(1, 100))
def test_scores_follow_the_formula(given_rankings: list[tuple[list[str], float]], k: int) -> None:
    found = fused([each for each, _ in given_rankings], [w for _, w in given_rankings], k=k)
    for key in "abcdefgh":
        places = [
            (w, sorted(set(ranking), key=ranking.index).index(key) + 1)
            for ranking, w in given_rankings
            if key in ranking and w
        ]
        if places:
            assert math.isclose(found[key], sum(w / (k + rank) for w, rank in places))
        else:
            assert key not in found


@pytest.mark.parametrize("given_weights", [[1.0], [1.0, 1.0, 1.0]])
def test_each_ranking_needs_its_weight(given_weights: list[float]) -> None:
    with pytest.raises(ValueError, match="zip"):
        fused([["x"], ["y"]], given_weights)
