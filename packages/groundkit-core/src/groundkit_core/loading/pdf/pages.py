"""The pages of a PDF: their lines, and what of them could not be read."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from groundkit_core.errors import RefusedError
from groundkit_core.loading.pdf.columns import one_after_another
from groundkit_core.loading.pdf.glyphs import UNKNOWN, tex
from groundkit_core.loading.pdf.lines import Line, page_lines, unread, upright
from groundkit_core.loading.pdf.running import Frame

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

__all__ = ["Pages", "missing", "open_pdf", "read_pages", "unknown"]

_TEXTLESS = "no page holds text; if it is scanned, it needs OCR first"


@dataclass(slots=True)
class Pages:
    """The lines of each page, how it lies, and the numbers of those that lack something."""

    lines: list[list[Line]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    textless: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)


def open_pdf(data: bytes) -> "PdfDocument":
    """A document that has pages; the password is the empty one where there is one."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        reasons = {
            pdfium.FPDF_ERR_PASSWORD: "it needs a password",
            pdfium.FPDF_ERR_SECURITY: "its kind of encryption is not supported",
        }
        reason = reasons.get(error.err_code, "it is broken or no PDF")
        raise RefusedError(f"PDF: {reason}") from None
    if not len(document):
        document.close()
        raise RefusedError("PDF: it has no pages")
    return document


def read_pages(document: "PdfDocument") -> Pages:
    """What stands on the pages of a document, one of which has text."""
    import pypdfium2

    read = Pages()
    if document.get_formtype():
        document.init_forms()
    for number in range(len(document)):
        lines: list[Line] = []
        frame = Frame(0, 0.0, 0.0)
        try:
            page = _page(document, number)
            lines = one_after_another(page_lines(page, number))
            turn = page.get_rotation() // 90
            _, bottom, _, top = upright(page.get_bbox(), turn)
            frame = Frame(turn, bottom, top)
            if unread(page):
                read.unread.append(number)
            elif not lines:
                read.textless.append(number)
            page.close()
        except pypdfium2.PdfiumError:
            read.broken.append(number)
        read.lines.append(lines)
        read.frames.append(frame)
    if not any(read.lines):
        unreadable = len(read.broken) == len(read.lines)
        reason = "none of its pages can be read" if unreadable else _TEXTLESS
        raise RefusedError(f"PDF: {reason}")
    read.lines = _spelt(read.lines)
    return read


def _page(document: "PdfDocument", number: int) -> "PdfPage":
    """A page, with what is filled in where it has a form."""
    import pypdfium2.raw as pdfium

    page = document[number]
    if not document.formenv:
        return page
    if pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY) != pdfium.FLATTEN_SUCCESS:
        return page
    page.close()
    return document[number]


def _spelt(pages: list[list[Line]]) -> list[list[Line]]:
    texts = iter(tex(line.text for lines in pages for line in lines))
    return [[replace(line, text=next(texts)) for line in lines] for lines in pages]


def missing(read: Pages) -> str | None:
    """The pages whose text is not there, and why."""
    reasons = []
    for numbers, one, many in (
        (read.textless, "holds no text; it may need OCR", "hold no text; they may need OCR"),
        (read.broken, "is broken", "are broken"),
        (read.unread, "holds text that cannot be read", "hold text that cannot be read"),
    ):
        if numbers:
            named = f"page {_ranges(numbers)} {one}", f"pages {_ranges(numbers)} {many}"
            reasons.append(named[len(numbers) > 1])
    return "; ".join(reasons) or None


def unknown(read: Pages) -> Iterator[str]:
    """A warning that names the pages on which characters are not known."""
    found = [
        number for number, lines in enumerate(read.lines) if any(UNKNOWN in x.text for x in lines)
    ]
    if found:
        named = ("page", "pages")[len(found) > 1]
        yield f"{named} {_ranges(found)}: characters that their font does not name are U+FFFD"


def _ranges(numbers: list[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number:
            runs[-1].append(number + 1)
        else:
            runs.append([number + 1])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
