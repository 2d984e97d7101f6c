"""Folders of PDFs, web pages and office files: nothing disappears, and every citation verifies."""

import random
import re
import sqlite3
from collections import Counter
from typing import NamedTuple

import pytest
from groundkit_core import Citation, Collection, IngestReport

from scripts.document_kinds import table, written
from tests.note import Note
from tests.shared_data import shared

for _library in ("pypdfium2", "selectolax", "python_calamine"):
    pytest.importorskip(_library)
pytestmark = pytest.mark.slow

FOLDERS = ("docs_pdf", "docs_docling", "docs_udhr", "docs_fastapi", "docs_peps")
PASSWORD = "PDF: it needs a password"
NO_TEXT = "PDF: no page holds text; if it is scanned, it needs OCR first"
NO_READER = "{}: this version has no reader for it"
NO_ENCODING = "not text in UTF-8, in an encoding that can be told, or in Windows-1252"
REFUSED = {
    "docs_pdf": {
        **dict.fromkeys(
            (
                "files/pdfminer__aes-256-r6.pdf",
                "files/pdfplumber__password-example.pdf",
                "files/pypdf__crazyones-encrypted-256.pdf",
                "files/pypdf__r3-user-password.pdf",
                "files/pypdf__r4-aes-user-password.pdf",
                "files/pypdf__r6-both-passwords.pdf",
                "files/sample-files__libreoffice-writer-password.pdf",
                "files/unstructured__password.pdf",
            ),
            PASSWORD,
        ),
        **dict.fromkeys(
            (
                "files/pdfminer__pdf-with-jbig2.pdf",
                "files/sample-files__cmyk-image.pdf",
                "files/sample-files__grayscale-image.pdf",
                "files/sample-files__imagemagick-ASCII85Decode.pdf",
                "files/sample-files__imagemagick-CCITTFaxDecode.pdf",
                "files/sample-files__imagemagick-images.pdf",
                "files/sample-files__imagemagick-lzw.pdf",
            ),
            NO_TEXT,
        ),
    },
    "docs_docling": {
        "email/msg_simple.msg": "binary: it holds NUL bytes",
        "email/msg_with_attachment.msg": "binary: it holds NUL bytes",
        "html/example_image_01.png": NO_READER.format("PNG image"),
        "odf/odf_presentation_01.odp": NO_READER.format("presentation"),
        "odf/text_document_01.odt": NO_READER.format("office document"),
        "odf/text_document_03.odt": NO_READER.format("office document"),
        "pptx/powerpoint_bad_text.pptx": NO_READER.format("presentation"),
        "pptx/powerpoint_comments.pptx": NO_READER.format("presentation"),
        "pptx/powerpoint_issue_2663.pptx": NO_READER.format("presentation"),
        "pptx/powerpoint_malformed_pictures.pptx": NO_READER.format("presentation"),
        "pptx/powerpoint_sample.pptx": NO_READER.format("presentation"),
        "pptx/powerpoint_unrecognized_shape.pptx": NO_READER.format("presentation"),
        "pptx/powerpoint_with_image.pptx": NO_READER.format("presentation"),
        "pptx/pptx_chart.pptx": NO_READER.format("presentation"),
    },
    "docs_udhr": dict.fromkeys(
        (
            "Azeri_Azerbaijani_Cyrillic-Az.Times.Cyr.Normal0117",
            "Azeri_Azerbaijani_Latin-Az.Times.Lat0117",
            "Bosnian_Bosanski-Cyrillic",
            "Serbian_Srpski-Cyrillic",
        ),
        NO_ENCODING,
    ),
    "docs_fastapi": {},
    "docs_peps": {},
}
PARTIAL = {
    "docs_pdf/files/pdfminer__jo.pdf": "page 1 holds text that cannot be read",
    "docs_pdf/files/pdfminer__simple3.pdf": "page 1 holds text that cannot be read",
}
QUERIES = 300
SEED = 8


class Indexed(NamedTuple):
    collection: Collection
    reports: dict[str, IngestReport]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    folders = {name: shared("data", name) for name in FOLDERS}
    collection = Collection.open(tmp_path_factory.mktemp("extracted") / "index" / "c")
    return Indexed(collection, {name: collection.ingest([path]) for name, path in folders.items()})


