"""Running headers and footers of a PDF: what the edges of its pages repeat."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator
from itertools import product
from typing import NamedTuple

from groundkit_core.loading.pdf.lines import Line

__all__ = ["Frame", "without_running_lines"]

_PAGES = 3
_EDGE = 0.2
_DEEP = 12
_MOST = 4
_NUMBERS = 3
_DIGITS = re.compile(r"[0-9]+")


class Frame(NamedTuple):
    """How a page lies: the turn at which text is upright, and its lower and upper edge then."""

    turn: int
    bottom: float
    top: float


def without_running_lines(pages: list[list[Line]], frames: list[Frame]) -> list[list[Line]]:
    """The pages without lines that already stood at the same place of an earlier page.

    A line runs where three pages or more have it at the same height in the outer fifth of the
    page, with nothing but running lines between it and the edge. Its numbers, up to three, are
    equal on all of them or grow with the page, so that "Page 4 of 9" runs and the totals beneath
    a table do not. It is kept where it first stands, on a page that would be left empty, and
    where more than four run at one edge, which is what copies of a whole page look like.
    """
    first: dict[Hashable, int] = {}
    times: dict[Hashable, set[int]] = defaultdict(set)
    edges = [_edges(lines, frame) for lines, frame in zip(pages, frames, strict=True)]
    for number, page in enumerate(edges):
        for line in {line for edge in page for line in edge}:
            for key in _keys(line, number):
                first.setdefault(key, number)
                times[key].add(number)
    kept = []
    for number, (lines, page) in enumerate(zip(pages, edges, strict=True)):
        dropped: set[Line] = set()
        for edge in page:
            running: list[tuple[Line, int]] = []
            between: list[Line] = []
            for line in edge:
                keys = [key for key in _keys(line, number) if len(times[key]) >= _PAGES]
                if keys and not any(_overlap(line, other) for other in between):
                    running.append((line, min(first[key] for key in keys)))
                else:
                    between.append(line)
            if len(running) <= _MOST:
                dropped.update(line for line, page_of_first in running if page_of_first < number)
        kept.append([line for line in lines if line not in dropped] or lines)
    return kept


def _edges(lines: list[Line], frame: Frame) -> tuple[list[Line], list[Line]]:
    """The lines near the upper and near the lower edge of a page, from the edge inwards."""
    margin = _EDGE * (frame.top - frame.bottom)
    falling = sorted((x for x in lines if x.turn == frame.turn), key=lambda line: -line.base)
    return (
        [line for line in falling[:_DEEP] if line.base > frame.top - margin],
        [line for line in falling[: -_DEEP - 1 : -1] if line.base < frame.bottom + margin],
    )


def _overlap(line: Line, other: Line) -> bool:
    return min(line.right, other.right) > max(line.left, other.left)


def _keys(line: Line, page: int) -> Iterator[Hashable]:
    """What equal lines share, for each way in which their numbers can stay or grow."""
    height = round(line.base)
    numbers = [int(number[:9]) for number in _DIGITS.findall(line.text)]
    if len(numbers) > _NUMBERS:
        yield height, line.text
        return
    pattern = _DIGITS.sub("0", line.text)
    for grows in product((0, 1), repeat=len(numbers)):
        rest = tuple(number - page * grow for number, grow in zip(numbers, grows, strict=True))
        yield height, pattern, grows, rest
