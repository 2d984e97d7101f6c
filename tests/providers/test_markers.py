import re
from pathlib import Path

import pytest
from groundkit_core.errors import SynthesisError
from groundkit_providers.markers import Marker, cited_numbers, find_markers
from groundkit_providers.masking import code_in, masked
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.core.strategies import texts, unhurried
from tests.core.timing import HOSTILE, check_linear, repeated

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "markers.md"

marked_texts = st.lists(
    st.sampled_from(
        [
            *"[]()`~\\!:.,-> \n",
            *["1", "2", "3", "0", "12", "1234", "12345", "٣", "①", "½", "【", "】", "［", "］"],
            *["[1]", "[2, 3]", "[EMAIL_1]", "[x]", "(Source 1)", "```", "~~~", "\n\n", "\r\n"],
            *["- ", "1. ", "1) ", "# ", "word", "source ", "</source>", "\\sqrt", "    "],
        ]
    ),
    max_size=25,
).map("".join)


def refusal(form: str) -> str:
    return f"the answer holds {form!r}, which is no citation; it must be [n]"


def missing(number: int) -> str:
    return f"the answer cites [{number}], but it had 3 sources"


FENCED = "the whole answer stands in a code fence, where nothing cites"
OPEN = "the answer opens a bracket before a number and never closes it"

TABLE: dict[str, tuple[int, ...] | str] = {
    "Pumps stop [1, 3]. Valves open [2].": (1, 3, 2),
    "blue[1].": (1,),
    "[1][2]": (1, 2),
    "[ 1 , 2 ]": (1, 2),
    "[1, 1] then [3][1]": (1, 3),
    "**[1]** \"[2]\" '[3]'": (1, 2, 3),
    "Stop.\n\nReferences:\n\n[1] a.md\n[3] b.md\n": (1, 3),
    "": (),
    "Source 2 is silent on this.": (),
    "(Source 2 is silent on this.)": (),
    "[ ] [x] [sic] [] [a\nb]": (),
    "[PERSON_1] and [EMAIL_12] and [see [API_KEY_2]]": (),
    "[text](https://example.com/9)": (),
    "9] [": (),
    "[ \n\n 9": (),
    "m² and ①": (),
    "Mist [9].": missing(9),
    "[2020]": missing(2020),
    "[1,234]": missing(234),
    "[1, 9]": missing(9),
    "Nil [0].": refusal("[0]"),
    "[01]": refusal("[01]"),
    "[12345]": refusal("[1234…]"),
    "[Ada Byron, call 4155550123]": refusal("[… …, … 4155…]"),
    f"[{'7' * 5000}]": refusal("[7777…]"),
    "[1-999999999]": refusal("[1-9999…]"),
    "[1-3]": refusal("[1-3]"),
    "[1; 2]": refusal("[1; 2]"),
    "[1 and 2]": refusal("[1 and 2]"),
    "[1, p. 3]": refusal("[1, p. 3]"),
    "[1,]": refusal("[1,]"),
    "[1,\n2]": refusal("[1,\n2]"),
    "[\t1]": refusal("[\t1]"),
    "[Source 1]": refusal("[Source 1]"),
    "[^1]": refusal("[^1]"),
    "[^1]: Manual": refusal("[^1]"),
    "[person_1]": refusal("[…_1]"),
    "[PERSON_0]": refusal("[…_0]"),
    "[x_1]": refusal("[x_1]"),
    "[see [1] and 2]": refusal("[see [1] and 2]"),
    "[a [b] 3]": refusal("[a [b] 3]"),
    "【1】": refusal("【1】"),
    "〔２〕": refusal("〔２〕"),
    "[1】": refusal("[1】"),
    "［1］": refusal("［1］"),
    "⟦1⟧": refusal("⟦1⟧"),
    "[１]": refusal("[１]"),
    "[٣]": refusal("[٣]"),
    "[²]": refusal("[²]"),
    "[⑩]": refusal("[⑩]"),
    "[\u200b1]": refusal("[\u200b1]"),
    "[1](url)": refusal("[1]("),
    "[2](https://example.com)": refusal("[2]("),
    "([1])": refusal("([1]"),
    "[1]: url": refusal("[1]:"),
    "as follows [1]: the valve": refusal("[1]:"),
    ":[1]": refusal(":[1]"),
    "![1](u)": refusal("![1]("),
    "Valves open [1]!": refusal("[1]!"),
    "[text][1]": refusal("][1]"),
    "[1][text]": refusal("[1]["),
    "[PERSON_1][1]": refusal("][1]"),
    "[[1]]": refusal("[1]]"),
    r"\[1\]": refusal(r"[1\]"),
    r"\[1]": refusal(r"\[1]"),
    r"\sqrt[3]{x}": refusal(r"\sqrt[3]"),
    r"\sqrt [3]{x}": refusal(r"\sqrt [3]"),
    "(Source 1)": refusal("(Source 1)"),
    "(source 1)": refusal("(source 1)"),
    "(SOURCES 1 and 2)": refusal("(SOURCES 1 and 2)"),
    "( see Source 1, p. 3 )": refusal("(see Source 1)"),
    "(Source 1, Source 2)": refusal("(Source 1, Source 2)"),
    "Stop [1": OPEN,
    "Stop [Source 1": OPEN,
    "in [0, 1)": OPEN,
    "Use `row[0]`:\n```py\nx = a[1]\n```\nDone [1].": (1,),
    "Use `row[0]`:\n```py\nx = a[2]\nDone [1].": (),
    "Use `row[0]`:\n~~~py\nx = a[2]\n~~~\nDone [1].": (1,),
    "Use `row[0]`:\n~~~py\n```\nx = a[2]\nDone [1].": (),
    "````\n```\na[9]\n````\nDone [1].": (1,),
    "```\na[9]\n``` no\n   ```\t\nDone [1].": (1,),
    "   ```\na[9]\n```\nDone [1].": (1,),
    "Code:\n\n    ```\n\nDone [1].\n\n    ```": (1,),
    "``` a`b\nDone [1].": (1,),
    "10. Do:\n\n    ```\n    a[9]\n\n    b[9]\n    ```\n\nDone [1].": (1,),
    "> ~~~\n> a[9]\n> ~~~\n\nDone [1].": (1,),
    "- ```\n  a[9]\n  ```\n- Done [1].": (1,),
    "- ```\n  a[9]\n\nDone [1].": (1,),
    "> ```\n> a[9]\n\nDone [1].": (1,),
    "`` a[9] ` `` [1]": (1,),
    "a ` b [1]": (1,),
    "- a ` b [1]\n- c ` d [2]": (1, 2),
    "# a ` b [1]\nc ` d [2]": (1, 2),
    "a ` b [1]\n\nc ` d [2]": (1, 2),
    "`a\nb[9]` [1]": (1,),
    r"\`[1] `": (1,),
    r"\\`[9]` [1]": (1,),
    r"\``[9]` [1]": (1,),
    "Indented:\n\n    a[1]": (1,),
    "[1`x`]": refusal("[1`x`]"),
    "[`9`]": (),
    "```\nStop [1].\n```\n": FENCED,
    "\n~~~\nStop [1].": FENCED,
    "```\na[1]\n```\n\n```\na[2]\n```": FENCED,
}


