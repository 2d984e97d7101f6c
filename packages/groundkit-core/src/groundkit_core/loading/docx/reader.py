"""From the XML of a Word file to paragraphs and tables."""

from collections.abc import Callable
from functools import partial

from groundkit_core.loading.docx.math import Formula
from groundkit_core.loading.docx.paragraphs import OpenParagraph, Paragraphs
from groundkit_core.loading.docx.tables import Item, WordCell, WordTable, flat
from groundkit_core.loading.docx.xml import Attributes

__all__ = ["Reader", "Reference"]

End = Callable[[], None]
Reference = tuple[str, str]
"""Kind and id of a note."""
Emit = Callable[[Item, list[Reference]], None]

# Earlier properties, what was deleted or moved away, the second copy of a drawing, readings above
# characters.
_SKIPPED = {
    "mc:Fallback",
    "w:del",
    "w:moveFrom",
    "w:pPrChange",
    "w:rPrChange",
    "w:rt",
    "w:sdtPr",
    "w:sectPr",
    "w:tblPrChange",
    "w:tblPrExChange",
    "w:tcPrChange",
    "w:trPrChange",
}
_OF_PARAGRAPH = ("w:numPr", "w:pPr", "w:r", "w:rPr")
_OF_TABLE = ("w:tblPr", "w:tcPr", "w:trPr")
_NOTES = {"w:footnoteReference": "footnotes", "w:endnoteReference": "endnotes"}


class Reader:
    """Hands the paragraphs and tables of a part to `emit` in order, and collects its notes.

    With each come the notes that are referred to since the last. A text box comes before the
    paragraph that it is anchored in.
    """

    def __init__(self, paragraphs: Paragraphs, emit: Emit) -> None:
        self.notes: dict[str, str] = {}
        self.references: list[Reference] = []
        self.has_embedded = False
        self._made = paragraphs
        self._emit = emit
        self._open: list[tuple[str, End | None]] = [("", None)]
        self._skipped = 0
        self._paragraphs: list[OpenParagraph] = []
        self._held: list[list[Item]] = []
        self._tables: list[WordTable] = []
        self._formula: Formula | None = None
        self._text: list[str] | None = None

    def start(self, name: str, attributes: Attributes) -> None:
        """An element begins."""
        if self._skipped or name in _SKIPPED:
            self._skipped += 1
            if self._skipped == 1 and name == "w:del":
                self._delete()
            return
        parent = self._open[-1][0]
        self._open.append((name, self._begin(parent, name, attributes)))

    def end(self) -> None:
        """The element that began last ends."""
        if self._skipped:
            self._skipped -= 1
            return
        _, end = self._open.pop()
        if end is not None:
            end()

    def text(self, text: str) -> None:
        """Characters."""
        if self._text is not None and not self._skipped:
            self._text.append(text)

    def _begin(self, parent: str, name: str, attributes: Attributes) -> End | None:
        """What the end of an element does."""
        if name in ("w:t", "m:t"):
            self._text = []
            keeps = name == "m:t" or attributes.get("space") == "preserve"
            return partial(self._end_text, keeps=keeps)
        if self._formula is not None:
            if not name.startswith("m:"):
                return None
            self._formula.start(name[2:], attributes)
            return self._formula.end
        if self._paragraphs and name in _NOTES:
            self.references.append((_NOTES[name], attributes.get("id", "")))
        elif self._paragraphs and parent in _OF_PARAGRAPH:
            self._set(parent, name, attributes)
        elif self._tables and parent in _OF_TABLE:
            self._tables[-1].set(name, attributes)
        return self._begin_part(name, attributes)

    def _begin_part(self, name: str, attributes: Attributes) -> End | None:
        match name:
            case "w:p":
                self._paragraphs.append(OpenParagraph())
                return self._end_paragraph
            case "w:r" if self._paragraphs:
                self._paragraphs[-1].start_run()
            case "m:oMath":
                self._formula = Formula()
                return self._end_formula
            case "w:tbl":
                self._tables.append(WordTable())
                return self._end_table
            case "w:tr" if self._tables:
                self._tables[-1].rows.append([])
            case "w:tc" if self._tables and self._tables[-1].rows:
                cell = WordCell()
                self._tables[-1].rows[-1].append(cell)
                self._held.append(cell.items)
                return self._end_held
            case "w:footnote" | "w:endnote":
                self._held.append([])
                return partial(self._end_note, attributes.get("id", ""))
            case "w:altChunk" | "w:subDoc":
                self.has_embedded = True
        return None

    def _set(self, parent: str, name: str, attributes: Attributes) -> None:
        """A property of the open paragraph; that of its end mark is none of its text."""
        if parent != "w:rPr" or self._open[-2][0] == "w:r":
            self._paragraphs[-1].set(parent, name, attributes)

    def _delete(self) -> None:
        """A mark that a row or the end of a paragraph was deleted."""
        within = [name for name, _ in self._open[-2:]]
        if within == ["w:pPr", "w:rPr"] and self._paragraphs:
            self._paragraphs[-1].goes_on = True
        elif within == ["w:tr", "w:trPr"] and self._tables and self._tables[-1].rows:
            self._tables[-1].deleted.add(len(self._tables[-1].rows) - 1)

    def _end_text(self, *, keeps: bool) -> None:
        text = "".join(self._text or ()).replace("\n", " ")
        self._text = None
        if not keeps:
            text = text.strip(" \t\r")
        if self._formula is not None:
            self._formula.add(text)
        elif self._paragraphs:
            self._paragraphs[-1].add(text)

    def _end_formula(self) -> None:
        formula, self._formula = self._formula, None
        if formula is not None and self._paragraphs:
            self._paragraphs[-1].add_apart(formula.take())

    def _end_paragraph(self) -> None:
        paragraph = self._made.ended(self._paragraphs.pop())
        if paragraph is not None:
            self._give(paragraph)

    def _end_table(self) -> None:
        for item in self._tables.pop().ended():
            self._give(item)

    def _end_held(self) -> None:
        self._held.pop()

    def _end_note(self, name: str) -> None:
        self.notes[name] = flat(self._held.pop())

    def _give(self, item: Item) -> None:
        if self._held:
            self._held[-1].append(item)
        else:
            references, self.references = self.references, []
            self._emit(item, references)
