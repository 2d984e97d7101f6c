"""What tests of chunking ask of passages."""

from collections.abc import Sequence
from itertools import pairwise

from groundkit_core.chunking import chunk_document
from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Chunk, Document
from groundkit_core.loading.formats import FORMATS

__all__ = ["check_invariants", "chunks", "path_at", "spans"]


def check_invariants(text: str, passages: Sequence[Chunk]) -> None:
    """Slices of the text, starts that rise, and no character left out that is not blank."""
    for chunk in passages:
        assert chunk.content == text[chunk.start : chunk.end]
        assert 0 <= chunk.start < chunk.end <= len(text)
    assert all(left.start < right.start for left, right in pairwise(passages))
    position = 0
    for chunk in passages:
        assert not text[position : chunk.start].strip(), (position, chunk.start)
        position = max(position, chunk.end)
    assert not text[position:].strip()


def chunks(text: str, name: str = "text", **settings: object) -> list[Chunk]:
    """Chunks of a text in the format of that name."""
    blocks = next(known for known in FORMATS if known.name == name).blocks(text)
    config = ChunkingConfig.model_validate(settings)
    return chunk_document(Document.from_text("s", text), blocks, config)


def spans(passages: Sequence[Chunk]) -> list[tuple[int, int]]:
    return [(chunk.start, chunk.end) for chunk in passages]


def path_at(text: str, needle: str, passages: Sequence[Chunk]) -> tuple[str, ...]:
    """The heading path of the passage in which the last `needle` of the text stands."""
    at = text.rindex(needle)
    return next(chunk.heading_path for chunk in passages if chunk.start <= at < chunk.end)
