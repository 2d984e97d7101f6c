from collections.abc import Callable
from time import process_time

import pytest
from groundkit_providers.redaction import (
    DEFAULT_PATTERNS,
    RedactionConfig,
    RedactionPattern,
    Redactor,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.core.timing import HOSTILE, check_linear, repeated

ATOMS = [
    "[",
    "]",
    "\\",
    "_",
    "[EMAIL_1]",
    "[email_1]",
    r"\[EMAIL_1\]",
    r"[EMAIL\_1]",
    "[LITERAL_1]",
    r"\[EMAIL_1]",
    "[X_1]",
    "EMAIL_1",
    "a@b.org",
    "c@d.co.uk",
    "@",
    ".",
    "415-555-0123",
    "4111 1111 1111 1111",
    "GB29NWBK60161331926819",
    "10.0.0.1",
    "::1",
    "password=",
    "Bearer abcdef123456",
    "https://u:p@h",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    " ",
    "\n",
    "\r\n",
    "1",
    "0",
    "茶",
    "e\u0301",
    "\ud800",
    "\0",
    "%40",
    "ADA",
    "Ada\nLovelace",
    ":",
    "/",
    "-",
    "+",
    '"',
    "'",
    "(",
    ")",
    "x",
]
texts = st.lists(
    st.one_of(
        st.sampled_from(ATOMS), st.text(alphabet=st.characters(exclude_categories=()), max_size=4)
    ),
    max_size=25,
).map("".join)
CONFIGS = [
    RedactionConfig(),
    RedactionConfig(
        patterns=(
            *DEFAULT_PATTERNS,
            RedactionPattern(name="X", pattern="x|EMAIL|_1"),
            RedactionPattern(name="X_1", pattern=r"\["),
        ),
        names=("Ada Lovelace", "Ada", "茶"),
    ),
]


@given(st.lists(texts, min_size=1, max_size=4), st.sampled_from(CONFIGS))
def test_what_is_redacted_comes_back(sent: list[str], config: RedactionConfig) -> None:
    redactor = Redactor(config)
    redacted = [redactor.redact(text).text for text in sent]
    assert [redactor.restore(text) for text in redacted] == sent


@given(st.lists(texts, min_size=2, max_size=4), st.sampled_from(CONFIGS))
def test_texts_come_back_whatever_was_redacted_since(
    sent: list[str], config: RedactionConfig
) -> None:
    redactor = Redactor(config)
    for text in sent:
        assert redactor.restore(redactor.redact(text).text) == text


@given(texts)
def test_any_text_is_restored_without_an_error(text: str) -> None:
    redactor = Redactor()
    redactor.redact("a@b.org [EMAIL_1]")
    assert isinstance(redactor.restore(text), str)


UNITS = [
    *HOSTILE,
    "1 ",
    "[",
    "-----BEGIN",
    "+",
    ":",
    "11 ",
    "555 1234567 ",
    "password=",
    "password='\\",
    "eyJ",
    "1.",
    "@",
    "://",
    "a:b@",
    r"\[a_",
    "_",
    '"',
    "A1b",
    "Bearer ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----\n",
    "a\n",
    "GB29",
    "4111 1111 1111 1111 ",
    "(0",
    "sk-",
    "%40a",
    "://a@",
    "1" * 15 + ",",
    "a" * 70 + "\n",
    "ada ",
]
NAMED = RedactionConfig(names=("Ada Lovelace", "ada ada ada b", "茶 茶 b"))


@pytest.mark.parametrize("unit", UNITS)
def test_redaction_takes_time_in_proportion_to_the_text(unit: str) -> None:
    def redact(text: str) -> object:
        return Redactor(NAMED).redact(text)

    check_linear(redact, lambda size: repeated(unit, size), 200_000)


@pytest.mark.parametrize("unit", ["a", "a@", "0", "1 ", "["])
def test_a_megabyte_is_redacted_in_seconds(unit: str) -> None:
    text = repeated(unit, 1_000_000)
    start = process_time()
    Redactor().redact(text)
    assert process_time() - start < 4


@pytest.mark.parametrize("unit", ["[", "[a_", "[EMAIL_1]", "\\", "[a_1", "_1", "[_"])
def test_restoring_takes_time_in_proportion_to_the_text(unit: str) -> None:
    redactor = Redactor()
    redactor.redact("a@b.org")
    restore: Callable[[str], object] = redactor.restore
    check_linear(restore, lambda size: repeated(unit, size), 200_000)
