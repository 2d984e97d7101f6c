"""Paragraphs of a Word file: their properties and what these make of them."""

import re
from dataclasses import dataclass, field

from groundkit_core.loading.docx.numbering import Numbering
from groundkit_core.loading.docx.styles import NO_OUTLINE, Styles, integer
from groundkit_core.loading.docx.tables import Paragraph
from groundkit_core.loading.docx.xml import Attributes, is_on
from groundkit_core.loading.inline import plain

__all__ = ["OpenParagraph", "Paragraphs"]

_SIGNS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"}
_PRIVATE = range(0xE000, 0xF900)
_NO_LIST = "0"
_MONO = re.compile(r"Consolas|Courier|Menlo|Monaco|\bMono", re.IGNORECASE)


@dataclass(slots=True)
class OpenParagraph:
    """A paragraph that is being read; `goes_on` where the break at its end was deleted."""

    parts: list[str] = field(default_factory=list)
    style: str | None = None
    num_id: str | None = None
    level: int | None = None
    outline: int | None = None
    goes_on: bool = False
    is_hidden: bool = False
    is_apart: bool = False
    is_mono: bool = False
    has_other: bool = False

    def add(self, text: str) -> None:
        """Text, unless the run that it is in is hidden."""
        if text and not self.is_hidden:
            if self.is_apart and self.parts and self.parts[-1][-1].isalnum() and text[0].isalnum():
                self.parts.append(" ")
            self.parts.append(text)
            self.is_apart = False
            self.has_other |= not self.is_mono and not text.isspace()

    def start_run(self) -> None:
        """The next text has its own properties."""
        self.is_hidden = self.is_mono = False

    def add_apart(self, text: str) -> None:
        """Text that no word beside it is glued to."""
        self.is_apart = True
        self.add(text)
        self.is_apart = True

    def set(self, parent: str, name: str, attributes: Attributes) -> None:
        """A property of the paragraph or of the run that began last, or a sign in it."""
        value = attributes.get("val", "")
        match parent, name:
            case "w:pPr", "w:pStyle":
                self.style = value
            case "w:pPr", "w:outlineLvl":
                self.outline = integer(value, NO_OUTLINE)
            case "w:numPr", "w:numId":
                self.num_id = value
            case "w:numPr", "w:ilvl":
                self.level = integer(value, 0)
            case "w:rPr", "w:vanish":
                self.is_hidden = is_on(attributes)
            case "w:rPr", "w:rFonts":
                self.is_mono = _MONO.search(attributes.get("ascii", "")) is not None
            case "w:r", "w:sym":
                self.add(_symbol(attributes.get("char", "")))
            case "w:r", _:
                self.add(_SIGNS.get(name, ""))


class Paragraphs:
    """Makes paragraphs of those that have ended, counting their numbers."""

    def __init__(self, styles: Styles, numbering: Numbering) -> None:
        self._styles = styles
        self._numbering = numbering
        self._left_over: list[str] = []
        self._has_title = False

    def ended(self, read: OpenParagraph) -> Paragraph | None:
        """The paragraph, if it has text; headings stand a level lower beneath a title."""
        parts = self._left_over + read.parts
        if read.goes_on:
            self._left_over = parts
            return None
        self._left_over = []
        style = self._styles[read.style]
        mark, depth = self._mark(read)
        lines = (line.rstrip() for line in plain("".join(parts)).split("\n"))
        text = "\n".join(lines).strip("\n")
        if not text.strip():
            return None
        level = style.heading
        if read.outline is not None:
            level = read.outline + 1 if read.outline < NO_OUTLINE else 0
        self._has_title |= style.is_title
        level = 1 if style.is_title else level + 1 if level and self._has_title else level
        is_code = style.is_code or not (read.has_other or level or mark)
        return Paragraph(text if is_code else text.strip(), level, is_code, mark, depth)

    def _mark(self, read: OpenParagraph) -> tuple[str, int]:
        """The mark or number that is shown before a paragraph, and its level."""
        style = self._styles[read.style]
        num_id = style.num_id if read.num_id is None else read.num_id
        if num_id is None or num_id == _NO_LIST:
            return "", 0
        level = style.level if read.level is None else read.level
        if level is None:
            level = self._numbering.level_of(num_id, read.style or "")
        return self._numbering.mark(num_id, level), level


def _symbol(code: str) -> str:
    """A character given by its number, unless it is one that only its font knows."""
    try:
        number = int(code, 16)
        return "" if number in _PRIVATE else chr(number)
    except (OverflowError, ValueError):
        return ""
