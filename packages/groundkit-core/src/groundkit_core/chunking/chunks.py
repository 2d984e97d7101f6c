"""From a document to its chunks."""

from collections import Counter
from collections.abc import Iterable, Iterator

from groundkit_core.chunking.blocks import Block, Piece, trim
from groundkit_core.chunking.structure import structured
from groundkit_core.chunking.windows import windows
from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Chunk, Document
from groundkit_core.ids import chunk_id
from groundkit_core.spans import Lines

__all__ = ["chunk_document"]


def chunk_document(
    document: Document, blocks: Iterable[Block] = (), config: ChunkingConfig | None = None
) -> list[Chunk]:
    """Chunks whose spans cover every character of the document that is not blank."""
    config = config or ChunkingConfig()
    text = document.text
    lines = Lines(text)
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for piece in _pieces(text, list(blocks), config):
        content = text[piece.start : piece.end]
        # Not validated: these are ours, and there are many.
        chunks.append(
            Chunk.model_construct(
                id=chunk_id(document.id, content, seen[content]),
                document_id=document.id,
                ordinal=len(chunks),
                start=piece.start,
                end=piece.end,
                content=content,
                heading_path=piece.headings,
                lines=lines.of(piece.start, piece.end),
            )
        )
        seen[content] += 1
    return chunks


def _pieces(text: str, blocks: list[Block], config: ChunkingConfig) -> Iterator[Piece]:
    found = (
        structured(text, blocks, config)
        if config.strategy == "structure"
        else _fixed(text, blocks, config)
    )
    held: Piece | None = None
    for piece in found:
        start, end = trim(text, piece.start, piece.end)
        if start == end:
            continue
        # Windows that differ only in leading blanks begin alike: the longer one says it all.
        if held is not None and held.start != start:
            yield held
        held = Piece(start, end, piece.headings)
    if held is not None:
        yield held


def _fixed(text: str, blocks: list[Block], config: ChunkingConfig) -> Iterator[Piece]:
    headings = iter([block for block in blocks if block.kind == "heading"])
    heading = next(headings, None)
    path: list[tuple[int, str]] = []
    for start, end in windows(text, 0, len(text), config.size, config.overlap, config.unit):
        begin = trim(text, start, end)[0]
        while heading is not None and heading.start <= begin:
            while path and path[-1][0] >= heading.level:
                path.pop()
            path.append((heading.level, heading.title))
            heading = next(headings, None)
        yield Piece(start, end, tuple(title for _, title in path))
