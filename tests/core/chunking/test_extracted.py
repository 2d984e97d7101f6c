"""What holds for the passages of every format whose text is extracted."""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from io import BytesIO
from itertools import pairwise

import pytest
from groundkit_core.chunking import chunk_document
from groundkit_core.chunking.blocks import cover
from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Document
from groundkit_core.loading.extracted import Extracted
from groundkit_core.terms import count_words
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.chunking.passages import check_invariants
from tests.core.loading import pdf_files, xlsx_files
from tests.core.strategies import chunkings, unhurried, words


@dataclass(frozen=True)
class Part:
    """A paragraph, a heading with its level, a list item, code or a table."""

    text: str
    level: int = 0
    rows: list[list[str]] = field(default_factory=list)


sentences = st.lists(words, min_size=1, max_size=12).map(" ".join)
cells = st.lists(st.lists(words | st.just(""), min_size=2, max_size=3), min_size=1, max_size=8)
parts = st.lists(
    st.builds(Part, sentences, st.integers(0, 3)) | st.builds(Part, st.just(""), rows=cells),
    max_size=12,
)


def html(found: Sequence[Part]) -> bytes:
    body = ""
    for part in found:
        tag = f"h{part.level}" if part.level else "p"
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in part.rows)
        table = "".join(f"<tr>{row}</tr>" for row in rows)
        body += f"<table>{table}</table>" if part.rows else f"<{tag}>{escape(part.text)}</{tag}>"
    return f"<!DOCTYPE html><meta charset=utf-8><body><main>{body}</main>".encode()


def docx(found: Sequence[Part]) -> bytes:
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    rels = "application/vnd.openxmlformats-package.relationships+xml"

    def paragraph(text: str, level: int = 0) -> str:
        style = f'<w:pPr><w:outlineLvl w:val="{level - 1}"/></w:pPr>' if level else ""
        return f"<w:p>{style}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"

    body = ""
    for part in found:
        rows = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in part.rows)
        table = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
        body += f"<w:tbl>{table}</w:tbl>" if part.rows else paragraph(part.text, part.level)
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            f'ContentType="{rels}"/><Override PartName="/word/document.xml" '
            f'ContentType="{kind}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{main}"><w:body>{body}</w:body></w:document>',
        )
    return stream.getvalue()


def xlsx(found: Sequence[Part]) -> bytes:
    sheets: dict[str, list[list[str]]] = {"first": []}
    for number, part in enumerate(found):
        if part.level:
            sheets[f"sheet {number}"] = []
        rows = sheets[list(sheets)[-1]]
        rows += [*(part.rows or [[part.text]]), []]
    return xlsx_files.workbook(sheets)


def pdf(found: Sequence[Part]) -> bytes:
    pages = [pdf_files.text(72, 720, "A page with text, which no PDF may lack.")]
    for part in found:
        lines = [" ".join(row) for row in part.rows] or [part.text]
        written = [line.encode("cp1252", "ignore").decode("cp1252") for line in lines]
        pages.append(pdf_files.lines([line for line in written if line.strip()]))
    return pdf_files.pdf(pages)


MADE = {"html": html, "pdf": pdf, "docx": docx, "xlsx": xlsx}


LIBRARIES = {"html": "selectolax", "pdf": "pypdfium2", "xlsx": "python_calamine"}
few = settings(unhurried, max_examples=60)
each_format = pytest.mark.parametrize("name", MADE)


def extracted(name: str, found: Sequence[Part]) -> Extracted:
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    module = import_module(f"groundkit_core.loading.{name}")
    result: Extracted = module.extract(MADE[name](found))
    return result


@each_format
@few
@given(parts, chunkings())
def test_passages_are_slices_of_at_most_the_size_that_cover_the_text(
    name: str, found: list[Part], config: ChunkingConfig
) -> None:
    made = extracted(name, found)
    passages = chunk_document(Document.from_text("s", made.text), made.blocks, config)
    check_invariants(made.text, passages)
    for chunk in passages:
        size = count_words(chunk.content) if config.unit == "words" else len(chunk.content)
        assert size <= config.size


@each_format
@few
@given(parts)
def test_blocks_are_in_order_and_headings_begin_with_their_titles(
    name: str, found: list[Part]
) -> None:
    made = extracted(name, found)
    assert all(left.end <= right.start for left, right in pairwise(made.blocks))
    for block in made.blocks:
        assert 0 <= block.start < block.end <= len(made.text)
        if block.kind == "heading":
            assert block.title
            assert made.text[block.start : block.end].split() == block.title.split()


@each_format
@few
@given(parts, chunkings(("structure",)))
def test_a_heading_ends_no_passage_that_has_body_before_it(
    name: str, found: list[Part], config: ChunkingConfig
) -> None:
    made = extracted(name, found)
    blocks = list(cover(made.text, made.blocks))
    for chunk in chunk_document(Document.from_text("s", made.text), made.blocks, config):
        inside = [b.kind for b in blocks if b.start < chunk.end and chunk.start < b.end]
        assert inside[-1] != "heading" or set(inside) == {"heading"}, chunk
