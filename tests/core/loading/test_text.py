import pytest
from groundkit_core.loading.text import blocks


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_paragraphs_stand_between_blank_lines(line_end: str) -> None:
    text = "one\ntwo\n\nthree\n \t \nfour\n\n\n  five\nsix\n".replace("\n", line_end)
    found = [text[block.start : block.end].strip() for block in blocks(text)]
    assert found == [
        part.replace("\n", line_end) for part in ("one\ntwo", "three", "four", "five\nsix")
    ]


def test_mixed_line_ends_make_blank_lines_too() -> None:
    text = "one\r\n\ntwo\n\rthree\r\n\r\nfour\n\r\nfive"
    found = [text[block.start : block.end].strip() for block in blocks(text)]
    assert found == ["one", "two", "three", "four", "five"]


def test_a_text_that_begins_with_blank_lines_keeps_its_first_paragraph() -> None:
    assert [block.start for block in blocks("\n\n\none") if block.start < block.end] == [3]
