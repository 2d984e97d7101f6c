"""What holds for every splitter, format, unit, size, overlap and text."""

import re
from collections.abc import Iterator

import pytest
from groundkit_core.chunking import chunk_document
from groundkit_core.chunking.blocks import Block, cover, trim
from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Chunk, Document
from groundkit_core.loading.formats import FORMATS, Format
from groundkit_core.terms import count_words
from hypothesis import given
from hypothesis import strategies as st

from tests.core.chunking.passages import check_invariants
from tests.core.strategies import (
    chunkings,
    code_texts,
    csv_texts,
    markdown_texts,
    rst_texts,
    texts,
    unhurried,
)

TEXT_FORMATS = [known for known in FORMATS if known.kind == "text"]
MADE = {
    "code": code_texts,
    "csv": csv_texts,
    "markdown": markdown_texts,
    "restructuredtext": rst_texts,
    "text": texts,
}
documents = st.one_of(*(st.tuples(st.just(known), MADE[known.name]) for known in TEXT_FORMATS))


def chunked(known: Format, text: str, config: ChunkingConfig) -> list[Chunk]:
    return chunk_document(Document.from_text("s", text), known.blocks(text), config)


def size_of(text: str, config: ChunkingConfig) -> int:
    return count_words(text) if config.unit == "words" else len(text)


@unhurried
@given(documents, chunkings())
def test_chunks_are_slices_that_move_forward_and_cover_the_text(
    document: tuple[Format, str], config: ChunkingConfig
) -> None:
    known, text = document
    check_invariants(text, chunked(known, text, config))


@unhurried
@given(texts, st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99))), chunkings())
def test_the_invariants_hold_for_blocks_that_overlap_or_lie_outside(
    text: str, spans: list[tuple[int, int]], config: ChunkingConfig
) -> None:
    blocks = []
    for index, (start, length) in enumerate(spans):
        blocks += [
            Block(start, start + length, "heading", index % 6 + 1, f"h{index}"),
            Block(start + length // 2, start + 2 * length, "lined" if index % 2 else "prose"),
        ]
    check_invariants(text, chunk_document(Document.from_text("s", text), blocks, config))


@unhurried
@given(documents, chunkings())
def test_no_chunk_is_larger_than_the_size(
    document: tuple[Format, str], config: ChunkingConfig
) -> None:
    known, text = document
    sizes = [size_of(chunk.content, config) for chunk in chunked(known, text, config)]
    assert [size for size in sizes if size > config.size] == []


@unhurried
@given(documents, chunkings())
def test_line_ranges_count_the_breaks_before_the_span(
    document: tuple[Format, str], config: ChunkingConfig
) -> None:
    known, text = document
    breaks = [match.end() for match in re.finditer("\r\n|\r|\n", text)]
    for chunk in chunked(known, text, config):
        first = 1 + sum(at <= chunk.start for at in breaks)
        assert chunk.lines == (first, 1 + sum(at < chunk.end for at in breaks))


@unhurried
@given(documents, chunkings(("structure",)))
def test_a_heading_ends_no_chunk_that_has_body_before_it(
    document: tuple[Format, str], config: ChunkingConfig
) -> None:
    known, text = document
    blocks = list(cover(text, known.blocks(text)))
    for chunk in chunked(known, text, config):
        inside = [b.kind for b in blocks if b.start < chunk.end and chunk.start < b.end]
        assert inside[-1] != "heading" or set(inside) == {"heading"}, chunk


@unhurried
@given(documents, chunkings(("structure",)))
def test_what_fits_with_its_headings_is_never_torn(
    document: tuple[Format, str], config: ChunkingConfig
) -> None:
    known, text = document
    room = config.size - config.overlap
    spans = [(chunk.start, chunk.end) for chunk in chunked(known, text, config)]
    above = 0
    for block in kept_whole(text, known.blocks(text)):
        size = size_of(text[block.start : block.end], config)
        if size <= (room if block.kind == "lined" else room - above):
            start, end = trim(text, block.start, block.end)
            assert any(s <= start and end <= e for s, e in spans), block
        # A page break between them is blank, but belongs to the chunk's length.
        above = above + size + 4 if block.kind == "heading" else 0


def kept_whole(text: str, blocks: list[Block]) -> Iterator[Block]:
    """The blocks, and instead of rows beneath a header each row with its line break."""
    for block in cover(text, blocks):
        if block.kind == "lined" and block.header:
            rows = re.finditer(r"[^\r\n]+(?:\r\n|\r|\n)?", text[: block.end])
            spans = [row.span() for row in rows if row.start() >= block.start]
            yield from (Block(*span, "lined") for span in spans if text[slice(*span)].strip())
        else:
            yield block


@unhurried
@given(documents, chunkings())
def test_a_document_has_one_chunk_of_each_id_and_the_same_ones_every_time(
    document: tuple[Format, str], config: ChunkingConfig
) -> None:
    known, text = document
    chunks = chunked(known, text, config)
    assert chunks == chunked(known, text, config)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert [Chunk.model_validate(chunk.model_dump()) for chunk in chunks] == chunks


@pytest.mark.parametrize("known", TEXT_FORMATS, ids=lambda known: known.name)
@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t", "\u3000\x85\u2028"])
def test_a_blank_document_has_no_chunks(known: Format, text: str) -> None:
    assert chunked(known, text, ChunkingConfig()) == []


@unhurried
@given(documents)
def test_line_ends_do_not_decide_where_paragraphs_are(document: tuple[Format, str]) -> None:
    known, text = document
    plain = re.sub("\r\n|\r|\n", "\n", text)
    for line_end in ("\r\n", "\r"):
        other = plain.replace("\n", line_end)
        assert unplaced(known, other, line_end) == unplaced(known, plain, "\n")


def unplaced(known: Format, text: str, line_end: str) -> list[tuple[str, str, str]]:
    return [
        (text[b.start : b.end].replace(line_end, "\n"), b.kind, b.title)
        for b in cover(text, known.blocks(text))
    ]
