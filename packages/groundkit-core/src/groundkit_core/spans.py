"""Lines and other units of code-point spans."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from operator import methodcaller

__all__ = ["Lines", "byte_span", "line_range", "page_range", "utf16_span"]

_BREAK = re.compile(r"\r\n|\r|\n")


class Lines:
    """The line starts of a text; a line ends at LF, CRLF or a lone CR."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *map(methodcaller("end"), _BREAK.finditer(text))]
        self._length = len(text)

    def start(self, line: int) -> int:
        """Offset where a line begins, counted from 0; the text's end beyond the last line."""
        return self.starts[line] if line < len(self.starts) else self._length

    def of(self, start: int, end: int) -> tuple[int, int]:
        """First and last line of a span, counted from 1."""
        first = bisect_right(self.starts, start)
        return first, max(first, bisect_right(self.starts, max(start, end - 1)))


def line_range(text: str, start: int, end: int) -> tuple[int, int]:
    """First and last line of one span, counted from 1."""
    if "\r" in text:
        return Lines(text).of(start, end)
    first = text.count("\n", 0, start) + 1
    return first, first + text.count("\n", start, max(start, end - 1))


def page_range(pages: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """First and last page of a span, counted from 1; `pages` are the offsets where they begin."""
    first = max(1, bisect_right(pages, start))
    return first, max(first, bisect_right(pages, max(start, end - 1)))


def utf16_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span in UTF-16 code units, as editors and browsers count."""
    before = len(text[:start].encode("utf-16-le", "surrogatepass")) // 2
    return before, before + len(text[start:end].encode("utf-16-le", "surrogatepass")) // 2


def byte_span(text: str, start: int, end: int, encoding: str = "utf-8") -> tuple[int, int]:
    """The span in bytes of the encoded text, a byte order mark not counted."""
    mark = len("".encode(encoding))
    before = len(text[:start].encode(encoding)) - mark
    return before, before + len(text[start:end].encode(encoding)) - mark
