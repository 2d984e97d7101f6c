import json
import re
import time
from functools import cache
from typing import Any

import pytest
from groundkit_core.errors import RefusedError
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.pdf import extract

from tests.shared_data import shared

pytest.importorskip("pypdfium2")
pytestmark = pytest.mark.slow

LOCKED = "PDF: it needs a password"
SCANNED = "PDF: no page holds text; if it is scanned, it needs OCR first"
REFUSED = {
    "pdfminer__aes-256-r6.pdf": LOCKED,
    "pdfminer__pdf-with-jbig2.pdf": SCANNED,
    "pdfplumber__password-example.pdf": LOCKED,
    "pypdf__crazyones-encrypted-256.pdf": LOCKED,
    "pypdf__r3-user-password.pdf": LOCKED,
    "pypdf__r4-aes-user-password.pdf": LOCKED,
    "pypdf__r6-both-passwords.pdf": LOCKED,
    "sample-files__cmyk-image.pdf": SCANNED,
    "sample-files__grayscale-image.pdf": SCANNED,
    "sample-files__imagemagick-ASCII85Decode.pdf": SCANNED,
    "sample-files__imagemagick-CCITTFaxDecode.pdf": SCANNED,
    "sample-files__imagemagick-images.pdf": SCANNED,
    "sample-files__imagemagick-lzw.pdf": SCANNED,
    "sample-files__libreoffice-writer-password.pdf": LOCKED,
    "unstructured__password.pdf": LOCKED,
}
# Japanese set vertically in fonts that are not in the file, which pdfium passes over.
PARTIAL = {
    "pdfminer__jo.pdf": "page 1 holds text that cannot be read",
    "pdfminer__simple3.pdf": "page 1 holds text that cannot be read",
}
# A form that draws itself, which pdfium follows further than MuPDF does.
LONGER = {"pdfminer__issue-1113-evil-xobjects.pdf"}
SECONDS = 5.0


@cache
def manifest() -> dict[str, dict[str, Any]]:
    rows = shared("data", "docs_pdf", "manifest.jsonl").read_text("utf-8").splitlines()
    return {row["file"]: row for row in map(json.loads, rows)}


@cache
def extractions() -> dict[str, Extracted | str]:
    found: dict[str, Extracted | str] = {}
    for name in manifest():
        data = shared("data", "docs_pdf", "files", name).read_bytes()
        start = time.perf_counter()
        try:
            found[name] = extract(data)
        except RefusedError as error:
            found[name] = str(error)
        assert time.perf_counter() - start < SECONDS, name
    return found


def read() -> dict[str, Extracted]:
    return {name: found for name, found in extractions().items() if isinstance(found, Extracted)}


def test_the_files_that_are_refused_and_why() -> None:
    refused = {name: found for name, found in extractions().items() if isinstance(found, str)}
    assert refused == REFUSED


def test_all_that_have_text_give_text() -> None:
    readable = {
        name
        for name, row in manifest().items()
        if row["text_chars_mupdf"] > 0 and "needs-password" not in row["features"]
    }
    assert len(readable) >= 70
    assert readable <= read().keys()


def test_the_files_that_lack_something() -> None:
    assert {name: found.partial for name, found in read().items() if found.partial} == PARTIAL


def test_texts_are_as_long_as_those_of_another_library() -> None:
    """Within 15 % and ten characters.

    The counts of MuPDF include blanks, line ends, hyphens at line ends and running headers.
    """
    for name, found in read().items():
        count = manifest()[name]["text_chars_mupdf"]
        if name not in PARTIAL:
            assert len(found.text) > 0.85 * count - 10, name
        if name not in LONGER:
            assert len(found.text) < 1.15 * count + 10, name


def test_texts_hold_no_controls_and_no_torn_characters() -> None:
    for name, found in read().items():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", found.text), name


def test_pages_and_blocks_lie_in_their_order_within_the_text() -> None:
    for name, found in read().items():
        assert len(found.pages) == (manifest()[name]["pages"] or 1), name
        assert [0, *found.pages] == sorted([*found.pages, 0]), name
        edges = [edge for block in found.blocks for edge in (block.start, block.end)]
        assert edges == sorted(edges), name
        assert all(edge <= len(found.text) for edge in (*edges, *found.pages)), name
        covered = " ".join(found.text[block.start : block.end] for block in found.blocks)
        assert covered.split() == found.text.split(), name


def test_extracting_again_gives_the_same() -> None:
    for name, found in read().items():
        assert extract(shared("data", "docs_pdf", "files", name).read_bytes()) == found, name
