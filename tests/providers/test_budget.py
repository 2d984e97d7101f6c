import pytest
from groundkit_core.contracts import VerificationStatus
from groundkit_providers.budget import Dropped, estimate_tokens, within_budget
from groundkit_providers.framing import framed
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.strategies import texts, unhurried
from tests.core.timing import HOSTILE, check_linear, repeated
from tests.providers.results import response, result

PASSAGES = ["Pumps stop.", "Valves open at 7 bar. " * 5, "Hoses [1] 軟管", "Mist."]
FOUND = response(*(result(text, rank=rank) for rank, text in enumerate(PASSAGES, 1)))
STATUSES: list[VerificationStatus | None] = [None, "verified", "moved", "drifted", "unresolvable"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("ab", 1),
        ("abc", 2),
        ("a b", 3),
        ("a\nb", 3),
        ("ab\ncd ef", 5),
        ("aB", 2),
        ("x" * 20, 10),
        ("x" * 21, 21),
        ("9f8abc", 6),
        ("12.5", 4),
        ("é", 2),
        ("茶", 3),
        ("🚰", 4),
        ("\ud800", 3),
        ("Hose 7!", 3 + 2),
    ],
)
def test_plain_words_and_spaces_are_half_and_all_else_is_bytes(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@unhurried
@given(texts, texts)
def test_more_text_never_takes_fewer_tokens(first: str, second: str) -> None:
    assert estimate_tokens(first) <= estimate_tokens(first + second)


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_estimating_takes_linear_time(unit: str) -> None:
    check_linear(estimate_tokens, lambda size: repeated(unit, size), 1_000_000)


@pytest.mark.parametrize("kept", range(1, 5))
def test_the_most_results_that_fit_are_kept(kept: int) -> None:
    tokens = estimate_tokens(framed(PASSAGES[:kept]))
    fitting, dropped = within_budget(FOUND, tokens)
    assert fitting == FOUND.model_copy(update={"results": FOUND.results[:kept]})
    assert dropped == Dropped(over_budget=4 - kept)
    fewer, _ = within_budget(FOUND, tokens - 1)
    assert fewer.results == FOUND.results[: kept - 1]


def test_the_overhead_counts_against_the_budget() -> None:
    tokens = estimate_tokens(framed(PASSAGES[:2]))
    assert len(within_budget(FOUND, tokens + 7, overhead=7)[0].results) == 2
    assert len(within_budget(FOUND, tokens + 7, overhead=8)[0].results) == 1


@pytest.mark.parametrize("tokens", [0, -5, 10])
def test_a_first_result_that_does_not_fit_leaves_none(tokens: int) -> None:
    fitting, dropped = within_budget(FOUND, tokens)
    assert fitting.results == ()
    assert dropped == Dropped(over_budget=4)


def test_passages_that_no_longer_stand_go_first_and_ranks_stay() -> None:
    found = response(
        *(result(f"{at}", rank=at, status=status) for at, status in enumerate(STATUSES, 1))
    )
    fitting, dropped = within_budget(found, 10_000)
    assert [one.rank for one in fitting.results] == [1, 2, 3]
    assert dropped == Dropped(gone=2)


@settings(unhurried, max_examples=50)
@given(st.lists(st.tuples(texts, st.sampled_from(STATUSES)), max_size=6), st.integers(0, 400))
def test_what_is_kept_fits_and_is_a_prefix(
    passages: list[tuple[str, VerificationStatus | None]], tokens: int
) -> None:
    found = response(*(result(text, status=status) for text, status in passages))
    fitting, dropped = within_budget(found, tokens)
    standing = [text for text, status in passages if status not in ("drifted", "unresolvable")]
    kept = [one.content for one in fitting.results]
    assert kept == standing[: len(kept)]
    assert not kept or estimate_tokens(framed(kept)) <= tokens
    assert dropped == Dropped(len(passages) - len(standing), len(standing) - len(kept))


@pytest.mark.parametrize(
    ("dropped", "kept", "note"),
    [
        (Dropped(), 3, None),
        (Dropped(gone=2), 3, "passages left out: 2 no longer as indexed in the source"),
        (Dropped(over_budget=1), 3, "passages left out: 1 over the context budget"),
        (
            Dropped(gone=1, over_budget=2),
            0,
            (
                "passages left out: 1 no longer as indexed in the source; "
                "2 over the context budget, the first one alone too long"
            ),
        ),
    ],
)
def test_the_note_says_what_was_left_out_and_why(
    dropped: Dropped, kept: int, note: str | None
) -> None:
    assert dropped.note(kept) == note
