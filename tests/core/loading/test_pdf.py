import subprocess
import sys
from dataclasses import replace

import pytest
from groundkit_core.errors import RefusedError
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.pdf import extract
from groundkit_core.loading.pdf.glyphs import Char, clean, logical, tex
from groundkit_core.loading.pdf.join import Joiner
from groundkit_core.loading.pdf.lines import Line
from hypothesis import given
from hypothesis import strategies as st

from tests.core.loading.pdf_files import HEIGHT, IMAGE, WIDTH, Bookmark, lines, pdf, text
from tests.core.timing import check_linear, repeated

pytest.importorskip("pypdfium2")

LOREM = [
    "Hydraulic hoses are tested at twice their working pressure before",
    "they leave the plant, and each of them carries the date of its test on",
    "a tag that must not be taken off while the hose is in use anywhere.",
]
JOINED = " ".join(LOREM)
LONG = "This is the longer one of two lines, and its last words are:"
REFUSALS = {
    "PDF: it is broken or no PDF",
    "PDF: it has no pages",
    "PDF: no page holds text; if it is scanned, it needs OCR first",
}


def slices(found: Extracted) -> list[str]:
    ends = (*found.pages[1:], len(found.text))
    return [found.text[start:end] for start, end in zip(found.pages, ends, strict=True)]


def kinds(found: Extracted) -> list[tuple[str, str]]:
    return [(block.kind, found.text[block.start : block.end]) for block in found.blocks]


WORDS = st.text("abcdefghijklmnopqrstuvwxyzäöüß", min_size=2, max_size=9)
SENTENCES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


@given(st.lists(st.lists(SENTENCES, max_size=5), min_size=1, max_size=4).filter(any))
def test_the_slice_of_a_page_holds_what_was_written_on_it(pages: list[list[str]]) -> None:
    found = extract(pdf([lines(page, top=500, step=30) for page in pages]))
    assert found.pages[0] == 0
    assert len(found.pages) == len(pages)
    assert [sorted(part.split()) for part in slices(found)] == [
        sorted(" ".join(page).split()) for page in pages
    ]


def test_lines_become_paragraphs() -> None:
    page = lines(LOREM) + lines(LOREM, top=672)
    assert extract(pdf([page])).text == f"{JOINED}\n\n{JOINED}\n\n"


def test_a_short_last_line_ends_a_paragraph() -> None:
    found = extract(pdf([lines([*LOREM, "And no longer.", *LOREM])]))
    assert kinds(found) == [("prose", f"{JOINED} And no longer."), ("prose", JOINED)]


def test_an_indented_line_begins_a_paragraph() -> None:
    page = lines(LOREM) + text(90, 678, LOREM[0]) + lines(LOREM[1:], top=664)
    assert kinds(extract(pdf([page]))) == [("prose", JOINED), ("prose", JOINED)]


def test_an_indented_block_is_a_paragraph() -> None:
    block = ["A tag that must not be taken off while the hose is in use,", "anywhere at all."]
    page = lines(LOREM) + lines(block, x=110, top=678)
    assert kinds(extract(pdf([page]))) == [("prose", JOINED), ("prose", " ".join(block))]


def test_a_word_is_not_torn_between_the_lines_of_a_form() -> None:
    page = lines(["Other " + "_" * 60, "A panel appoint-", "ments to cases"])
    assert "A panel appointments to cases" in extract(pdf([page])).text


def test_list_items_are_lines_that_begin_with_a_dash_or_their_number() -> None:
    bullets = text(72, 720, "• Check the valve") + text(72, 706, "• Close it")
    numbers = text(72, 600, "1. Check the valve") + text(72, 586, "2. Close it")
    assert kinds(extract(pdf([bullets + numbers]))) == [
        ("lined", "- Check the valve\n- Close it"),
        ("lined", "1. Check the valve\n2. Close it"),
    ]


