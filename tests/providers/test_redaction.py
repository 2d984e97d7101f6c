import re
from collections.abc import Iterable

import pytest
from groundkit_core.errors import ConfigurationError
from groundkit_providers.redaction import (
    DEFAULT_PATTERNS,
    RedactionConfig,
    RedactionPattern,
    RedactionResult,
    Redactor,
)
from pydantic import ValidationError


class FixedDetector:
    def __init__(self, *spans: tuple[int, int, str]) -> None:
        self.spans = spans

    def detect(self, _text: str, /) -> Iterable[tuple[int, int, str]]:
        return self.spans


def test_overlapping_spans_become_one_named_by_the_longest() -> None:
    text = "Card 4111 1111 1111 1111.example.com today"
    detector = FixedDetector((5, 24, "CARD"), (20, 36, "URL"))
    redactor = Redactor(RedactionConfig(patterns=(), detector=detector))
    result = redactor.redact(text)
    assert result == RedactionResult(text="Card [CARD_1] today", counts={"CARD": 1})
    assert redactor.restore(result.text) == text


def test_a_chain_of_overlaps_becomes_one_span() -> None:
    spans = ((0, 4, "A"), (3, 8, "B"), (7, 9, "C"), (9, 10, "D"))
    config = RedactionConfig(patterns=(), detector=FixedDetector(*spans))
    assert Redactor(config).redact("0123456789").text == "[B_1][D_1]"


def test_each_of_several_values_has_its_own_token() -> None:
    text = "a@example.com b@example.org c@example.net"
    redactor = Redactor()
    result = redactor.redact(text)
    assert result.text == "[EMAIL_1] [EMAIL_2] [EMAIL_3]"
    assert result.counts == {"EMAIL": 3}
    assert redactor.restore(result.text) == text


def test_equal_values_share_a_token_across_the_texts_of_one_call() -> None:
    redactor = Redactor()
    assert redactor.redact("From b@example.org").text == "From [EMAIL_1]"
    assert redactor.redact("a@example.org b@example.org").text == "[EMAIL_2] [EMAIL_1]"


def test_two_redactors_share_nothing() -> None:
    first, second = Redactor(), Redactor()
    first.redact("a@example.org")
    second.redact("nothing")
    assert first.restore("[EMAIL_1]") == "a@example.org"
    assert second.restore("[EMAIL_1]") == "[EMAIL_1]"


@pytest.mark.parametrize(
    "literal", ["[EMAIL_1]", "[email_1]", r"\[EMAIL_1\]", r"[EMAIL\_1]", "[LITERAL_1]", "[I_2]"]
)
def test_text_that_looks_like_a_token_comes_back_and_discloses_nothing(literal: str) -> None:
    redactor = Redactor()
    system = redactor.redact("Ask a@example.org.")
    prompt = redactor.redact(f"See {literal}, b@example.org.")
    assert prompt.text == "See [LITERAL_1], [EMAIL_2]."
    assert prompt.counts == {"EMAIL": 1}
    assert redactor.restore(system.text) == "Ask a@example.org."
    assert redactor.restore(prompt.text) == f"See {literal}, b@example.org."


@pytest.mark.parametrize(
    "text",
    ["[1]", "[EMAIL]", "[EMAIL_0]", "[EMAIL_01]", "[EMAIL 1]", "[E-MAIL_1]", "[_1]", "[1_1]"],
)
def test_text_in_brackets_that_is_no_token_stays(text: str) -> None:
    assert Redactor().redact(text) == RedactionResult(text=text, counts={})


@pytest.mark.parametrize(
    "written",
    ["[EMAIL_1]", "[email_1]", "[Email_1]", r"\[EMAIL_1\]", r"\[email\_1\]", r"[EMAIL\_1]"],
)
def test_a_token_that_the_model_wrote_differently_is_restored(written: str) -> None:
    redactor = Redactor()
    redactor.redact("a@example.org")
    assert redactor.restore(f"Ask {written}!") == "Ask a@example.org!"