@pytest.mark.parametrize("name", FOLDERS)
def test_every_file_is_indexed_or_listed_with_its_reason(name: str, indexed: Indexed) -> None:
    report = indexed.reports[name]
    files = {
        f"{name}/{path.relative_to(shared('data', name)).as_posix()}"
        for path in shared("data", name).rglob("*")
        if path.is_file()
    }
    assert {outcome.source for outcome in report.files} == files
    refused = {o.source: o.reason for o in report.files if o.status == "refused"}
    assert refused == {f"{name}/{source}": said for source, said in REFUSED[name].items()}
    partial = {o.source: o.reason for o in report.files if o.status == "partial"}
    assert partial == {s: why for s, why in PARTIAL.items() if s.startswith(f"{name}/")}
    assert report.count("indexed") == len(files) - len(refused) - len(partial)


def test_the_table_in_the_docs_is_of_this_run(indexed: Indexed) -> None:
    assert written() == table([indexed.reports[name] for name in FOLDERS])


def extracted(collection: Collection) -> list[tuple[Citation, str]]:
    """The passages whose text an extractor made."""
    return [
        (citation, text)
        for held in collection.passages()
        for citation, text in held
        if citation.source_class == "extracted"
    ]


def test_searches_find_their_passage_and_all_citations_verify(indexed: Indexed, note: Note) -> None:
    collection = indexed.collection
    chance = random.Random(SEED)
    held = [one for one in extracted(collection) if len(re.findall(r"\w{4,}", one[1])) >= 8]
    statuses: Counter[str] = Counter()
    found = 0
    for citation, text in chance.sample(held, QUERIES):
        words = re.findall(r"\w{4,}", text)
        first = chance.randrange(len(words) - 7)
        query = " ".join(words[first : first + 8])[:4000]
        results = collection.search(query, verify=True).results
        places = {c.chunk_id for result in results for c in (result.citation, *result.copies)}
        found += citation.chunk_id in places
        statuses.update(result.verification.status for result in results if result.verification)
    note(f"{QUERIES} searches over extracted passages: {found} found theirs, {statuses}")
    assert set(statuses) == {"verified"}
    assert found >= 0.9 * QUERIES


def test_a_place_is_pages_for_a_pdf_and_never_lines_for_what_was_extracted(
    indexed: Indexed,
) -> None:
    for citation, _ in extracted(indexed.collection):
        assert citation.lines is None
        assert (citation.pages is not None) == citation.source.endswith(".pdf")


def test_after_an_upgrade_of_the_extractors_citations_say_what_to_do_until_the_next_run(
    indexed: Indexed,
) -> None:
    collection = indexed.collection
    before = extracted(collection)
    with sqlite3.connect(collection.path / "collection.db") as database:
        database.execute(
            "UPDATE document SET extractor=replace(extractor, '@1', '@0'), "
            "fingerprint=replace(fingerprint, extractor, replace(extractor, '@1', '@0')) "
            "WHERE class='extracted'"
        )
    database.close()
    held = extracted(collection)
    assert len(held) == len(before)
    verdicts = collection.verify_all(held)
    assert {verdict.status for verdict in verdicts} == {"unresolvable"}
    for (citation, _), verdict in zip(held, verdicts, strict=True):
        name = citation.extractor.partition("@")[0]
        assert verdict.reason == (
            f"it was read by {name}@0, which this version lacks and now reads with {name}@1; "
            "run again: grk ingest"
        )
    report = collection.ingest([shared("data", "docs_pdf"), shared("data", "docs_docling")])
    assert report.count("changed") + len(PARTIAL) == len({citation.source for citation, _ in held})
    assert (report.added, report.dropped) == (0, 0)
    assert extracted(collection) == before
    assert {verdict.status for verdict in collection.verify_all(before)} == {"verified"}


def test_a_second_run_extracts_nothing(indexed: Indexed) -> None:
    for name in FOLDERS:
        report = indexed.collection.ingest([shared("data", name)], rehash=True)
        assert (report.added, report.dropped, report.count("changed")) == (0, 0, 0)
