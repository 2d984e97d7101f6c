"""Differences of pairs: what the interval holds and what the p-value says."""

from math import sqrt

import numpy as np
import pytest
from groundkit_evals.metrics import Difference, paired_difference

RANDOM = np.random.default_rng(20_260_101)
LEFT = RANDOM.uniform(0, 1, 300).tolist()
RIGHT = (0.04 + 0.9 * RANDOM.uniform(0, 1, 300)).tolist()


def test_the_difference_is_the_first_less_the_second() -> None:
    found = paired_difference([0.5, 1.0, 0.25], [0.25, 0.0, 0.5])
    assert found.mean == pytest.approx((0.25 + 1 - 0.25) / 3, rel=1e-12)
    assert found.n == 3
    turned = paired_difference([0.25, 0.0, 0.5], [0.5, 1.0, 0.25])
    assert turned.mean == -found.mean


def test_the_interval_holds_the_true_mean_in_19_of_20_cases() -> None:
    random = np.random.default_rng(5)
    nothing = [0.0] * 300
    held = 0
    for case in range(400):
        # Most pairs are equal, the others differ by -0.5 to 1, as metrics of two systems do.
        differences = (random.random(300) < 0.4) * random.uniform(-0.5, 1, 300)
        found = paired_difference(differences.tolist(), nothing, resamples=400, seed=case)
        held += found.low <= 0.4 * 0.25 <= found.high
    assert 368 <= held <= 392  # 92 % to 98 % of 400


def test_the_interval_is_that_of_a_bootstrap_drawn_otherwise() -> None:
    differences = np.subtract(LEFT, RIGHT)
    draws = np.random.default_rng(99).choice(differences, (20_000, 300)).mean(axis=1)
    low, high = np.percentile(draws, (2.5, 97.5))
    found = paired_difference(LEFT, RIGHT)
    spread = 1.96 * differences.std() / sqrt(300)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05 * spread)
    assert (found.low, found.high) == pytest.approx(
        (found.mean - spread, found.mean + spread), abs=0.05 * spread
    )


def test_less_confidence_is_a_narrower_interval() -> None:
    differences = np.subtract(LEFT, RIGHT)
    found = paired_difference(LEFT, RIGHT, confidence=0.5)
    spread = 0.6745 * differences.std() / sqrt(300)
    assert found.high - found.low == pytest.approx(2 * spread, rel=0.05)


def test_the_same_values_give_the_same_figures() -> None:
    assert paired_difference(LEFT, RIGHT) == paired_difference(LEFT, RIGHT)


def test_another_seed_draws_otherwise() -> None:
    first, second = (paired_difference(LEFT, RIGHT, seed=seed) for seed in (0, 1))
    assert (first.mean, first.n) == (second.mean, second.n)
    assert (first.low, first.high, first.p) != (second.low, second.high, second.p)
    assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=0.005)


def test_p_is_the_least_there_is_where_every_pair_differs_in_one_direction() -> None:
    found = paired_difference([0.5 + 0.01 * at for at in range(40)], [0.1] * 40)
    assert found.p == 1 / (10_000 + 1)
    assert found.is_clear
    turned = paired_difference([0.1] * 40, [0.5 + 0.01 * at for at in range(40)])
    assert turned.p == found.p
    assert turned.is_clear


@pytest.mark.parametrize("n", [2, 4, 6])
def test_p_is_the_share_of_sign_flips_that_are_as_far_from_0(n: int) -> None:
    # All signs alike, in either direction, are 2 of 2 ** n.
    assert paired_difference([1.0] * n, [0.0] * n).p == pytest.approx(2 / 2**n, abs=0.02)


def test_p_counts_both_directions() -> None:
    # The sums of 1, 2, 3 with any signs are 0, 2, 4 and 6 away from 0; 2 of 8 are 6, 4 are 4 or 6.
    assert paired_difference([1, 2, 3], [0, 0, 0]).p == pytest.approx(2 / 8, abs=0.02)
    assert paired_difference([-1, 2, 3], [0, 0, 0]).p == pytest.approx(4 / 8, abs=0.02)
    assert paired_difference([1, -2, -3], [0, 0, 0]).p == pytest.approx(4 / 8, abs=0.02)


def test_p_is_1_where_all_are_equal() -> None:
    assert paired_difference([0.3, 0.7], [0.3, 0.7]) == Difference(0, 0, 0, 1, 2)


def test_sums_in_another_order_count_as_equally_far() -> None:
    # Of 16 sums of signed tenths, 10 are 0.2 or 0.4 away from 0, but for their last bits.
    found = paired_difference([0.1, 0.1, 0.1, -0.1], [0.0] * 4)
    assert found.p == pytest.approx(10 / 16, abs=0.02)


def test_every_pair_is_drawn() -> None:
    found = paired_difference([0.0, 1.0], [0.0, 0.0])
    assert (found.mean, found.low, found.high) == (0.5, 0, 1)


def test_one_pair_proves_nothing() -> None:
    found = paired_difference([0.75], [0.25])
    assert (found.mean, found.low, found.high, found.p, found.n) == (0.5, 0.5, 0.5, 1, 1)


@pytest.mark.parametrize(
    ("low", "high", "p", "clear"),
    [
        (0.1, 0.2, 0.049, True),
        (-0.2, -0.1, 0.049, True),
        (0.1, 0.2, 0.05, False),
        (-0.1, 0.1, 0.01, False),
        (0, 0.1, 0.01, False),
        (-0.1, 0, 0.01, False),
    ],
)
def test_a_difference_is_clear_where_its_interval_leaves_out_0_and_chance_is_unlikely(
    low: float, high: float, p: float, clear: bool
) -> None:
    assert Difference(0.0, low, high, p, 9).is_clear is clear


@pytest.mark.parametrize(("n", "resamples"), [(300, 10_000), (2_000_001, 3)])
def test_all_resamples_are_drawn_when_they_do_not_fit_at_once(n: int, resamples: int) -> None:
    # Each sign flip of nothing is as far from 0 as the mean, so each resample counts.
    equal = [0.0] * n
    assert paired_difference(equal, equal, resamples=resamples) == Difference(0, 0, 0, 1, n)


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        paired_difference([], [])


def test_lists_of_different_lengths_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="2 and 3 values are no pairs"):
        paired_difference([0.1, 0.2], [0.1, 0.2, 0.3])