def test_the_rows_of_a_table_are_lines() -> None:
    page = "".join(
        text(x, 720 - 14 * row, cell)
        for row, cells in enumerate([("Hose", "Bar"), ("H-20", "210"), ("H-40", "350")])
        for x, cell in zip((72, 300), cells, strict=True)
    )
    assert kinds(extract(pdf([page]))) == [("lined", "Hose | Bar\nH-20 | 210\nH-40 | 350")]


def test_the_rows_of_a_wide_table_stay_rows() -> None:
    rows = [(f"The hose called H-{n}", f"Used at up to {n * 9} bar") for n in (20, 30, 40, 50)]
    page = "".join(
        text(x, 720 - 14 * row, cell)
        for row, cells in enumerate(rows)
        for x, cell in zip((72, 300), cells, strict=True)
    )
    assert extract(pdf([page])).text == "\n".join(map(" | ".join, rows)) + "\n\n"


def test_a_superscript_does_not_break_its_line() -> None:
    page = text(72, 720, "an area of 20 km") + text(160, 725, "2", 7) + text(164, 720, ", at most")
    assert extract(pdf([page])).text == "an area of 20 km2, at most\n\n"


def test_a_sentence_goes_on_in_the_next_column() -> None:
    left = ["Hoses are tested at twice their", "working pressure before they"]
    right = ["leave the plant, and each of", "them carries the date of its test."]
    found = extract(pdf([lines(left) + lines(right, x=320)]))
    assert kinds(found) == [("prose", " ".join(left + right))]


def test_columns_are_read_one_after_the_other() -> None:
    left, right = ["One column ends here.", "With this."], ["Another one begins.", "And ends."]
    found = extract(pdf([lines(left) + lines(right, x=320)]))
    assert found.text.split() == " ".join(left + right).split()


def test_columns_written_row_by_row_are_read_one_after_the_other() -> None:
    left = [
        "Hoses are tested at twice their",
        "working pressure before they",
        "leave the plant, where none",
        "of them may be used at all.",
    ]
    right = [
        "A tag carries the date of the",
        "test and must not be taken off",
        "while the hose is still in use",
        "anywhere else than in a plant.",
    ]
    rows = zip(range(720, 0, -14), left, right, strict=False)
    page = "".join(text(72, y, one) + text(320, y, other) for y, one, other in rows)
    assert extract(pdf([page])).text == f"{' '.join(left)}\n\n{' '.join(right)}\n\n"


def test_a_sentence_goes_on_on_the_next_page() -> None:
    found = extract(pdf([lines(LOREM[:2]), lines(LOREM[2:])]))
    assert kinds(found) == [("prose", JOINED)]
    assert slices(found) == [f"{LOREM[0]} {LOREM[1]} ", f"{LOREM[2]}\n\n"]


def test_a_word_torn_between_pages_belongs_to_the_first() -> None:
    torn = LOREM[1].removesuffix("on") + "ei-"
    found = extract(pdf([lines([LOREM[0], torn]), lines(["ther a tag or a plate of steel."])]))
    assert [part.split()[-1] for part in slices(found)] == ["either", "steel."]


def test_a_sentence_does_not_go_on_behind_a_page_number() -> None:
    found = extract(pdf([lines(LOREM[:2]) + text(300, 40, "1"), lines(LOREM[2:])]))
    assert kinds(found) == [("prose", " ".join(LOREM[:2])), ("prose", "1"), ("prose", LOREM[2])]


@pytest.mark.parametrize("turn", range(4))
def test_a_turned_page_reads_like_one_that_is_not(turn: int) -> None:
    x, y = ((72, 700), (72, 72), (WIDTH - 72, 72), (WIDTH - 72, HEIGHT - 72))[turn]
    dx, dy = ((0, -14), (14, 0), (0, 14), (-14, 0))[turn]
    parts = [*LOREM, "And no longer.", *LOREM]
    page = "\n".join(text(x + dx * n, y + dy * n, part, turn=turn) for n, part in enumerate(parts))
    assert extract(pdf([page], rotate=90 * turn)).text == f"{JOINED} And no longer.\n\n{JOINED}\n\n"


