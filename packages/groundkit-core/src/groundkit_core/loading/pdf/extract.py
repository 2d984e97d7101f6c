"""PDF: the text of its pages in reading order, by paragraphs, with the outline's headings."""

from collections.abc import Iterator
from itertools import groupby

from groundkit_core.loading.extracted import Extracted, TextBuilder
from groundkit_core.loading.pdf.join import Joiner
from groundkit_core.loading.pdf.layout import BULLET, Paragraph, paragraphs
from groundkit_core.loading.pdf.lines import Line
from groundkit_core.loading.pdf.outline import Heading, document_title, outline_headings
from groundkit_core.loading.pdf.pages import missing, open_pdf, read_pages, unknown
from groundkit_core.loading.pdf.running import without_running_lines

__all__ = ["extract"]


def extract(data: bytes) -> Extracted:
    """The text of a PDF, page by page.

    Lines become paragraphs, ligatures and presentation forms are spelt out, hyphens at line ends
    go (`pdf_join`), running headers and footers stand once (`pdf_running`).
    """
    document = open_pdf(data)
    try:
        read = read_pages(document)
        pages = without_running_lines(read.lines, read.frames)
        headings = outline_headings(document, pages)
        title = document_title(document)
    finally:
        document.close()
    return _built(pages, headings).extracted(
        title=title, warnings=unknown(read), partial=missing(read)
    )


def _built(pages: list[list[Line]], headings: dict[int, Heading]) -> TextBuilder:
    lines = [line for page in pages for line in page]
    joiner = Joiner(lines)
    builder = TextBuilder()
    for group in _grouped(paragraphs(lines, lambda line: id(line) in headings)):
        first = group[0].lines[0]
        heading = headings.get(id(first))
        if heading and first is not heading.lines[0]:
            continue
        _open_pages(builder, first.page, builder.length)
        if heading:
            builder.heading(heading.level, joiner.join(heading.lines)[0])
            continue
        texts = []
        position = builder.length
        for text, begins in _texts(group, joiner):
            for page, offset in begins:
                _open_pages(builder, page, position + offset)
            texts.append(text)
            position += len(text) + 1
        (builder.lined if len(group) > 1 else builder.prose)("\n".join(texts))
    _open_pages(builder, len(pages) - 1, builder.length)
    return builder


def _open_pages(builder: TextBuilder, last: int, offset: int) -> None:
    while len(builder.pages) <= last:
        builder.pages.append(offset)


def _grouped(found: list[Paragraph]) -> Iterator[list[Paragraph]]:
    """List items, or rows, that stand directly one beneath the other; all else alone."""

    def kind(place: tuple[int, Paragraph]) -> tuple[int, int]:
        index, part = place
        return part.flow, -1 if part.item else -2 if part.row else index

    for _, run in groupby(enumerate(found), key=kind):
        yield [part for _, part in run]


def _texts(group: list[Paragraph], joiner: Joiner) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The text of each part of a group, with the offsets in it at which pages begin."""
    table = sum("\t" in part.lines[0].text for part in group if part.row) > 1
    for part in group:
        text, begins = joiner.join(part.lines)
        written = text
        if table:
            written = part.lines[0].text.replace("\t", " | ")
        elif part.item and (mark := BULLET.match(text)):
            written = "- " + text[mark.end() :]
        shift = len(written) - len(text)
        yield written, [(page, offset + shift) for page, offset in begins]
