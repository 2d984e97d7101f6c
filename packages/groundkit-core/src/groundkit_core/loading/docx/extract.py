"""Word: the text of a .docx file in the order of its body."""

from collections import Counter
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from groundkit_core.loading.docx.numbering import Numbering
from groundkit_core.loading.docx.package import Package
from groundkit_core.loading.docx.paragraphs import Paragraphs
from groundkit_core.loading.docx.reader import Reader, Reference
from groundkit_core.loading.docx.styles import Styles
from groundkit_core.loading.docx.tables import Item, Paragraph
from groundkit_core.loading.docx.xml import parse, tree
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.flow import Flow
from groundkit_core.loading.numerals import numeral

__all__ = ["extract"]

_NOTES = {"footnotes": "1", "endnotes": "i"}


def extract(data: bytes) -> Extracted:
    """The text that a Word file shows when all its tracked changes are accepted.

    Notes follow the paragraph, list or table that refers to them; headers, footers, comments,
    hidden text and the texts of pictures are left out. No-break spaces are spaces.
    """
    package = Package(data)
    styles, numbering = Styles(_tree(package, "styles")), Numbering(_tree(package, "numbering"))
    paragraphs = Paragraphs(styles, numbering)
    writer = _Writer({kind: _notes(package, paragraphs, kind) for kind in _NOTES})
    body = Reader(paragraphs, writer.add)
    parse(package.main, body)
    writer.end(body.references)
    return writer.flow.builder.extracted(
        title=writer.flow.title,
        partial="a file embedded in it was not read" if body.has_embedded else None,
    )


def _tree(package: Package, kind: str) -> Element | None:
    data = package.part(kind)
    return tree(data) if data is not None else None


def _notes(package: Package, paragraphs: Paragraphs, kind: str) -> dict[str, str]:
    data = package.part(kind)
    if data is None:
        return {}
    reader = Reader(paragraphs, lambda *_: None)
    parse(data, reader)
    return reader.notes


class _Writer:
    """Writes paragraphs, tables and notes to a flow of blocks."""

    def __init__(self, notes: dict[str, dict[str, str]]) -> None:
        self.flow = Flow()
        self._notes = notes
        self._numbers = Counter[str]()
        self._due: list[Reference] = []
        self._code: list[str] = []

    def add(self, item: Item, references: Iterable[Reference]) -> None:
        """The next paragraph or table; code and lists go on as long as their like follows."""
        if isinstance(item, Paragraph) and item.is_code:
            if not self._code:
                self._close()
            self._code.append(item.text)
        elif isinstance(item, Paragraph) and item.mark and not item.level:
            if self._code:
                self._close()
            self.flow.item(item.depth, item.mark, item.text)
        else:
            self._close()
            self._add_block(item)
            self._due += references
            self._close()
            return
        self._due += references

    def end(self, references: Iterable[Reference]) -> None:
        """Nothing follows."""
        self._due += references
        self._close()
        self.flow.end_list()

    def _add_block(self, item: Item) -> None:
        if not isinstance(item, Paragraph):
            self.flow.table(item.lines())
        elif item.level:
            self.flow.heading(item.level, item.mark + item.text)
        else:
            self.flow.paragraph(item.text)

    def _close(self) -> None:
        """Code is written, and the notes of the last blocks behind them."""
        if self._code:
            self.flow.code("\n".join(self._code))
            self._code = []
        for kind, name in self._due:
            self._numbers[kind] += 1
            text = self._notes[kind].get(name)
            if text:
                number = numeral(self._numbers[kind], _NOTES[kind])
                self.flow.paragraph(f"[{number}] {text}")
        self._due = []