@pytest.mark.parametrize("written", [r"\[EMAIL_1]", r"\\[EMAIL_1]"])
def test_a_backslash_before_a_whole_token_stays(written: str) -> None:
    redactor = Redactor()
    redactor.redact("a@example.org")
    assert redactor.restore(written) == written.replace("[EMAIL_1]", "a@example.org")


@pytest.mark.parametrize(
    "unknown", ["[EMAIL_2]", "[PHONE_1]", "[EMAIL_99999999999999999999]", r"[EMAIL_1\]", "[EMAIL_1"]
)
def test_an_unknown_token_stays_text(unknown: str) -> None:
    redactor = Redactor()
    redactor.redact("a@example.org")
    assert redactor.restore(unknown) == unknown


def test_a_restored_value_is_not_searched_for_tokens() -> None:
    pattern = RedactionPattern(name="LINE", pattern="<.*>")
    redactor = Redactor(RedactionConfig(patterns=(pattern,)))
    redactor.redact("<[LINE_2]> <x>")
    assert redactor.redact("<[LINE_1]>").text == "[LINE_2]"
    assert redactor.restore("[LINE_2]") == "<[LINE_1]>"


def test_custom_kinds_stand_beside_the_default_ones() -> None:
    ticket = RedactionPattern(name="TICKET", pattern=r"OPS-[0-9]+")
    config = RedactionConfig(patterns=(*DEFAULT_PATTERNS, ticket))
    assert Redactor(config).redact("é茶 OPS-17 a@b.org").text == "é茶 [TICKET_1] [EMAIL_1]"
    assert Redactor(RedactionConfig(patterns=())).redact("OPS-17 a@b.org").text == "OPS-17 a@b.org"


@pytest.mark.parametrize("name", ["", "email", "1A", "_A", "A-B", "A B", "É", "A\n", "LITERAL"])
def test_a_kind_that_cannot_stand_in_a_token_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        RedactionPattern(name=name, pattern="x")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing )"),
        (r"(a)\1", "invalid escape sequence"),
        ("(?=a)", "invalid perl operator"),
        ("a*", "matches the empty string"),
        ("", "matches the empty string"),
        ("\ud800", "no valid Unicode"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_by_name(pattern: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"^redaction pattern KEY: .*{re.escape(reason)}"):
        RedactionPattern(name="KEY", pattern=pattern)


def test_a_pattern_finds_nothing_empty() -> None:
    config = RedactionConfig(patterns=(RedactionPattern(name="EDGE", pattern=r"\b"),))
    assert Redactor(config).redact("a b").text == "a b"


@pytest.mark.parametrize("span", [(0, 4), (-1, 2), (2, 2), (3, 1)])
def test_a_detector_that_points_outside_the_text_is_refused(span: tuple[int, int]) -> None:
    config = RedactionConfig(detector=FixedDetector((*span, "PERSON")))
    with pytest.raises(ConfigurationError, match=f"the span {span[0]}..{span[1]} of 3"):
        Redactor(config).redact("abc")


@pytest.mark.parametrize("kind", ["person", "LITERAL", ""])
def test_a_detector_with_a_kind_that_names_no_token_is_refused(kind: str) -> None:
    with pytest.raises(ConfigurationError, match="names no token"):
        Redactor(RedactionConfig(detector=FixedDetector((0, 1, kind)))).redact("abc")


def test_values_are_in_no_repr_and_no_validation_error() -> None:
    config = RedactionConfig(names=("Zaphod",))
    redactor = Redactor(config)
    result = redactor.redact("Zaphod z@example.org")
    for thing in (config, redactor, result):
        assert "aphod" not in repr(thing)
        assert "z@example" not in repr(thing)
    assert repr(result) == "RedactionResult(counts={'PERSON': 1, 'EMAIL': 1})"
    with pytest.raises(ValidationError) as caught:
        RedactionConfig(names="Zaphod")  # type: ignore[arg-type]
    assert "Zaphod" not in str(caught.value)


def test_configurations_are_frozen_and_equal_by_their_settings() -> None:
    config = RedactionConfig(names=("A",))
    assert config == RedactionConfig(names=("A",))
    assert config != RedactionConfig(names=("B",))
    with pytest.raises(ValidationError):
        config.names = ()