def test_what_is_filled_into_a_form_is_read() -> None:
    found = extract(pdf([text(72, 402, "Name of the hose:")], filled_in="H-40"))
    assert found.text.split() == ["Name", "of", "the", "hose:", "H-40"]


def test_ligatures_are_spelt_out() -> None:
    assert extract(pdf([text(72, 700, "eﬃcient eﬀort ﬁve waﬄe ﬂow")])).text == (
        "efficient effort five waffle flow\n\n"
    )


@pytest.mark.parametrize(
    ("torn", "elsewhere", "joined"),
    [
        ("a per-|fect fit", "", "a perfect fit"),
        ("a dual-|encoder model", "the dual-encoder here", "a dual-encoder model"),
        ("a high-|dimensional space", "a low-dimensional space", "a high-dimensional space"),
        ("a self-|driving car", "a self-taught driver", "a self-driving car"),
        ("we re-|search it", "to re-train, we research", "we research it"),
        ("we re-|search it", "to re-train it", "we research it"),
        ("they over-|lap here", "a non-lap overlap", "they overlap here"),
        ("an E-|Mail of ours", "", "an E-Mail of ours"),
        ("between 10-|20 of them", "", "between 10- 20 of them"),
        ("from A -|they say so", "", "from A - they say so"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line(torn: str, elsewhere: str, joined: str) -> None:
    page = lines(f"{LONG} {torn}".split("|")) + text(72, 300, elsewhere)
    assert extract(pdf([page])).text.split("\n\n")[0] == f"{LONG} {joined}"


def test_running_headers_and_page_numbers_stand_once() -> None:
    pages = [
        text(72, 760, "Hose manual") + lines([body]) + text(300, 40, f"Page {number} of 4")
        for number, body in enumerate(["One.", "Two.", "Three.", "Four."], 1)
    ]
    assert extract(pdf(pages)).text.split("\n\n") == [
        "Hose manual", "One.", "Page 1 of 4", "Two.", "Three.", "Four.", "",
    ]  # fmt: skip


def test_a_header_beside_the_text_runs_too() -> None:
    body = [lines([f"Part {word} begins.", f"And {word} ends."], top=740) for word in "abcd"]
    pages = [page + text(400, 740, "Hoses") + text(400, 715, "Chapter") for page in body]
    found = extract(pdf(pages)).text
    assert (found.count("Hoses"), found.count("Chapter"), found.count("begins.")) == (1, 1, 4)


def test_a_line_beneath_others_that_repeats_at_its_height_stays() -> None:
    pages = [lines([f"Part {word} begins.", "It ends."], top=740) for word in "abcd"]
    assert extract(pdf(pages)).text.count("It ends.") == len(pages)


def test_copies_of_a_page_are_kept_whole() -> None:
    copy = lines([f"{number}. What is to be checked" for number in range(10)], top=780)
    copy += text(72, 400, "Signed")
    assert slices(extract(pdf([copy] * 4))) == [extract(pdf([copy])).text] * 4


def test_lines_that_differ_in_more_than_the_page_number_stay() -> None:
    pages = [text(72, 400, "A table") + text(72, 40, f"Total {n * n * 100}") for n in range(1, 5)]
    assert all(f"Total {n * n * 100}" in extract(pdf(pages)).text for n in range(1, 5))


def test_what_repeats_in_the_middle_of_pages_stays() -> None:
    pages = [text(72, 400, "See the appendix.") + text(72, 300, f"{word}.") for word in "abcd"]
    assert extract(pdf(pages)).text.count("See the appendix.") == len(pages)


def test_a_page_with_nothing_but_running_lines_keeps_them() -> None:
    assert slices(extract(pdf([text(72, 760, "Draft")] * 4))) == ["Draft\n\n"] * 4


def test_bookmarks_make_headings_of_the_lines_that_they_name() -> None:
    pages = [
        text(72, 720, "1 Hoses and", 18) + text(72, 700, "Couplings", 18) + lines(LOREM, top=660),
        text(72, 720, "1.1 Pressure") + text(72, 706, "Low."),
    ]
    outline = [
        Bookmark(0, "Hoses and couplings", 0),
        Bookmark(1, "1.1  Pressure", 1),
        Bookmark(1, "A chapter that is not there", 1),
    ]
    found = extract(pdf(pages, outline=outline))
    assert kinds(found) == [
        ("heading", "1 Hoses and Couplings"), ("prose", JOINED),
        ("heading", "1.1 Pressure"), ("prose", "Low."),
    ]  # fmt: skip
    assert [(block.level, block.title) for block in found.blocks if block.kind == "heading"] == [
        (1, "1 Hoses and Couplings"),
        (2, "1.1 Pressure"),
    ]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Hose manual", "Hose manual"),
        ("Why .doc files stay", "Why .doc files stay"),
        ("", None),
        ("untitled", None),
        ("Untitled document", None),
        ("Microsoft Word - hoses_v3.doc", None),
        ("PowerPoint Presentation", None),
        ("hoses final 3.docx", None),
        ("10811.exe", None),
        ("88300 162..177", None),
    ],
)
def test_a_title_is_no_file_name(written: str, title: str | None) -> None:
    assert extract(pdf([lines(LOREM)], title=written)).title == title


def test_a_title_that_is_no_unicode_is_none() -> None:
    data = pdf([lines(LOREM)], title="Hoses", outline=[Bookmark(0, "Hoses", 0)])
    broken = data.replace("Hoses".encode("utf-16-be").hex().encode(), b"d800" * 5)
    assert extract(broken).title is None
    assert kinds(extract(broken)) == [("prose", JOINED)]


def test_a_page_without_text_is_named() -> None:
    found = extract(pdf([lines(["First."]), IMAGE, lines(["Third."])]))
    assert (found.text, found.partial) == (
        "First.\n\nThird.\n\n",
        "page 2 holds no text; it may need OCR",
    )
    assert slices(found) == ["First.\n\n", "", "Third.\n\n"]


def test_pages_without_text_are_named_by_ranges() -> None:
    pages = [IMAGE if number in {2, 5, 6, 7} else lines(["Text."]) for number in range(1, 9)]
    assert extract(pdf(pages)).partial == "pages 2, 5-7 hold no text; they may need OCR"


@pytest.mark.parametrize("pages", [[IMAGE], [IMAGE, IMAGE], [""]])
def test_a_pdf_without_text_is_refused_with_a_hint(pages: list[str]) -> None:
    with pytest.raises(RefusedError, match=r"^PDF: no page holds text; .* needs OCR first$"):
        extract(pdf(pages))


def test_a_pdf_that_needs_a_password_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"^PDF: it needs a password$"):
        extract(pdf([lines(LOREM)], password="hose"))


