from itertools import pairwise, product

import pytest
from groundkit_core.chunking import chunk_document
from groundkit_core.chunking.blocks import Block
from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Document
from groundkit_core.terms import count_words, word_spans
from hypothesis import given
from hypothesis import strategies as st

from tests.core.chunking.passages import check_invariants, chunks, path_at, spans
from tests.core.strategies import texts, unhurried


def test_equal_paragraphs_are_cited_where_each_stands() -> None:  # A1
    text = "Keep valve shut.\n\nOpen the hatch.\n\nKeep valve shut.\n"
    assert len(text) == 52
    passages = chunks(text, size=3)
    assert spans(passages) == [(0, 16), (18, 33), (35, 51)]
    assert passages[0].id != passages[2].id


@pytest.mark.parametrize("fence", ["```", "~~~"])
@pytest.mark.parametrize("size", [1, 4, 200])
def test_a_fence_hides_headings_and_keeps_its_blanks(fence: str, size: int) -> None:  # A3
    text = f"# Alpha\n\nBefore.\n\n{fence}sh\n# not a heading\n\tmake all\n{fence}\n\nAfter.\n"
    passages = chunks(text, "markdown", size=size)
    assert {chunk.heading_path for chunk in passages} == {("Alpha",)}
    check_invariants(text, passages)
    if size == 200:
        assert [chunk.content for chunk in passages] == [text.strip()]


def test_paragraphs_are_packed_up_to_the_size() -> None:
    text = "one two\n\nthree\n\nfour five six\n\nseven"
    contents = [chunk.content for chunk in chunks(text, size=3)]
    assert contents == ["one two\n\nthree", "four five six", "seven"]


def test_a_section_begins_a_passage() -> None:
    text = "# A\n\none\n\n## B\n\ntwo\n\n# C\n\nthree\n"
    found = [(chunk.content, chunk.heading_path) for chunk in chunks(text, "markdown")]
    assert found == [
        ("# A\n\none", ("A",)),
        ("## B\n\ntwo", ("A", "B")),
        ("# C\n\nthree", ("C",)),
    ]


def test_headings_without_body_lead_the_next_passage() -> None:
    text = "# A\n\n## B\n\n### C\n\none\n"
    [only] = chunks(text, "markdown")
    assert (only.content, only.heading_path) == (text.strip(), ("A", "B", "C"))


def test_a_heading_that_fits_is_not_torn() -> None:
    text = "# one two three\n\n## four five six\n\nseven\n"
    contents = [chunk.content for chunk in chunks(text, "markdown", size=5)]
    assert contents == ["# one two three", "## four five six\n\nseven"]


def test_a_heading_keeps_the_first_part_of_a_paragraph_too_long_for_it() -> None:
    text = "# A\n\none two. three four. five six.\n"
    contents = [chunk.content for chunk in chunks(text, "markdown", size=5)]
    assert contents == ["# A\n\none two. three four.", "five six."]


@pytest.mark.parametrize(
    "block",
    [
        "```\none two\n\nthree four\n```",
        "~~~\n# one two\n\n\n# three four\n~~~",
        "| one | two |\n|-----|-----|\n| three | four |",
        "- one two\n\n  three four",
        "- one two\n  - three\n    - four",
        "> one two\n>\n> three four",
        "    one two\n\n    three four",
        "<div>\none two\nthree\n</div>",
    ],
)
def test_a_markdown_block_that_fits_is_never_torn(block: str) -> None:
    for before in ("x", "x y", "x y z", "# x", "# x\n\ny", "- x\n\n# y"):
        text = f"{before}\n\n{block}\n\nafter it\n"
        contents = [chunk.content for chunk in chunks(text, "markdown", size=5)]
        assert any(block.strip() in content for content in contents), (before, contents)


