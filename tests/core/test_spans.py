import re

import pytest
from groundkit_core.spans import Lines, byte_span, line_range, utf16_span
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import texts, unhurried

# A byte order mark is not counted, so these encode like the codec without one.
CODECS = {
    "utf-8": "utf-8",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "utf-8-sig": "utf-8",
    "utf-16": "utf-16-le",
    "utf-32": "utf-32-le",
}


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, int, int]:
    text = draw(texts)
    start = draw(st.integers(0, len(text)))
    return text, start, draw(st.integers(start, len(text)))


@unhurried
@given(spans())
def test_a_utf16_span_cuts_the_same_passage(span: tuple[str, int, int]) -> None:
    text, start, end = span
    first, last = utf16_span(text, start, end)
    units = text.encode("utf-16-le")
    assert units[2 * first : 2 * last].decode("utf-16-le") == text[start:end]


@pytest.mark.parametrize("encoding", CODECS)
@unhurried
@given(span=spans())
def test_a_byte_span_cuts_the_same_passage(encoding: str, span: tuple[str, int, int]) -> None:
    text, start, end = span
    codec = CODECS[encoding]
    first, last = byte_span(text, start, end, encoding)
    assert text.encode(codec)[first:last].decode(codec) == text[start:end]


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "gb18030", "big5"])
def test_a_byte_span_counts_in_the_encoding_that_a_file_was_read_with(encoding: str) -> None:
    text = "Tea 茶 pot, 茶館 done."
    for start in range(len(text)):
        first, last = byte_span(text, start, len(text) - 1, encoding)
        assert text.encode(encoding)[first:last].decode(encoding) == text[start:-1]


def test_units_of_a_span_beyond_the_basic_plane() -> None:
    text = "a🚰é𝔘z"
    assert utf16_span(text, 1, 4) == (1, 6)
    assert byte_span(text, 1, 4) == (1, 11)
    assert byte_span(text, 5, 5) == (12, 12)


def test_a_lone_surrogate_counts_one_unit() -> None:
    assert utf16_span("a\ud800b", 1, 2) == (1, 2)


@unhurried
@given(texts)
def test_lines_begin_after_each_line_end(text: str) -> None:
    lines = Lines(text)
    ends = [match.end() for match in re.finditer("\r\n|\n|\r", text)]
    assert lines.starts == [0, *ends]
    assert [lines.start(line) for line in range(len(ends) + 3)] == [0, *ends, len(text), len(text)]
    for line, start in enumerate(lines.starts[:-1]):
        assert lines.of(start, start + 1) == (line + 1, line + 1)


@unhurried
@given(spans())
def test_the_lines_of_one_span_are_those_of_all(span: tuple[str, int, int]) -> None:
    text, start, end = span
    assert line_range(text, start, end) == Lines(text).of(start, end)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_span_has_the_lines_from_its_first_to_its_last_character(line_end: str) -> None:
    text = line_end.join(["one", "two", "", "four"])
    lines = Lines(text)
    two, four = text.index("two"), text.index("four")
    assert lines.of(0, 3) == (1, 1)
    assert lines.of(0, two) == (1, 1)
    assert lines.of(0, two + 1) == (1, 2)
    assert lines.of(two, four) == (2, 3)
    assert lines.of(two, len(text)) == (2, 4)
    assert lines.of(two, two) == (2, 2)


def test_an_empty_text_has_one_line() -> None:
    assert Lines("").of(0, 0) == (1, 1)
    assert Lines("").start(5) == 0
