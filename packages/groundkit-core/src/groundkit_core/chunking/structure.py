"""Structure-aware passages: blocks packed under their headings."""

from collections.abc import Iterable, Iterator

from groundkit_core.chunking.blocks import Block, Piece, cover
from groundkit_core.chunking.windows import divide, line_around, measure, unit_starts
from groundkit_core.config import ChunkingConfig

__all__ = ["structured"]


def structured(text: str, blocks: Iterable[Block], config: ChunkingConfig) -> list[Piece]:
    """Pieces of at most `config.size` that begin at headings and keep whole blocks whole."""
    packer = _Packer(text, config)
    for block, rows in _joined(cover(text, blocks)):
        packer.add(block, rows)
    packer.flush()
    return list(_overlapped(text, packer, config)) if config.overlap else packer.pieces


def _joined(blocks: Iterable[Block]) -> Iterator[tuple[Block, int]]:
    """The blocks, a header row in one with the lines of rows beneath it, and where those begin."""
    held: Block | None = None
    for block in blocks:
        if held is not None:
            if block.header and not held.header and held.kind == block.kind == "lined":
                yield Block(held.start, block.end, "lined", header=block.header), block.start
                held = None
                continue
            yield held, held.start
        held = block
    if held is not None:
        yield held, held.start


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
        # The header above the current block's rows, where they begin, and the current piece's.
        self._header, self._rows, self._piece_header = "", 0, ""
        self.pieces: list[Piece] = []
        self.openings: list[bool] = []
        """Whether each piece is the first under its heading."""

    @property
    def _size(self) -> int:
        """Room for new text; a piece that is not the first under its heading has an overlap."""
        return self._config.size - (0 if self._opens else self._config.overlap)

    def add(self, block: Block, rows: int) -> None:
        """Take the next block, whose rows beneath its header begin at `rows`."""
        if self._piece_header and block.header != self._piece_header:
            self.flush()
        self._header, self._rows = block.header, rows
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
        start = block.start
        if not room == self._size == self._config.size - self._config.overlap:
            # Too long for this piece: what heads it stays with its first part.
            first = self._first_end(block, room)
            if first == start:
                self.flush()
                first = self._first_end(block, self._size)
            self._take(block, start, first)
            start = first
        for part in divide(self._text, start, block.end, self._size, self._unit, lined=lined):
            self._take(block, *part)

    def _first_end(self, block: Block, room: int) -> int:
        """Where the first part of a block ends, which tears no line that fits into a piece."""
        start, lined = block.start, block.kind == "lined"
        end = next(divide(self._text, start, block.end, room, self._unit, lined=lined))[1]
        if lined and room < self._size and end < block.end:
            first, last = line_around(self._text, end, start, block.end)
            if measure(self._text[first:last], self._unit) <= self._size:
                return first
        return end

    def _filled_with(self, start: int, size: int) -> int:
        """Size of the current piece if it took what begins at `start`; blanks are characters."""
        if self._unit == "characters" and self._start >= 0:
            return start - self._start + size
        return self._filled + size

    def flush(self) -> None:
        if self._start >= 0:
            path = tuple(title for _, title in self._headings)
            if self._piece_header:
                path += (self._piece_header,)
            self.pieces.append(Piece(self._start, self._end, path))
            self.openings.append(self._opens)
            self._opens = False
        self._start = self._end = -1
        self._filled = 0
        self._has_body = False
        self._piece_header = ""

    def _enter(self, heading: Block) -> None:
        if self._has_body:
            self.flush()
        while self._headings and self._headings[-1][0] >= heading.level:
            self._headings.pop()
        if heading.title:
            self._headings.append((heading.level, heading.title))
        self._opens = True

    def _extend(self, start: int, end: int, size: int, *, body: bool = False) -> None:
        if self._start < 0:
            self._start = start
            self._piece_header = self._header if start >= self._rows else ""
        self._end = end
        self._filled += size
        self._has_body = self._has_body or body

    def _take(self, block: Block, start: int, end: int) -> None:
        """Close a piece with a part of a block; more rows may follow the last part of rows."""
        if start == end:
            return
        if end == block.end and block.header:
            self._extend(start, end, measure(self._text[start:end], self._unit), body=True)
        else:
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
