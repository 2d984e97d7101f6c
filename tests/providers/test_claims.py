from collections.abc import Callable

import pytest
from groundkit_core.contracts import Span, VerificationStatus
from groundkit_core.errors import SynthesisError
from groundkit_providers.answer import AnswerReport
from groundkit_providers.claims import (
    Closeness,
    all_verified,
    closest_passages,
    sentences,
    uncited_sentences,
)
from groundkit_providers.markers import find_markers
from hypothesis import given

from tests.core.strategies import texts, unhurried
from tests.core.timing import HOSTILE, check_linear, repeated
from tests.providers.results import result
from tests.providers.test_markers import marked_texts

HOSES = ["Hose limit is 7 bar.", "Hose limit is 9 bar."]


def report(answer: str, *sources: str, start: int = 0) -> AnswerReport:
    results = tuple(result(source, start=start) for source in sources)
    return AnswerReport(query="hose", answer=answer, results=results)


def cut(text: str, spans: tuple[Span, ...]) -> list[str]:
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", []),
        ("Pumps stop", ["Pumps stop"]),
        ("Pumps stop. Valves open! Why?", ["Pumps stop.", "Valves open!", "Why?"]),
        ("Pumps stop. [1] Valves open [2].", ["Pumps stop. [1]", "Valves open [2]."]),
        ("Pumps stop.[1][2], [3] Valves", ["Pumps stop.[1][2], [3]", "Valves"]),
        ("Pumps stop.\n[1]\nValves open.", ["Pumps stop.\n[1]", "Valves open."]),
        ("At 3.5 bar, e.g. in hoses.", ["At 3.5 bar, e.g. in hoses."]),
        ("J. Smith (see a.md) agrees.", ["J. Smith (see a.md) agrees."]),
        ('He said "stop." Then "go!"', ['He said "stop."', 'Then "go!"']),
        ("Wait... now", ["Wait...", "now"]),
        ("泵停止。阀门打开！为什么？[1] 好", ["泵停止。", "阀门打开！", "为什么？[1]", "好"]),
        ("पंप रुकता है। वाल्व खुलता है।", ["पंप रुकता है।", "वाल्व खुलता है।"]),
        ("هل يتوقف؟ نعم", ["هل يتوقف؟", "نعم"]),
        ("# Pumps\n\n1. They stop.\n- [x] Valves open", ["They stop.", "Valves open"]),
        ("> Pumps stop.\n\n---\n\n***", ["Pumps stop."]),
        ("Use `a. b` now.\n```\nx. y\n```\nDone.", ["Use `a. b` now.", "Done."]),
        ("`a.b()`", []),
    ],
    ids=ascii,
)
def test_an_answer_is_cut_into_sentences(answer: str, expected: list[str]) -> None:
    assert cut(answer, sentences(answer)) == expected


@unhurried
@given(marked_texts | texts)
def test_sentences_do_not_overlap_and_hold_every_marker_that_follows_words(text: str) -> None:
    found = sentences(text)
    bounds = [at for span in found for at in (span.start, span.end)]
    assert bounds == sorted(bounds)
    assert all(span.start < span.end for span in found)
    for marker in find_markers(text):
        inside = [span.start <= marker.start and marker.end <= span.end for span in found]
        apart = [marker.end <= span.start or span.end <= marker.start for span in found]
        assert all(one or other for one, other in zip(inside, apart, strict=True))


@pytest.mark.parametrize(
    "unit", [*HOSTILE, ". ", "a. [1] ", "[1]", "a [1]\n", ".\n", ", "], ids=ascii
)
def test_cutting_takes_linear_time(unit: str) -> None:
    check_linear(sentences, lambda size: repeated(unit, size), 300_000)


def test_sentences_without_a_marker_are_uncited() -> None:
    answer = (
        "# Pumps\nThe limits are:\n- Pumps stop [1].\n- Valves open.\nDone. [2]\n```\na\n```\nBye"
    )
    assert cut(answer, uncited_sentences(report(answer, *HOSES))) == ["Valves open.", "Bye"]


def test_an_abstention_is_uncited_as_a_whole() -> None:
    answer = "The sources do not say. Source 2 is silent."
    assert uncited_sentences(report(answer, *HOSES)) == sentences(answer)


