import pytest
from groundkit_core.chunking.blocks import cover
from groundkit_core.loading.markdown import blocks

from tests.core.chunking.passages import chunks, path_at

PATHS = {
    "# Alpha\n\n@": ("Alpha",),
    "Alpha\n=====\n\nBeta\n----\n\n@": ("Alpha", "Beta"),
    "# Alpha #\n\n## Beta ##  \n\n@": ("Alpha", "Beta"),
    "# Alpha#\n\n@": ("Alpha#",),
    "# Alpha\n@": ("Alpha",),
    "   # Alpha\n\n@": ("Alpha",),
    "#\tAlpha\n\n@": ("Alpha",),
    "# `a` *b* [c](d)\n\n@": ("`a` *b* [c](d)",),
    "# café 茶 🚰\n\n@": ("café 茶 🚰",),
    # Attributes
    "# Alpha {#one}\n\n@": ("Alpha",),
    "# Alpha { #one .two key=val }\n\n@": ("Alpha",),
    "Alpha {#one}\n===\n\n@": ("Alpha",),
    "# The set {1, 2}\n\n@": ("The set {1, 2}",),
    "# GET /users/{id}\n\n@": ("GET /users/{id}",),
    "# `{x}`\n\n@": ("`{x}`",),
    # Levels
    "# A\n\n### C\n\n## B\n\n@": ("A", "B"),
    "### C\n\n# A\n\n@": ("A",),
    "# A\n\n## B\n\n# A\n\n@": ("A",),
    "# A\n\n## B\n\n### C\n\n#### D\n\n##### E\n\n###### F\n\n@": ("A", "B", "C", "D", "E", "F"),
    # No headings
    "#Alpha\n\n@": (),
    "####### Alpha\n\n@": (),
    "\\# Alpha\n\n@": (),
    "    # Alpha\n\n@": (),
    "```\n# Alpha\n```\n\n@": (),
    "~~~~ sh\n# Alpha\n~~~\n# Beta\n~~~~\n\n@": (),
    "```\n# Alpha\n\n@": (),
    "> # Alpha\n\n@": (),
    "> Alpha\n> =====\n\n@": (),
    "- # Alpha\n\n@": (),
    "1. x\n\n   ## Alpha\n\n@": (),
    "<!--\n# Alpha\n-->\n\n@": (),
    "<pre>\n# Alpha\n</pre>\n\n@": (),
    "a\n\n---\n\n@": (),
    "| a |\n|---|\n| # Alpha |\n\n@": (),
    # Front matter
    "---\ntitle: x\n# Alpha\n---\n\n@": (),
    "---\ntitle: x\n...\n# Alpha\n\n@": ("Alpha",),
    "+++\ntitle = 1\n# Alpha\n+++\n\n# Beta\n\n@": ("Beta",),
    "---\ntitle: x\n---\n# Alpha\n\n@": ("Alpha",),
    "---\n# Alpha\n\n@": ("Alpha",),
    "\n---\ntitle: x\n---\n\n@": ("title: x",),
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("text", PATHS)
def test_a_passage_has_the_headings_above_it(text: str, line_end: str) -> None:
    ended = text.replace("\n", line_end)
    assert path_at(ended, "@", chunks(ended, "markdown")) == PATHS[text]


def test_a_heading_of_several_lines_is_one_line_in_the_path() -> None:
    text = "Alpha\nBeta\n====\n\n@"
    assert path_at(text, "@", chunks(text, "markdown")) == ("Alpha Beta",)


def test_every_block_is_found_where_it_stands() -> None:
    parts = [
        ("---\na: b\n---", "lined"),
        ("# One {#one}", "heading"),
        ("two\ntwo", "prose"),
        ("- a\n  - b\n\n    c", "lined"),
        ("- d", "lined"),
        ("| e | f |\n|---|---|", "lined"),
        ("| g | h |", "prose"),
        ("> i\nj", "lined"),
        ("    k\n\n    l", "lined"),
        ("~~~\nm\n\nn\n~~~", "lined"),
        ("<div>\no\n</div>", "lined"),
        ("p\n===", "heading"),
        ("[q]: /r", "prose"),
    ]
    text = "\n\n".join(part for part, _ in parts)
    found = [(text[block.start : block.end], block.kind) for block in cover(text, blocks(text))]
    assert found == [(part.strip(), kind) for part, kind in parts]


def test_titles_and_levels_come_with_their_headings() -> None:
    found = [(b.level, b.title) for b in blocks("# A\n\nB\n---\n\n###### C ##\n")]
    assert found == [(1, "A"), (2, "B"), (6, "C")]
