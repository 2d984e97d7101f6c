"""The structure that an extractor knows of a text, as spans."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Block", "Piece", "cover", "trim"]


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading or other unit that is kept whole where it fits.

    `level` and `title` are a heading's, and one without a title only ends the sections at its
    level; `lined` blocks (code, tables, lists) divide at lines. `header` is the header row of the
    table that a block goes on with, on one line: passages that begin in such a block have it at the
    end of their heading path.
    """

    start: int
    end: int
    kind: Literal["heading", "prose", "lined"] = "prose"
    level: int = 0
    title: str = ""
    header: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """The span of a passage and the headings above it."""

    start: int
    end: int
    headings: tuple[str, ...] = ()


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blank characters at its ends; empty where all are blank."""
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return (start + left, start + len(part.rstrip())) if left < len(part) else (start, start)


def cover(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks in order, trimmed, with what none of them covers as prose between them."""
    position = 0
    for block in sorted(blocks, key=lambda block: (block.start, block.end)):
        begin, end = trim(text, max(block.start, position), block.end)
        if begin == end:
            continue
        yield from _gap(text, position, begin)
        position = end
        if (begin, end) == (block.start, block.end):
            yield block
        else:
            yield Block(begin, end, block.kind, block.level, block.title, block.header)
    yield from _gap(text, position, len(text))


def _gap(text: str, start: int, end: int) -> Iterator[Block]:
    begin, stop = trim(text, start, end)
    if begin < stop:
        yield Block(begin, stop)