def test_a_pdf_whose_password_is_empty_is_read() -> None:
    assert extract(pdf([lines(LOREM)], password="")).text == f"{JOINED}\n\n"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\n", b"PK\3\4", b"%PDF-1.4\n1 0 obj\n<<" * 9])
def test_a_broken_pdf_is_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(RefusedError, match=r"^PDF: it is broken or no PDF$"):
        extract(data)


def test_every_beginning_of_a_file_is_read_or_refused() -> None:
    data = pdf([lines(LOREM), IMAGE], outline=[Bookmark(0, "Hoses", 0)], title="Hoses")
    outcomes = set()
    for end in range(0, len(data), 41):
        try:
            outcomes.add(extract(data[:end]).text)
        except RefusedError as error:
            outcomes.add(str(error))
    assert outcomes <= {f"{JOINED}\n\n", *REFUSALS}


@pytest.mark.parametrize("unit", [*"a-.1", "a-", "1. ", "ab "])
def test_time_grows_with_the_length_of_a_page(unit: str) -> None:
    def read(string: str) -> Extracted:
        return extract(pdf(["".join(text(72, y, string, 0.001) for y in (700, 699, 698))]))

    check_linear(read, lambda size: repeated(unit, size), 20_000)


def test_overprinted_text_stands_once() -> None:
    assert extract(pdf([text(72, 700, "Danger") + text(72.2, 700, "Danger")])).text == "Danger\n\n"


