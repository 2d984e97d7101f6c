"""Agreement, kappa and shares, against figures worked out by hand or published."""

from collections.abc import Callable
from math import sqrt

import pytest
from groundkit_evals.metrics import (
    agreement,
    class_precision,
    class_recall,
    cohen_kappa,
    kappa_interval,
    wilson_interval,
)


def table(counts: dict[tuple[str, str | None], int]) -> tuple[list[str], list[str | None]]:
    """Labels and verdicts that make a table of counts."""
    pairs = [pair for pair, count in counts.items() for _ in range(count)]
    return [label for label, _ in pairs], [verdict for _, verdict in pairs]


TWO = table({("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15})
THREE = table(
    {
        ("a", "a"): 10,
        ("a", "b"): 2,
        ("b", "b"): 5,
        ("b", "c"): 1,
        ("c", "a"): 3,
        ("c", "c"): 4,
    }
)
MISSING = table({("yes", "yes"): 6, ("yes", None): 2, ("no", "no"): 3, ("no", None): 1})


def test_agreement_is_the_share_of_equal_pairs() -> None:
    assert agreement(*TWO) == (20 + 15) / 50
    assert agreement(*THREE) == (10 + 5 + 4) / 25


def test_precision_and_recall_of_a_class() -> None:
    assert class_precision(*TWO, "yes") == 20 / (20 + 10)
    assert class_recall(*TWO, "yes") == 20 / (20 + 5)
    assert class_precision(*TWO, "no") == 15 / (15 + 5)
    assert class_recall(*TWO, "no") == 15 / (15 + 10)


def test_a_class_that_nobody_named_has_neither() -> None:
    assert class_precision(["yes"], ["no"], "yes") is None
    assert class_recall(["yes"], ["no"], "no") is None
    assert class_precision([], [], "yes") is None


def test_a_missing_verdict_agrees_with_nothing() -> None:
    assert agreement(*MISSING) == (6 + 3) / 12
    assert class_precision(*MISSING, "yes") == 6 / 6
    assert class_recall(*MISSING, "yes") == 6 / 8
    assert class_recall(*MISSING, "no") == 3 / 4
    by_chance = (8 / 12) * (6 / 12) + (4 / 12) * (3 / 12)
    assert cohen_kappa(*MISSING) == pytest.approx((9 / 12 - by_chance) / (1 - by_chance))


@pytest.mark.parametrize(
    ("pairs", "observed", "by_chance"),
    [
        (TWO, 35 / 50, (25 * 30 + 25 * 20) / 50**2),
        (THREE, 19 / 25, (12 * 13 + 6 * 7 + 7 * 5) / 25**2),
        (table({("yes", "no"): 3, ("no", "yes"): 3}), 0, 1 / 2),
        (table({("yes", "yes"): 3, ("no", "no"): 5}), 1, (3 * 3 + 5 * 5) / 8**2),
        (table({("yes", "yes"): 3, ("no", "yes"): 1}), 3 / 4, 3 / 4),
    ],
)
def test_kappa_is_agreement_beyond_chance(
    pairs: tuple[list[str], list[str | None]], observed: float, by_chance: float
) -> None:
    assert cohen_kappa(*pairs) == pytest.approx((observed - by_chance) / (1 - by_chance))


def test_kappa_of_a_table_worked_out_by_hand() -> None:
    assert cohen_kappa(*TWO) == pytest.approx(0.4)


def test_kappa_is_none_where_chance_agrees_always() -> None:
    assert cohen_kappa(["yes"] * 7, ["yes"] * 7) is None
    assert kappa_interval(["yes"] * 7, ["yes"] * 7) is None


def test_the_interval_of_kappa_is_as_wide_as_its_standard_error_says() -> None:
    found = kappa_interval(*TWO)
    spread = 1.96 * sqrt(0.7 * (1 - 0.7) / (50 * (1 - 0.5) ** 2))
    assert found == pytest.approx((0.4 - spread, 0.4 + spread), abs=0.03)


def test_the_interval_of_kappa_narrows_with_less_confidence() -> None:
    found = kappa_interval(*TWO, confidence=0.5)
    spread = 0.6745 * sqrt(0.7 * (1 - 0.7) / (50 * (1 - 0.5) ** 2))
    assert found == pytest.approx((0.4 - spread, 0.4 + spread), abs=0.02)


def test_the_interval_of_kappa_is_the_same_each_time_and_another_with_another_seed() -> None:
    assert kappa_interval(*THREE) == kappa_interval(*THREE)
    assert kappa_interval(*THREE) != kappa_interval(*THREE, seed=1)


def test_resamples_without_a_kappa_are_left_out() -> None:
    # Half of the resamples of two pairs draw one of them twice, where chance agrees always.
    assert kappa_interval(["yes", "no"], ["yes", "no"]) == (1, 1)


def test_a_kappa_of_0_counts_in_its_interval() -> None:
    # A judge that says one thing only agrees as chance does, in whatever resample.
    assert kappa_interval(["yes", "no"] * 5, ["yes"] * 10) == (0, 0)


@pytest.mark.parametrize(
    "unequal", [agreement, cohen_kappa, lambda a, b: class_precision(a, b, "yes")]
)
def test_lists_of_different_lengths_are_no_pairs(
    unequal: Callable[[list[str], list[str]], float | None],
) -> None:
    with pytest.raises(ValueError, match="zip"):
        unequal(["yes", "no"], ["yes"])


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Newcombe 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_of_a_share_is_the_published_one(
    hits: int, n: int, low: float, high: float
) -> None:
    assert wilson_interval(hits, n) == pytest.approx((low, high), abs=0.00005)


def test_hits_and_misses_mirror_each_other() -> None:
    low, high = wilson_interval(1, 29)
    assert wilson_interval(28, 29) == pytest.approx((1 - high, 1 - low), rel=1e-12)


@pytest.mark.parametrize("n", [1, 3, 10, 1_000_000])
def test_the_interval_of_a_share_stays_within_0_and_1(n: int) -> None:
    for hits in (0, n):
        low, high = wilson_interval(hits, n)
        assert 0 <= low < high <= 1
        assert low <= hits / n + 1e-15
        assert high >= hits / n - 1e-15


def test_of_none_all_shares_are_possible() -> None:
    assert wilson_interval(0, 0) == (0, 1)
