"""Columns of a PDF page that were written row by row, put one after the other."""

from dataclasses import replace
from itertools import pairwise

from groundkit_core.loading.pdf.lines import Line

__all__ = ["one_after_another"]

_ROWS = 4
_LETTERS = 12


def one_after_another(lines: list[Line]) -> list[Line]:
    """The lines of a page, with two columns that go on line by line taken apart.

    pdfium keeps the order in which a page was written. Where that crosses from one column to the
    other on each line, four lines or more have a gap at one place, and on both sides of it
    most lines begin in the middle of a sentence; the rows of a table do not.
    """
    found: list[Line] = []
    position = 0
    while position < len(lines):
        run = _run(lines, position)
        left = [part for line in run if (part := _part(line, 0, run))]
        right = [part for line in run if (part := _part(line, 1, run))]
        if min(len(left), len(right)) >= _ROWS and _goes_on(left) and _goes_on(right):
            found += left + right
        else:
            found += run
        position += len(run)
    return found


def _run(lines: list[Line], position: int) -> list[Line]:
    """Lines from `position` on that stand one beneath the other beside one gap."""
    run = [lines[position]]
    gap = _gap(lines[position])
    for line in lines[position + 1 :]:
        before = run[-1]
        distance = before.base - line.base
        near = line.turn == before.turn and 0 < distance < 2.5 * line.size
        narrowed = _narrowed(gap, line) if gap and near else None
        if narrowed is None:
            break
        gap = narrowed
        run.append(line)
    return run


def _gap(line: Line) -> tuple[float, float] | None:
    if len(line.cells) != 2 or line.rtl:
        return None
    return line.cells[0][1], line.cells[1][0]


def _narrowed(gap: tuple[float, float], line: Line) -> tuple[float, float] | None:
    """What is left of a gap beside one more line, which may stand on one side of it."""
    left, right = gap
    if len(line.cells) == 1:
        if line.right <= (left + right) / 2:
            left = max(left, line.right)
        else:
            right = min(right, line.left)
    elif own := _gap(line):
        left, right = max(left, own[0]), min(right, own[1])
    else:
        return None
    return (left, right) if right - left > 0.5 * line.size else None


def _part(line: Line, side: int, run: list[Line]) -> Line | None:
    """What a line of a run has on one side of the gap."""
    if len(line.cells) == 1:
        gap = next((found for other in run if (found := _gap(other))), None)
        return line if gap and (line.left < gap[1] - line.size) == (side == 0) else None
    text = line.text.split("\t")[side]
    left, right = line.cells[side]
    lead = (right - left) * len(text.split()[0]) / len(text)
    cells = ((left, right),)
    return replace(line, text=text, left=left, right=right, lead=lead, cells=cells, spaced=False)


def _goes_on(lines: list[Line]) -> bool:
    inside = sum(after.text[0].islower() for _, after in pairwise(lines))
    letters = sum(len(line.text) for line in lines)
    return inside * 2 > len(lines) - 1 and letters > _LETTERS * len(lines)
