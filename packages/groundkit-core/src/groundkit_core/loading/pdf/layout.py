"""The paragraphs of a PDF: which lines belong together, by where they stand."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from groundkit_core.loading.pdf.join import UNSPACED
from groundkit_core.loading.pdf.lines import Line

__all__ = ["BULLET", "Paragraph", "paragraphs"]

BULLET = re.compile(r"[•◦▪▫‣●○■□▶►❖➢⁃∙·\uf0b7\uf0a7\uf076][\s]*|[-–—*][ \t]+")
_NUMBER = re.compile(r"(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\[\d{1,3}\]|\d+(?:\.\d+)+\.?)\s")
_ENDS = re.compile(r"[.:;?!。！？：；؟۔।…][\"'”’»)\]」』）]*$")
_TORN = re.compile(r"\w[-\u2010\xad]$")
_LEADERS = re.compile(r"(?:\. ?){4,}|…{2,}|_{4,}")


@dataclass(slots=True)
class Paragraph:
    """Lines that are one paragraph, list item or row.

    `flow` numbers the runs of lines that stand one beneath the other.
    """

    lines: list[Line]
    flow: int
    item: bool = False

    @property
    def row(self) -> bool:
        """Whether it is one line that the next does not continue."""
        return len(self.lines) == 1 and not self.item


def paragraphs(lines: list[Line], apart: Callable[[Line], bool]) -> list[Paragraph]:
    """The paragraphs of a document's lines; a line that is `apart` is one of its own."""
    pitches = _pitches(lines)
    found: list[Paragraph] = []
    for number, flow in enumerate(_flows(lines, pitches, apart)):
        for part in _divided(flow):
            item = bool(BULLET.match(part[0].text) or _NUMBER.match(part[0].text))
            alone = apart(part[0]) or (bool(found) and apart(found[-1].lines[-1]))
            paragraph = Paragraph(part, number, item and not apart(part[0]))
            if found and not alone and _runs_on(found[-1], paragraph):
                found[-1].lines += part
                found[-1].flow = number
            else:
                found.append(paragraph)
    return found


def _below(line: Line, after: Line) -> float:
    return line.base - after.base


def _alike(line: Line, after: Line) -> bool:
    return line.turn == after.turn and abs(line.size - after.size) <= 0.07 * line.size


def _under(line: Line, after: Line) -> bool:
    return (
        line.page == after.page
        and _alike(line, after)
        and 0.5 * line.size < _below(line, after) < 2.5 * line.size
        and min(line.right, after.right) > max(line.left, after.left)
    )


def _pitches(lines: list[Line]) -> dict[float, float]:
    """The usual distance of two baselines for each size of font."""
    seen: dict[float, Counter[float]] = {}
    for line, after in pairwise(lines):
        if _under(line, after):
            distance = round(_below(line, after) * 4) / 4
            seen.setdefault(round(line.size), Counter())[distance] += 1
    return {
        size: max(counts, key=lambda distance: (counts[distance], -distance))
        for size, counts in seen.items()
    }


def _flows(
    lines: list[Line], pitches: dict[float, float], apart: Callable[[Line], bool]
) -> Iterator[list[Line]]:
    """Runs of lines of one font size that stand one beneath the other without a gap."""
    flow: list[Line] = []
    for line in lines:
        if flow and (
            apart(line)
            or apart(flow[-1])
            or not _under(flow[-1], line)
            or _below(flow[-1], line) > 1.3 * pitches[round(flow[-1].size)]
        ):
            yield flow
            flow = []
        flow.append(line)
    if flow:
        yield flow


def _start(line: Line) -> float:
    return -line.right if line.rtl else line.left


def _end(line: Line) -> float:
    return -line.left if line.rtl else line.right


def _edge(values: Iterable[float]) -> float:
    """Where a column ends: where half of its lines do, or else the longest."""
    ends = [round(value) for value in values]
    common, times = Counter(ends).most_common(1)[0]
    return common if times * 2 > len(ends) else max(ends)


def _divided(flow: list[Line]) -> Iterator[list[Line]]:
    """The paragraphs of lines that have no gap between them."""
    edge = _edge(map(_end, flow))
    part = [flow[0]]
    for index, line in enumerate(flow[1:], 1):
        after = flow[index + 1] if index + 1 < len(flow) else None
        if _begins(part, line, after, edge):
            yield part
            part = []
        part.append(line)
    yield part


def _begins(part: list[Line], line: Line, after: Line | None, edge: float) -> bool:
    """Whether a line begins a paragraph: its first word would have fitted on the line before."""
    before, size = part[-1], line.size
    if _TORN.search(before.text) and line.text[0].islower():
        return False
    if "\t" in _unmarked(before.text) + _unmarked(line.text) or _LEADERS.search(before.text):
        return True
    if not any(map(str.isalpha, before.text + line.text)):
        return True
    listed = _NUMBER.match(part[0].text) and abs(_start(line) - _start(part[0])) < 0.3 * size
    numbered = _NUMBER.match(line.text) and (listed or _ENDS.search(before.text))
    if BULLET.match(line.text) or numbered:
        return True
    shift = _start(line) - _start(before)
    centred = abs(shift) > size and abs(shift + _end(line) - _end(before)) < size
    room = (edge - _end(before)) * (2 if centred else 1)
    goes_on = line.text[0].islower() and not _ENDS.search(before.text)
    if room > (2 * line.lead + 2 * size if goes_on else line.lead + 0.3 * size):
        return True
    if centred or abs(shift) < 0.8 * size:
        return False
    if shift < 0:
        return len(part) > 1
    if len(part) > 1:
        return True
    marked = BULLET.match(before.text) or _NUMBER.match(before.text)
    return not marked and after is not None and _start(after) < _start(line) - 0.8 * size


def _unmarked(text: str) -> str:
    match = BULLET.match(text) or _NUMBER.match(text)
    return text[match.end() :] if match else text


def _runs_on(paragraph: Paragraph, after: Paragraph) -> bool:
    """Whether a sentence goes on at the head of the next column or page."""
    line, first = paragraph.lines[-1], after.lines[0]
    if after.item or not _alike(line, first) or "\t" in line.text + first.text:
        return False
    if paragraph.flow == after.flow or (line.page == first.page and _below(line, first) > 0):
        return False
    if _ENDS.search(line.text) or line.right - line.left < 0.8 * (first.right - first.left):
        return False
    if first.text[0].islower():
        return True
    unspaced = UNSPACED.match(line.text[-1]) and UNSPACED.match(first.text[0])
    return bool(unspaced) and len(paragraph.lines) > 1 and len(after.lines) > 1
