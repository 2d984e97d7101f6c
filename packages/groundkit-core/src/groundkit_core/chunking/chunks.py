"""From a document to its chunks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from groundkit_core.chunking.blocks import Block, Piece, trim
from groundkit_core.chunking.structure import structured
from groundkit_core.chunking.windows import windows
from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Chunk, Document
from groundkit_core.ids import chunk_id
from groundkit_core.spans import Lines, page_range

__all__ = ["chunk_document"]


def chunk_document(
    document: Document,
    blocks: Iterable[Block] = (),
    config: ChunkingConfig | None = None,
    pages: Sequence[int] = (),
) -> list[Chunk]:
    """Chunks whose spans cover every character of the document that is not blank.

    `pages` are the offsets at which its pages begin.
    """
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
                pages=page_range(pages, piece.start, piece.end) if pages else None,
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
    marks = iter([block for block in blocks if block.kind == "heading" or block.header])
    mark = next(marks, None)
    path: list[tuple[int, str]] = []
    rows = Block(0, 0)
    for start, end in windows(text, 0, len(text), config.size, config.overlap, config.unit):
        begin = trim(text, start, end)[0]
        while mark is not None and mark.start <= begin:
            if mark.header:
                rows = mark
            else:
                _enter(path, mark)
            mark = next(marks, None)
        header = (rows.header,) if begin < rows.end else ()
        yield Piece(start, end, (*(title for _, title in path), *header))


def _enter(path: list[tuple[int, str]], heading: Block) -> None:
    """Go on beneath a heading; one without a title only ends what is above it."""
    while path and path[-1][0] >= heading.level:
        path.pop()
    if heading.title:
        path.append((heading.level, heading.title))