@pytest.mark.parametrize(
    "block",
    [
        "one two::\n\n    three\n\n    four",
        ".. note:: one\n\n   two\n\n   three four",
        ".. code-block:: text\n\n   one\n\n   two",
        "+-----+-------+\n| one | two   |\n+-----+-------+\n| six | seven |\n+-----+-------+",
        "=====  =====\none    two\n=====  =====\nthree  four\n=====  =====",
        "=====  =====\none    two\n=====  =====\nthree\n\nfour\n=====  =====",
        "    one two\n\n    three four",
    ],
)
def test_a_rst_block_that_fits_is_never_torn(block: str) -> None:
    for before in ("x", "x y", "x y z", "x\n=", "Ab\n==\n\ny"):
        text = f"{before}\n\n{block}\n\nafter it\n"
        contents = [chunk.content for chunk in chunks(text, "restructuredtext", size=5)]
        assert any(block.strip() in content for content in contents), (before, contents)


def test_code_too_long_for_a_passage_divides_at_lines() -> None:
    text = "```\none. two\nthree. four\nfive. six\n```\n"
    contents = [chunk.content for chunk in chunks(text, "markdown", size=5)]
    assert contents == ["```\none. two\nthree. four", "five. six\n```"]


def test_prose_too_long_for_a_passage_divides_at_sentences() -> None:
    text = "One two. Three\nfour five. Six?” Seven."
    contents = [chunk.content for chunk in chunks(text, size=5)]
    assert contents == ["One two. Three\nfour five.", "Six?” Seven."]


def test_prose_without_spaces_divides_at_its_full_stops() -> None:
    text = "茶壶在厨房。钥匙挂在门后！杯子呢？"
    contents = [chunk.content for chunk in chunks(text, size=6)]
    assert contents == ["茶壶在厨房。", "钥匙挂在门后！", "杯子呢？"]


@unhurried
@given(texts, st.integers(2, 30), st.data())
def test_an_overlap_reaches_back_by_its_words_as_far_as_starts_can_rise(
    text: str, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(1, size - 1))
    for left, right in pairwise(chunks(text, size=size, overlap=overlap)):
        shared = count_words(text[right.start : left.end]) if right.start < left.end else 0
        assert shared == max(0, min(overlap, count_words(left.content) - 1))


@pytest.mark.parametrize(("size", "overlap"), [(6, 2), (6, 3), (6, 4), (10, 9), (200, 150)])
def test_passages_of_a_long_paragraph_have_the_size_and_share_the_overlap(
    size: int, overlap: int
) -> None:
    text = " ".join(f"w{i}" for i in range(4 * size))
    *_, left, right, _ = chunks(text, size=size, overlap=overlap)
    assert count_words(right.content) == size
    assert count_words(text[right.start : left.end]) == overlap


def test_a_section_does_not_reach_back_over_its_heading() -> None:
    text = "# A\n\none two three\n\n# B\n\nfour five six seven\n"
    contents = [chunk.content for chunk in chunks(text, "markdown", size=5, overlap=2)]
    assert contents == [
        "# A\n\none two three",
        "# B\n\nfour five six seven",
    ]


def test_heading_paths_hold_in_every_part_of_a_long_section() -> None:
    body = " ".join(f"w{i}." for i in range(50))
    text = f"# A\n\n{body}\n\n## B\n\n{body}\n"
    passages = chunks(text, "markdown", size=7, overlap=2)
    boundary = text.index("## B")
    assert {c.heading_path for c in passages if c.start < boundary} == {("A",)}
    assert {c.heading_path for c in passages if c.start >= boundary} == {("A", "B")}
    assert path_at(text, "w49", passages) == ("A", "B")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["text", "markdown", "restructuredtext"])
def test_spans_are_those_of_the_original_line_ends(name: str, line_end: str) -> None:
    lines = ["Title", "=====", "", "one 🚰 two.", "", "three", "", "cafe\u0301 four.", ""]
    text = line_end.join(lines)
    passages = chunks(text, name, size=3)
    check_invariants(text, passages)
    found = [(chunk.content, chunk.lines) for chunk in passages]
    assert (f"three{line_end}{line_end}cafe\u0301 four.", (6, 8)) in found


def test_structure_in_characters_counts_what_stands_between_paragraphs() -> None:
    text = "abc\n\ndef\n\nghi\n"
    contents = [c.content for c in chunks(text, size=10, unit="characters")]
    assert contents == ["abc\n\ndef", "ghi"]