def test_the_closest_passage_is_a_span_of_the_document() -> None:
    source = "Pumps need oil.\nA hose holds at most\n7 bar. Valves open."
    answer = "Oil matters. A hose holds 7 bar [1]."
    assert closest_passages(report(answer, source, start=100)) == (
        Closeness(
            sentence=Span(start=13, end=36),
            source=1,
            overlap=1.0,
            passage=Span(start=116, end=143),
        ),
    )
    assert source[16:43] == "A hose holds at most\n7 bar."


def test_each_cited_source_of_a_sentence_is_compared() -> None:
    found = closest_passages(report("Hose limit is 7 bar [2][1].", *HOSES))
    assert [(one.source, one.overlap, one.found_in) for one in found] == [
        (2, 3 / 4, None),
        (1, 4 / 4, None),
    ]


def test_a_claim_that_another_source_comes_nearer_to_is_pointed_out() -> None:
    (found,) = closest_passages(report("The limit is 9 bar [1].", *HOSES))
    assert (found.source, found.overlap, found.found_in) == (1, 2 / 3, 2)
    (right,) = closest_passages(report("The limit is 9 bar [2].", *HOSES))
    assert (right.source, right.overlap, right.found_in) == (2, 3 / 3, None)


@pytest.mark.parametrize("answer", ["bar [1].", "It is the bar [1].", "It is. [1]"])
def test_a_claim_of_one_word_is_too_short_to_say(answer: str) -> None:
    assert closest_passages(report(answer, *HOSES)) == (
        Closeness(sentence=Span(start=0, end=len(answer)), source=1, overlap=None),
    )


def test_too_little_overlap_is_no_close_passage() -> None:
    told = report("Hose colours are blue, green, red [1].", *HOSES)
    (found,) = closest_passages(told)
    assert (found.overlap, found.passage, found.found_in) == (1 / 5, None, None)
    (near,) = closest_passages(told, minimum_overlap=0.2)
    assert near.passage == Span(start=0, end=20)


def test_the_first_of_equally_near_sentences_is_the_closest() -> None:
    (found,) = closest_passages(report("Hose limit: 7 bar [1].", "Mist. Hose limit. Limit, hose."))
    assert (found.overlap, found.passage) == (2 / 4, Span(start=6, end=17))


def test_a_source_below_the_minimum_is_not_pointed_out() -> None:
    told = report("Hose colours are blue, green, red [1].", "Mist.", HOSES[0])
    (found,) = closest_passages(told)
    assert (found.overlap, found.passage, found.found_in) == (0.0, None, None)
    (low,) = closest_passages(told, minimum_overlap=0.2)
    assert (low.overlap, low.passage, low.found_in) == (0.0, None, 2)


def test_claims_in_an_unspaced_script_are_compared() -> None:
    (found,) = closest_passages(report("茶壶在厨房 [1]。", "钥匙在门后。茶壶在厨房的架子上。"))
    assert (found.overlap, found.passage) == (1.0, Span(start=6, end=16))


def test_code_of_a_source_supports_a_claim() -> None:
    source = "# Limits\n\n```toml\nretry_limit = 5\n```\n"
    (found,) = closest_passages(report("The retry_limit is 5 [1].", source))
    assert found.overlap == 1.0


@pytest.mark.parametrize(
    ("first", "second", "standing", "strict"),
    [
        ("verified", "verified", True, True),
        ("verified", "moved", True, False),
        ("verified", "drifted", False, False),
        ("unresolvable", "verified", False, False),
        ("verified", None, False, False),
    ],
)
def test_all_citations_are_verified_when_every_cited_passage_stands(
    first: VerificationStatus, second: VerificationStatus | None, standing: bool, strict: bool
) -> None:
    results = (
        result("Pumps", status=first),
        result("Mist", status="drifted"),
        result("Hoses", status=second),
    )
    told = AnswerReport(query="q", answer="Pumps [1]. Hoses [3].", results=results)
    assert all_verified(told) is standing
    assert all_verified(told, strict=True) is strict


def test_an_abstention_has_nothing_unverified() -> None:
    assert all_verified(report("The sources do not say.", *HOSES))


@pytest.mark.parametrize("work", [all_verified, closest_passages])
def test_a_report_that_cites_a_missing_source_is_refused(
    work: Callable[[AnswerReport], object],
) -> None:
    with pytest.raises(SynthesisError, match=r"cites \[3\], but it had 2 sources"):
        work(report("Pumps [3].", *HOSES))
