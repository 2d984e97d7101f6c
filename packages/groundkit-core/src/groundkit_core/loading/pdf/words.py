"""The words of a PDF's line, and the cells that wide gaps between them make."""

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

from groundkit_core.loading.pdf.glyphs import Char

__all__ = ["Word", "cells_of", "reach", "words_of"]


class Word(NamedTuple):
    text: str
    left: float
    right: float


def words_of(chars: list[Char]) -> Iterator[Word]:
    """Runs of characters that have a place on the page."""
    for placed, run in groupby(chars, key=lambda char: char[1] is not None):
        if placed:
            pairs = [(char, box) for char, box in run if box]
            left, right = min(box[0] for _, box in pairs), max(box[2] for _, box in pairs)
            yield Word("".join(char for char, _ in pairs), left, right)


def reach(words: list[Word]) -> tuple[float, float]:
    """The left and right end of some words."""
    return min(word.left for word in words), max(word.right for word in words)


def cells_of(words: list[Word], gap: float) -> list[list[Word]]:
    """The words of a line, parted where the gap between two is wider than `gap`."""
    cells = [words[:1]]
    for before, word in pairwise(words):
        if max(word.left - before.right, before.left - word.right) > gap:
            cells.append([])
        cells[-1].append(word)
    return cells