def outcome(answer: str, sources: int = 3) -> tuple[int, ...] | str:
    try:
        return cited_numbers(answer, sources)
    except SynthesisError as error:
        return str(error)


@pytest.mark.parametrize("answer", TABLE, ids=lambda answer: ascii(answer)[:40])
def test_an_answer_cites_or_is_refused_as_in_the_table(answer: str) -> None:
    assert outcome(answer) == TABLE[answer]


def page_rows() -> list[list[str]]:
    lines = PAGE.read_text(encoding="utf-8").partition("## In the prompt")[0].splitlines()
    rows = [re.fullmatch(r"\| (`+) ?([^`].*?|```.+?) ?\1 \| (.+) \|", line) for line in lines]
    return [[row[2].replace("↵", "\n"), row[3]] for row in rows if row]


def test_the_page_has_every_row_read() -> None:
    lines = PAGE.read_text(encoding="utf-8").partition("## In the prompt")[0].splitlines()
    assert len(page_rows()) == sum(line.startswith("| `") for line in lines) > 50


@pytest.mark.parametrize(("answer", "said"), page_rows())
def test_the_page_tells_what_happens(answer: str, said: str) -> None:
    found = outcome(answer)
    if isinstance(found, str):
        assert said == "rejected"
    else:
        assert said == (f"cites {', '.join(map(str, found))}" if found else "text")


def test_a_marker_is_found_where_it_stands() -> None:
    assert find_markers("`[9]` a[1], [ 2,3 ](x)") == [
        Marker(7, 10, (1,)),
        Marker(12, 19, (2, 3)),
    ]


def test_the_number_of_sources_is_the_highest_number() -> None:
    assert cited_numbers("[4][9999]", 9999) == (4, 9999)
    assert outcome("[4]", 3) == missing(4)


@unhurried
@given(texts)
@example("[ [x] 】 \\[a\\]")
def test_a_text_without_numbers_is_never_refused(text: str) -> None:
    assume(not any(character.isnumeric() for character in text))
    assume(masked(text).strip() or not text.strip())
    assert cited_numbers(text, 0) == ()


