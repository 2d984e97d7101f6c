import math

import pytest
from groundkit_core.chunking.blocks import trim
from groundkit_core.config import ChunkingConfig
from groundkit_core.terms import word_spans
from hypothesis import given

from tests.core.chunking.passages import check_invariants, chunks, path_at, spans
from tests.core.strategies import chunkings, texts, unhurried


def test_a_repeated_word_pair_is_cut_at_every_step() -> None:  # A2 (i)
    text = ("go on. " * 30).strip()
    assert len(text) == 209
    passages = chunks(text, strategy="fixed", size=6, overlap=2)
    assert [chunk.start for chunk in passages] == list(range(0, 197, 14))
    assert len(passages) == 15
    assert passages[-1].end == 209
    check_invariants(text, passages)


def test_a_repeated_sequence_is_cut_at_every_step() -> None:  # A2 (ii)
    text = " ".join(f"w{i % 7}" for i in range(60))
    assert len(text) == 179
    passages = chunks(text, strategy="fixed", size=6, overlap=2)
    assert [chunk.start for chunk in passages] == list(range(0, 169, 12))
    check_invariants(text, passages)


@unhurried
@given(texts, chunkings(("fixed",)))
def test_windows_of_words_begin_every_step_and_end_before_the_next_word(
    text: str, config: ChunkingConfig
) -> None:
    config = config.model_copy(update={"unit": "words"})
    step = config.size - config.overlap
    found = list(word_spans(text))
    passages = chunks(text, **config.model_dump())
    if not found:
        start, end = trim(text, 0, len(text))
        assert spans(passages) == [(start, end)] * (start < end)
        return
    assert len(passages) == 1 + max(0, math.ceil((len(found) - config.size) / step))
    for index, chunk in enumerate(passages):
        first = index * step
        last = min(first + config.size, len(found)) - 1
        assert chunk.start <= found[first][0] < found[last][1] <= chunk.end
        assert first == 0 or chunk.start >= found[first - 1][1]
        assert last + 1 == len(found) or chunk.end <= found[last + 1][0]


@unhurried
@given(texts, chunkings(("fixed",)))
def test_windows_of_characters_begin_every_step(text: str, config: ChunkingConfig) -> None:
    config = config.model_copy(update={"unit": "characters"})
    step = config.size - config.overlap
    count = 1 + max(0, math.ceil((len(text) - config.size) / step))
    found = [trim(text, i * step, min(i * step + config.size, len(text))) for i in range(count)]
    # Of windows that begin alike without their leading blanks, the longest stays.
    expected = {start: end for start, end in found if start < end}
    assert spans(chunks(text, **config.model_dump())) == list(expected.items())


def test_a_window_has_the_headings_that_begin_before_its_text() -> None:
    text = "zero one\n\n# A\n\ntwo three\n\n## B\n\nfour five\n\n# C\n\nsix"
    passages = chunks(text, "markdown", strategy="fixed", size=1)
    words = ["one", "A", "three", "B", "five", "C", "six"]
    paths = [path_at(text, word, passages) for word in words]
    assert paths == [(), ("A",), ("A",), ("A", "B"), ("A", "B"), ("C",), ("C",)]


def test_offsets_count_code_points_beyond_the_basic_plane() -> None:
    text = "🚰 one 🚰 two 𝔘𝔫𝔦 three"
    assert spans(chunks(text, strategy="fixed", size=1)) == [(0, 7), (8, 11), (12, 15), (16, 21)]


def test_an_unspaced_character_counts_as_a_word() -> None:
    text = "茶壶在厨房 tea pot"
    assert spans(chunks(text, strategy="fixed", size=2)) == [(0, 2), (2, 4), (4, 9), (10, 13)]


def test_an_opening_bracket_or_quote_stays_with_its_word() -> None:
    text = 'one (two) "three" –four'
    contents = [chunk.content for chunk in chunks(text, strategy="fixed", size=1)]
    assert contents == ["one", "(two)", '"three"', "–four"]


@pytest.mark.parametrize("blank", ["\u3000", "\u00a0", "\u2028"])
def test_any_blank_keeps_an_opening_quote_with_its_word(blank: str) -> None:
    text = f"one{blank}“two”{blank}(three)"
    contents = [chunk.content for chunk in chunks(text, strategy="fixed", size=1)]
    assert contents == ["one", "“two”", "(three)"]
