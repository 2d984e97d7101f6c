"""Plain text: paragraphs between blank lines."""

import re

from groundkit_core.chunking.blocks import Block

__all__ = ["blocks"]

_BLANK = re.compile(r"(?>\r\n|\r|\n)[ \t\f\v]*(?>\r\n|\r|\n)\s*")


def blocks(text: str) -> list[Block]:
    """The paragraphs of a text."""
    found: list[Block] = []
    start = 0
    for match in _BLANK.finditer(text):
        found.append(Block(start, match.start()))
        start = match.end()
    return [*found, Block(start, len(text))]