def test_text_outside_the_page_is_left_out() -> None:
    page = text(72, 700, "Inside") + text(72, HEIGHT + 40, "Above") + text(-300, 700, "Beside")
    assert extract(pdf([page])).text == "Inside\n\n"


def test_the_same_bytes_give_the_same_in_another_process() -> None:
    data = pdf([lines(LOREM), IMAGE, lines(LOREM[::-1])], outline=[Bookmark(0, LOREM[0], 0)])
    script = (
        "import sys; from groundkit_core.loading.pdf import extract\n"
        "print(ascii(extract(sys.stdin.buffer.read())))"
    )
    command = [sys.executable, "-c", script]
    other = subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()
    assert ascii(extract(data)) == ascii(extract(data)) == other.strip()


def test_letters_of_a_ligature_are_put_in_the_order_in_which_they_are_spoken() -> None:
    alef, lam_alef, noon = (30.0, 0.0, 36.0, 9.0), (20.0, 0.0, 30.0, 9.0), (14.0, 0.0, 20.0, 9.0)
    turned: list[Char] = [("ا", alef), ("إ", lam_alef), ("ل", lam_alef), ("ن", noon)]
    assert "".join(char for char, _ in logical(turned)) == "الإن"


def test_a_vowel_sign_follows_its_letter() -> None:
    yeh, mark, dad = (30.0, 0.0, 36.0, 9.0), (22.0, 0.0, 24.0, 9.0), (20.0, 0.0, 30.0, 9.0)
    turned: list[Char] = [("ي", yeh), (" ", None), ("\u064b", mark), ("ض", dad)]
    assert "".join(char for char, _ in logical(turned)) == "يض\u064b"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a\u00a0b\u2003c", "a b c"),
        ("\ufeffa\u200bb\x00c\x7f", "abc"),
        ("\ud83d\ude00 and \ud83d", "😀 and \ufffd"),
        ("it\x92s", "it’s"),
        ("\ufefb", "لا"),
    ],
)
def test_characters_are_cleaned(written: str, read: str) -> None:
    assert clean(written) == read


def test_ligatures_that_macos_loses_are_put_back() -> None:
    assert tex(["an e\u21b5ort", "e\ufffdcient, ba\ufffded, of\ufffdine"])[0] == "an effort"
    assert tex(["an e\u21b5ort", "e\ufffdcient, ba\ufffding"])[1] == "efficient, baffling"
    assert tex(["x \u21b5 y", "e\ufffdcient"]) == ["x \u21b5 y", "e\ufffdcient"]


@pytest.mark.parametrize(
    ("spaced", "joined"),
    [(0, "보험 상품은"), (4, "보험상품은")],
)
def test_korean_lines_are_joined_as_the_document_shows(spaced: int, joined: str) -> None:
    line = Line("보험", 0, 0, 0, 9, 0, 9, 9)
    shown = [replace(line, spaced=number < spaced) for number in range(8)]
    after = replace(line, text="상품은")
    assert Joiner([line, after, *shown]).join([line, after]) == (joined, [])


def test_chinese_lines_are_joined_without_a_space() -> None:
    line = Line("爆破设计方案，", 0, 0, 0, 9, 0, 9, 9)
    assert (
        Joiner([line]).join([line, replace(line, text="申请专利")])[0] == "爆破设计方案，申请专利"
    )
