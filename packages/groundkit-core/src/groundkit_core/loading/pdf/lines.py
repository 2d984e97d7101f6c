"""The lines of a PDF page: their text, where they stand and how large they are."""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite, pi, sqrt
from statistics import median_low
from typing import TYPE_CHECKING

from groundkit_core.loading.pdf.glyphs import Box, Char, character, clean, logical, reads_leftwards
from groundkit_core.loading.pdf.words import cells_of, reach, words_of

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

__all__ = ["Line", "page_lines", "unread", "upright"]

# pdfium puts the first for a hyphen at the end of a line and leaves the line break out.
_HYPHENS = {0x02: "-", 0xAD: "\xad", 0xFFFE: "-"}
_BREAKS = {0x0A, 0x0D}
# Justified words rarely stand so far apart, in font sizes; the cells of a table do.
_CELL_GAP = 1.5
_SMALLEST = 0.1
# What the fonts of symbols have for a bullet.
_SYMBOL = re.compile("[\x80-\x9f\uf000-\uf0ff]")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it is read, in points from the lower left corner after turning it upright.

    `turn` counts the quarter turns, counter-clockwise, by which its text is drawn; `lead` is the
    width of its first word; `base` is its baseline and `size` the size of its font. A tab in the
    text is a gap as wide as between the cells of a table, and `cells` says from where to where
    what stands between such gaps reaches; a `spaced` line ends with a blank.
    """

    text: str
    page: int
    turn: int
    left: float
    right: float
    base: float
    size: float
    lead: float
    rtl: bool = False
    spaced: bool = False
    cells: tuple[tuple[float, float], ...] = ()


def upright(box: Box, turn: int) -> Box:
    """A box (left, bottom, right, top) as it lies once `turn` quarter turns are taken back."""
    left, bottom, right, top = box
    if turn == 1:
        return bottom, -right, top, -left
    if turn == 2:
        return -right, -top, -left, -bottom
    return (-top, left, -bottom, right) if turn == 3 else box


def page_lines(page: "PdfPage", number: int) -> list[Line]:
    """The lines of a page in reading order, pieces that stand side by side put together."""
    lines: list[Line] = []
    textpage = page.get_textpage()
    try:
        for line in _pieces(textpage.raw, page.get_bbox(), number):
            if lines and _beside(lines[-1], line):
                lines[-1] = _together(lines[-1], line)
            else:
                lines.append(line)
    finally:
        textpage.close()
    return lines


def unread(page: "PdfPage") -> bool:
    """Whether pdfium left text out: what is set vertically in a font that is not in the file."""
    import pypdfium2.raw as pdfium

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for index in range(pdfium.FPDFPage_CountObjects(page.raw)):
        item = pdfium.FPDFPage_GetObject(page.raw, index)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_TEXT:
            continue
        pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top)
        if right.value - left.value < 0.01 and top.value - bottom.value > 1:
            return True
    return False


def _pieces(handle: object, bounds: Box, number: int) -> Iterator[Line]:
    """What pdfium takes for a line; it begins a new one at many a superscript or table cell."""
    import pypdfium2.raw as pdfium

    chars: list[Char] = []
    starts: list[int] = []
    rect = pdfium.FS_RECTF()
    unicode_of, box_of = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox
    for index in range(pdfium.FPDFText_CountChars(handle)):
        code = unicode_of(handle, index)
        if code in _BREAKS:
            yield from _line(handle, chars, starts, number)
            chars, starts = [], []
            continue
        char = _HYPHENS.get(code) or character(code)
        if char.isspace():
            chars.append((char, None))
        elif box_of(handle, index, rect):
            box = (rect.left, rect.bottom, rect.right, rect.top)
            if not _within(box, bounds):
                continue
            if not chars or chars[-1][1] is None:
                starts.append(index)
            chars.append((char, box))
        if code in _HYPHENS:
            yield from _line(handle, chars, starts, number)
            chars, starts = [], []
    yield from _line(handle, chars, starts, number)


def _line(handle: object, chars: list[Char], starts: list[int], number: int) -> Iterator[Line]:
    if not starts:
        return
    turn, base, size = _font(handle, starts)
    placed = [(char, upright(box, turn) if box else None) for char, box in chars]
    rtl = reads_leftwards(char for char, _ in chars)
    words = list(words_of(logical(placed) if rtl else placed))
    if len(words) > 1 and _SYMBOL.fullmatch(words[0].text):
        words[0] = words[0]._replace(text="•")
    cells = cells_of(words, _CELL_GAP * size)
    if rtl:
        cells.sort(key=lambda cell: -cell[0].right)
    parts = [(clean(" ".join(word.text for word in cell)), reach(cell)) for cell in cells]
    parts = [part for part in parts if part[0]]
    if parts:
        left, right = reach(words)
        yield Line(
            "\t".join(text for text, _ in parts), number, turn, left, right, base, size,
            lead=words[0].right - words[0].left, rtl=rtl, spaced=chars[-1][0].isspace(),
            cells=tuple(place for _, place in parts),
        )  # fmt: skip


def _font(handle: object, starts: list[int]) -> tuple[int, float, float]:
    """Turn, baseline and size of a line, from the characters that begin its words."""
    import pypdfium2.raw as pdfium

    angle = pdfium.FPDFText_GetCharAngle(handle, starts[0])
    turn = -round(angle / (pi / 2)) % 4 if angle > 0 else 0
    matrix, x, y = pdfium.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
    bases, sizes = [], []
    for index in starts:
        pdfium.FPDFText_GetMatrix(handle, index, matrix)
        size = pdfium.FPDFText_GetFontSize(handle, index)
        size *= sqrt(abs(matrix.a * matrix.d - matrix.b * matrix.c)) or 1.0
        sizes.append(max(_SMALLEST, round(size, 1)) if isfinite(size) else _SMALLEST)
        pdfium.FPDFText_GetCharOrigin(handle, index, x, y)
        bases.append(upright((x.value, y.value, x.value, y.value), turn)[1])
    return turn, median_low(bases), median_low(sizes)


def _within(box: Box, bounds: Box) -> bool:
    """Whether a box has a part within the page; one without numbers has not."""
    across = box[2] >= bounds[0] and box[0] <= bounds[2]
    return across and box[3] >= bounds[1] and box[1] <= bounds[3]


def _gap(line: Line, after: Line) -> float:
    return line.left - after.right if line.rtl else after.left - line.right


def _beside(line: Line, after: Line) -> bool:
    """Whether two pieces are one line to the eye: the second goes on where the first ends."""
    size = max(line.size, after.size)
    share = min(line.size, after.size) / size
    script = 0.5 <= share < 0.85
    return (
        line.turn == after.turn
        and abs(line.base - after.base) < (0.6 if share >= 0.5 else 0.2) * size
        and _gap(line, after) > (-1.5 if script else -0.6) * size
    )


def _together(line: Line, after: Line) -> Line:
    gap = _gap(line, after) / max(line.size, after.size)
    space = "\t" if gap > _CELL_GAP else " " if gap > 0.15 else ""
    cells = line.cells + after.cells
    if space != "\t":
        joint = line.cells[-1] + after.cells[0]
        cells = (*line.cells[:-1], (min(joint), max(joint)), *after.cells[1:])
    main = max(line, after, key=lambda piece: len(piece.text))
    return replace(
        main,
        text=line.text + space + after.text,
        left=min(line.left, after.left),
        right=max(line.right, after.right),
        lead=line.lead,
        spaced=after.spaced,
        cells=cells,
    )
