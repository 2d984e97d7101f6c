import pytest
from groundkit_core.chunking.blocks import cover
from groundkit_core.loading.restructuredtext import blocks

from tests.core.chunking.passages import chunks, path_at

PATHS = {
    "Alpha\n=====\n\n@": ("Alpha",),
    "Alpha\n=====\n@": ("Alpha",),
    "Alpha\n=====\n\nBeta\n----\n\n@": ("Alpha", "Beta"),
    "=====\nAlpha\n=====\n\n@": ("Alpha",),
    "=======\n Alpha\n=======\n\n@": ("Alpha",),
    "=====\nAlpha\n=====\n\nBeta\n=====\n\n@": ("Alpha", "Beta"),
    "Alpha\n=====\n\n====\nBeta\n====\n\n@": ("Alpha", "Beta"),
    "Alpha\n~~~~~\n\nBeta\n====\n\nGamma\n~~~~~\n\n@": ("Gamma",),
    "Alpha\n~~~~~\n\nBeta\n====\n\nGamma\n****\n\nDelta\n====\n\n@": ("Alpha", "Delta"),
    "Alpha\n**********\n\n@": ("Alpha",),
    "Alphabet\n====\n\n@": ("Alphabet",),
    "A\n=\n\n@": ("A",),
    "=\nA\n=\n\n@": ("A",),
    "茶壶\n====\n\n@": ("茶壶",),
    "``a`` *b*\n=========\n\n@": ("``a`` *b*",),
    ".. _target:\n\nAlpha\n=====\n\n@": ("Alpha",),
    ".. _target:\nAlpha\n=====\n\n@": ("Alpha",),
    ".. comment\n\nAlpha\n=====\n\n@": ("Alpha",),
    "Alpha\n=====\nBeta\n----\n\n@": ("Alpha", "Beta"),
    # No headings
    "Alphabet\n==\n\n@": (),
    "Code::\n\n    Alpha\n    =====\n\n@": (),
    "Code::\n\n  a\n\n  Alpha\n  =====\n\n@": (),
    "::\n\n    Alpha\n    =====\n\n@": (),
    "Code::\n\n> Alpha\n> =====\n\n@": (),
    ".. note::\n\n   Alpha\n   =====\n\n@": (),
    ".. code-block:: rst\n   :linenos:\n\n   Alpha\n   =====\n\n@": (),
    ".. Alpha\n   =====\n\n@": (),
    "..\n   Alpha\n   =====\n\n@": (),
    "- a\n\n  Alpha\n  =====\n\n@": (),
    "===== =====\nAlpha Beta\n===== =====\na     b\n===== =====\n\n@": (),
    "+-------+\n| Alpha |\n+=======+\n| a     |\n+-------+\n\n@": (),
    "a\n\n-----\n\n@": (),
    "a\n\n-----\n\nb\n\n-----\n\n@": (),
    "Alpha\nBeta\n=====\n\n@": (),
    ":field: Alpha\n:other: b\n\n@": (),
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("text", PATHS)
def test_a_passage_has_the_titles_above_it(text: str, line_end: str) -> None:
    ended = text.replace("\n", line_end)
    assert path_at(ended, "@", chunks(ended, "restructuredtext")) == PATHS[text]


def test_every_block_is_found_where_it_stands() -> None:
    parts = [
        ("=====\nTitle\n=====", "heading"),
        (":a: b\n:c: d", "prose"),
        ("Section\n-------", "heading"),
        ("two\ntwo", "prose"),
        ("code::\n\n    a\n\n    b", "lined"),
        (".. note:: c\n   :d: e\n\n   f", "lined"),
        ("- g\n- h", "prose"),
        ("+---+\n| i |\n+---+", "lined"),
        ("== ==\nj  k\n== ==\nl  m\n== ==", "lined"),
        ("n", "prose"),
        ("    quote\n\n    quote", "lined"),
        ("o", "prose"),
    ]
    text = "\n\n".join(part for part, _ in parts) + "\n"
    found = [(text[block.start : block.end], block.kind) for block in cover(text, blocks(text))]
    assert found == [(part.strip(), kind) for part, kind in parts]


def test_titles_and_levels_come_in_order_of_their_styles() -> None:
    text = "==\nAh\n==\n\nBe\n==\n\n##\nCe\n##\n\nDe\n==\n\nEf\n##\n"
    found = [(b.level, b.title) for b in blocks(text) if b.kind == "heading"]
    assert found == [(1, "Ah"), (2, "Be"), (3, "Ce"), (2, "De"), (4, "Ef")]