@unhurried
@given(marked_texts | texts, st.integers(0, 12))
def test_only_numbers_of_sources_are_cited_each_once(text: str, sources: int) -> None:
    found = outcome(text, sources)
    if not isinstance(found, str):
        assert set(found) <= set(range(1, sources + 1))
        assert len(set(found)) == len(found)
        assert set(found) == {n for marker in find_markers(text) for n in marker.numbers}


@unhurried
@given(marked_texts | texts)
def test_masking_keeps_all_but_code_and_every_offset(text: str) -> None:
    hidden = masked(text)
    inside = {at for code in code_in(text) for at in range(code.start, code.end)}
    assert len(hidden) == len(text)
    assert all(
        hidden[at] in "`\n" if at in inside else hidden[at] == text[at] for at in range(len(text))
    )


@unhurried
@given(st.lists(st.sampled_from(["`", "``", "```", "\\", "a", " ", "b"]), max_size=25))
def test_code_spans_are_those_of_commonmark(pieces: list[str]) -> None:
    text = f"a {''.join(pieces)} a"
    (inline,) = MarkdownIt("commonmark").parseInline(text)
    theirs = [token for token in inline.children or () if token.type == "code_inline"]
    ours = [text[code.start : code.end] for code in code_in(text)]
    runs = [span[len(span.rstrip("`")) :] for span in ours]
    assert runs == [token.markup for token in theirs]
    assert [
        span.removeprefix(run).removesuffix(run).strip()
        for span, run in zip(ours, runs, strict=True)
    ] == [token.content.strip() for token in theirs]


def fences(text: str) -> list[tuple[int, int]]:
    """First line of each fenced block, and how many lines there are up to its end."""
    return [
        (text.count("\n", 0, code.start), text.rstrip("\n").count("\n", 0, code.end - 1) + 1)
        for code in code_in(text)
        if code.fenced
    ]


def commonmark_fences(text: str) -> list[tuple[int, int]]:
    lines = text.rstrip("\n").count("\n") + 1
    tokens = [token for token in MarkdownIt("commonmark").parse(text) if token.type == "fence"]
    return [(token.map[0], min(token.map[1], lines)) for token in tokens if token.map]


@unhurried
@given(
    st.lists(
        st.sampled_from(["```", "````", "~~~", "~~~~", "``` x", "~~~ `", "   ```", "a", "a b", ""]),
        max_size=12,
    )
)
def test_fences_are_those_of_commonmark(lines: list[str]) -> None:
    text = "\n".join([*lines, "a"])
    assert fences(text) == commonmark_fences(text)


BLOCKS = [
    "a",
    "    ```",
    "```\na\n\nb\n```",
    "- a\n  - ```\n    a\n\n    b\n    ```\n- c",
    "- ~~~\n  a",
    "1. a\n   ```\n   b\n   ```\n2. c",
    "10. a\n\n    ```\n    b\n\n    c\n      ```",
    "> ~~~\n> a\n>\n> b\n> ~~~\n> c",
    "> ```\n> a",
]


@unhurried
@given(st.lists(st.sampled_from(BLOCKS), max_size=5))
def test_fences_in_items_and_quotes_end_with_them(blocks: list[str]) -> None:
    text = "\n\n".join([*blocks, "# a"])
    assert [first for first, _ in fences(text)] == [first for first, _ in commonmark_fences(text)]


HARD = [
    "[",
    "]",
    "[[1]",
    "[1,",
    "[ ",
    "[A_1",
    "【",
    "`a",
    "\\",
    "\\a",
    "(source 1, ",
    "(source ",
    "> ",
    "- ",
    "1. ",
    "~~~\n",
    "```\n",
    "\n",
    "\n ",
    "-=",
    "<",
    "[½",
]


@pytest.mark.parametrize("unit", HARD, ids=ascii)
def test_reading_takes_linear_time(unit: str) -> None:
    check_linear(outcome, lambda size: repeated(unit, size), 200_000)


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_a_megabyte_of_one_thing_takes_linear_time(unit: str) -> None:
    check_linear(outcome, lambda size: repeated(unit, size), 1_000_000)


def growing_runs(size: int) -> str:
    return " ".join("`" * length for length in range(1, int((2 * size) ** 0.5)))


def test_backticks_in_runs_of_every_length_take_linear_time() -> None:
    check_linear(outcome, growing_runs, 500_000)


@pytest.mark.parametrize(
    "answer",
    ["[" * 200_000, "]" * 200_000, "[" * 100_000 + "1" + "]" * 100_000, "[1]" * 200_000],
    ids=["open", "closed", "nested", "markers"],
)
def test_many_brackets_are_decided(answer: str) -> None:
    expected = {"[[": (), "]]": (), "[1": (1,)}.get(answer[:2])
    assert outcome(answer) == (refusal("[1]]") if "1]]" in answer else expected)
