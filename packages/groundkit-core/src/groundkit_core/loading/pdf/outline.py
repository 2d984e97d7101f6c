"""What a PDF says of itself: its outline as headings, and its title."""

import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from groundkit_core.loading.pdf.glyphs import clean
from groundkit_core.loading.pdf.lines import Line

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

__all__ = ["Heading", "document_title", "outline_headings"]

_LINES = 3
_NUMBERING = re.compile(
    r"(?:(?:chapter|section|part|appendix|kapitel|chapitre)\s+)?"
    r"(?:\d+|[A-Za-z]|[IVXLCivxlc]+)(?:\.\d+)*[.:)]?\s+", re.IGNORECASE
)  # fmt: skip
_NO_TITLE = re.compile(
    r"(untitled( \w+)?|title|document|presentation|sans titre|ohne titel"
    r"|(microsoft )?(word|powerpoint|excel)( document| presentation)?( - .*)?"
    r"|\S+\.\w{2,5}|.*\.(docx?|odt|rtf|dvi|tex|indd|qx[dp]|pptx?|xlsx?|pdf|txt|html?|eps|wpd))"
    r"[\s\d]*", re.IGNORECASE
)  # fmt: skip
_LONGEST = 300
_LONGEST_NUMBER = 20


class Heading(NamedTuple):
    """A heading's level and the lines it takes."""

    level: int
    lines: list[Line]


def outline_headings(document: "PdfDocument", pages: list[list[Line]]) -> dict[int, Heading]:
    """Level and lines of each heading that the outline names, by the identity of its lines.

    A heading is what stands on the page of a bookmark and reads like it: up to three lines,
    compared by letters and digits only, with or without the numbering before them.
    """
    found: dict[int, Heading] = {}
    spelt: dict[int, list[tuple[Line, str]]] = {}
    for bookmark in document.get_toc(max_depth=15):
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        if page is None or page >= len(pages):
            continue
        if page not in spelt:
            spelt[page] = [(line, _letters(line.text)) for line in pages[page]]
        free = [entry for entry in spelt[page] if id(entry[0]) not in found]
        lines = _lines_of(_decoded(bookmark.get_title), free)
        heading = Heading(bookmark.level + 1, lines)
        found.update({id(line): heading for line in lines})
    return found


def document_title(document: "PdfDocument") -> str | None:
    """The title in the metadata, unless it is a file's name or stands for none."""
    title = _decoded(lambda: document.get_metadata_value("Title"))
    if not any(map(str.isalpha, title)) or len(title) > _LONGEST or _NO_TITLE.fullmatch(title):
        return None
    return title


def _decoded(read: Callable[[], str]) -> str:
    try:
        return clean(read())
    except UnicodeDecodeError:
        return ""


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char.isalnum())


def _names(title: str) -> set[str]:
    return {_letters(title), _letters(_NUMBERING.sub("", title, count=1))} - {""}


def _lines_of(title: str, lines: list[tuple[Line, str]]) -> list[Line]:
    wanted = _names(title)
    longest = max(map(len, wanted), default=0) + _LONGEST_NUMBER
    for first in range(len(lines)):
        letters = ""
        for last in range(first, min(first + _LINES, len(lines))):
            letters += lines[last][1]
            if len(letters) > longest:
                break
            run = [line for line, _ in lines[first : last + 1]]
            if any(map(letters.endswith, wanted)) and wanted & _names(
                " ".join(x.text for x in run)
            ):
                return run
    return []
