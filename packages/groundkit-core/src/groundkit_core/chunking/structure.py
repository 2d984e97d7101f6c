"""Structure-aware passages: blocks packed under their headings."""

from collections.abc import Iterable, Iterator

from groundkit_core.chunking.blocks import Block, Piece, cover
from groundkit_core.chunking.windows import divide, measure, unit_starts
from groundkit_core.config import ChunkingConfig

__all__ = ["structured"]


def structured(text: str, blocks: Iterable[Block], config: ChunkingConfig) -> list[Piece]:
    """Pieces of at most `config.size` that begin at headings and keep whole blocks whole."""
    packer = _Packer(text, config)
    for block in cover(text, blocks):
        packer.add(block)
    packer.flush()
    return list(_overlapped(text, packer, config)) if config.overlap else packer.pieces


class _Packer:
    """Collects blocks into the current piece and closes it when the next does not fit."""

    def __init__(self, text: str, config: ChunkingConfig) -> None:
        self._text = text
        self._unit = config.unit
        self._config = config
        self._headings: list[tuple[int, str]] = []
        self._start = self._end = -1
        self._filled = 0
        self._has_body = False
        self._opens = True
        self.pieces: list[Piece] = []
        self.openings: list[bool] = []
        """Whether each piece is the first under its heading."""

    @property
    def _size(self) -> int:
        """Room for new text; a piece that is not the first under its heading has an overlap."""
        return self._config.size - (0 if self._opens else self._config.overlap)

    def add(self, block: Block) -> None:
        size = measure(self._text[block.start : block.end], self._unit)
        if block.kind == "heading":
            self._enter(block)
            if self._filled_with(block.start, size) >= self._size:
                self.flush()
            if size < self._size:
                self._extend(block.start, block.end, size)
                return
        if self._filled_with(block.start, size) > self._size and self._has_body:
            self.flush()
        if self._filled_with(block.start, size) <= self._size:
            self._extend(block.start, block.end, size, body=True)
            return
        lined = block.kind == "lined"
        room = self._size - self._filled_with(block.start, 0)
        if room < 1 or (lined and size <= self._size):
            self.flush()
            room = self._size
        # Too long for this piece: what heads it stays with its first part.
        end = block.end
        first = next(divide(self._text, block.start, end, room, self._unit, lined=lined))
        self._close(*first)
        for part in divide(self._text, first[1], end, self._size, self._unit, lined=lined):
            self._close(*part)

    def _filled_with(self, start: int, size: int) -> int:
        """Size of the current piece if it took what begins at `start`; blanks are characters."""
        if self._unit == "characters" and self._start >= 0:
            return start - self._start + size
        return self._filled + size

    def flush(self) -> None:
        if self._start >= 0:
            path = tuple(title for _, title in self._headings)
            self.pieces.append(Piece(self._start, self._end, path))
            self.openings.append(self._opens)
            self._opens = False
        self._start = self._end = -1
        self._filled = 0
        self._has_body = False

    def _enter(self, heading: Block) -> None:
        if self._has_body:
            self.flush()
        while self._headings and self._headings[-1][0] >= heading.level:
            self._headings.pop()
        self._headings.append((heading.level, heading.title))
        self._opens = True

    def _extend(self, start: int, end: int, size: int, *, body: bool = False) -> None:
        self._start = start if self._start < 0 else self._start
        self._end = end
        self._filled += size
        self._has_body = self._has_body or body

    def _close(self, start: int, end: int) -> None:
        if start < end:
            self._extend(start, end, 0, body=True)
            self.flush()


def _overlapped(text: str, packer: _Packer, config: ChunkingConfig) -> Iterator[Piece]:
    previous: Piece | None = None
    for piece, opens in zip(packer.pieces, packer.openings, strict=True):
        if previous is not None and not opens:
            # As far back as asked for, but always beyond where the piece before began.
            starts = unit_starts(text, previous.start, piece.start, config.unit)
            begin = starts[max(1, len(starts) - config.overlap)] if len(starts) > 1 else piece.start
            piece = Piece(begin, piece.end, piece.headings)
        yield piece
        previous = piece
