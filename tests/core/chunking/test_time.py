import pytest
from groundkit_core.chunking import chunk_document
from groundkit_core.chunking.blocks import Block
from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Document
from groundkit_core.loading.formats import FORMATS

from tests.core.chunking.passages import chunks
from tests.core.timing import HOSTILE, check_linear, repeated

SPLITTERS = [
    *((known.name, "structure", "words") for known in FORMATS if known.kind == "text"),
    ("text", "fixed", "words"),
    ("text", "fixed", "characters"),
]
MARKUP = {
    "markdown": [
        *(
            "# a\n",
            "- a\n",
            "> ",
            "> a\n",
            "- ",
            "1. ",
            "|",
            "|-|\n",
            "```\n",
            "<a>\n",
            "<!--",
            "---\n",
        ),
        *("a\n===\n", "{", "{a ", "[", "`", "\n", "\r\n", " ", "    a\n\n", "- a\n\n  b\n\n"),
    ],
    "restructuredtext": [
        *(
            "a\n=\n",
            "=\n",
            "= ",
            "+-",
            "| ",
            "::\n",
            "a::\n\n  b\n\n",
            ".. a\n",
            "- a\n",
            "\n",
            "\t",
        ),
    ],
    "code": ["def a():\n b\n", "class a:\n", "f(\n", "#\n", "a\n\n", '"""'],
    "csv": ["a,b\n", "a\n", '"\n', '"a\nb",c\n'],
    "text": ["\n", "\r\n", "\n ", " ", "\u3000", "a. ", ".'", "。", "a\r\n\r\n"],
}
TAILED = {
    "markdown": [
        "# a{} b",
        "# {}",
        "---\n---{} b",
        "---{} b",
        "a{} b\n---\n",
        "|{} b\n|-|\n",
        "-{} b",
    ],
    "restructuredtext": ["-{} b", "={} b", "|{} b", "+{} b", "::{} b", "..{} b", "a\n={} b"],
    "text": ["\n{} b", "a.{} b", "a{} b"],
}


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("splitter", SPLITTERS, ids="-".join)
def test_a_megabyte_of_one_unit_is_cut_in_linear_time(  # A51
    splitter: tuple[str, str, str], unit: str
) -> None:
    name, strategy, counted = splitter
    check_linear(
        lambda text: chunks(text, name, strategy=strategy, unit=counted),
        lambda size: repeated(unit, size),
        1_000_000,
    )


@pytest.mark.parametrize(
    ("name", "unit"), [(name, unit) for name, units in MARKUP.items() for unit in units]
)
def test_markup_over_and_over_is_cut_in_linear_time(name: str, unit: str) -> None:
    check_linear(lambda text: chunks(text, name), lambda size: repeated(unit, size), 200_000)


@pytest.mark.parametrize("tail", [" ", "\t", "-", "=", "a "])
@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in TAILED.items() for text in texts]
)
def test_a_line_with_one_long_stretch_is_cut_in_linear_time(
    name: str, text: str, tail: str
) -> None:
    check_linear(
        lambda made: chunks(made, name), lambda size: text.format(repeated(tail, size)), 100_000
    )


def test_windows_find_their_headings_in_linear_time() -> None:
    config = ChunkingConfig(strategy="fixed")

    def work(text: str) -> None:
        blocks = [Block(at, at + 1, "heading", 1, "a") for at in range(0, len(text), 2)]
        chunk_document(Document.from_text("s", text), blocks, config)

    check_linear(work, lambda size: repeated("a ", size), 600_000)