def test_text_without_words_is_one_passage() -> None:
    text = "---- !! ----\n\n***\n"
    assert list(word_spans(text)) == []
    assert spans(chunks(text, size=1)) == [(0, 17)]


def paths(text: str, blocks: list[Block], **settings: object) -> list[tuple[str, tuple[str, ...]]]:
    config = ChunkingConfig.model_validate(settings)
    passages = chunk_document(Document.from_text("s", text), blocks, config)
    check_invariants(text, passages)
    return [(chunk.content, chunk.heading_path) for chunk in passages]


def table(*parts: str, header: str = "a | b") -> tuple[str, list[Block]]:
    """A heading, a header row and the rows beneath it, a block each."""
    text, blocks = "T\n", [Block(0, 1, "heading", 1, "T")]
    for index, part in enumerate(parts):
        blocks.append(Block(len(text), len(text) + len(part), "lined", header=header * (index > 0)))
        text += part
    return text, blocks


def test_rows_that_go_on_in_another_passage_have_their_header_behind_the_headings() -> None:
    text, blocks = table("a,b\n", "1,2\n3,4\n5,6\n", "7,8\n9,10\n")
    assert paths(text, blocks, size=5) == [
        ("T\na,b\n1,2", ("T",)),
        ("3,4\n5,6", ("T", "a | b")),
        ("7,8\n9,10", ("T", "a | b")),
    ]


def test_the_last_rows_of_a_block_are_packed_with_those_of_the_next() -> None:
    text, blocks = table("a,b\n", "1,2\n3,4\n5,6\n", "7,8\n", "9,10\n")
    assert [content for content, _ in paths(text, blocks, size=7)] == [
        "T\na,b\n1,2\n3,4",
        "5,6\n7,8\n9,10",
    ]


def test_text_beneath_rows_that_went_on_has_no_header_in_its_path() -> None:
    text, blocks = table("a,b\n", "1,2\n3,4\n")
    text += "\nafter"
    assert paths(text, blocks, size=5) == [
        ("T\na,b\n1,2", ("T",)),
        ("3,4", ("T", "a | b")),
        ("after", ("T",)),
    ]
    assert paths(text, blocks, size=8) == [(text, ("T",))]


def test_a_table_that_fits_stays_in_one_with_its_header() -> None:
    text, blocks = table("a,b\n", "1,2\n3,4\n")
    text = text.replace("T\n", "one two three four\n", 1)
    shifted = [Block(b.start + 17, b.end + 17, b.kind, 0, "", b.header) for b in blocks[1:]]
    assert paths(text, shifted, size=6) == [
        ("one two three four", ()),
        ("a,b\n1,2\n3,4", ()),
    ]


def test_a_row_that_spans_lines_is_whole_where_it_fits() -> None:
    row = '1,"x\ny z"'
    for before, size in product(("a,b\n", "a,b\n1,2\n", "a,b\n1,2\n3,4\n"), (4, 5, 6, 7)):
        contents = [c.content for c in chunks(f"{before}{row}\n5,6\n", "csv", size=size)]
        assert any(row in content for content in contents), (before, size, contents)


@pytest.mark.parametrize("size", [4, 5, 6, 7])
def test_a_line_that_fits_is_not_torn_to_fill_the_passage_of_a_heading(size: int) -> None:
    lines = ["one two three four", "five six seven eight", "nine ten eleven twelve"]
    text = "# A b c\n\n" + "```\n" + "\n".join(lines) + "\n```\n"
    contents = [chunk.content for chunk in chunks(text, "markdown", size=size)]
    for line in lines:
        assert any(line in content.split("\n") for content in contents), contents


def test_a_heading_without_title_ends_the_section_above_it() -> None:
    text = "A\none\nB\ntwo\nthree\nfour"
    blocks = [
        Block(0, 1, "heading", 1, "A"),
        Block(6, 7, "heading", 2, "B"),
        Block(12, 17, "heading", 2, ""),
    ]
    assert paths(text, blocks) == [
        ("A\none", ("A",)),
        ("B\ntwo", ("A", "B")),
        ("three\nfour", ("A",)),
    ]
