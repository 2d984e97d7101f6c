import gzip
import io
import zipfile

import pytest
from groundkit_core.chunking.blocks import Block
from groundkit_core.config import ExtractionConfig
from groundkit_core.errors import RefusedError
from groundkit_core.loading.formats import (
    FORMATS,
    check_suffix,
    format_of,
    heading_title,
    media_format,
    named_format,
)

NAMES = [known.name for known in FORMATS]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("a.md", "markdown"),
        ("a.MD", "markdown"),
        ("x/a.markdown", "markdown"),
        ("a.mdown", "markdown"),
        ("a.mkd", "markdown"),
        ("a.rst", "restructuredtext"),
        ("a.Rest", "restructuredtext"),
        ("a.txt", "text"),
        ("a.log", "text"),
        ("README", "text"),
        ("a.md.bak", "text"),
        ("a.b.md", "markdown"),
        ("folder.md/README", "text"),
        ("a.", "text"),
        ("a.py", "code"),
        ("a.TS", "code"),
        ("a.csv", "csv"),
        ("a.tsv", "csv"),
        ("a.jsonl", "text"),
        ("a.DOCX", "docx"),
    ],
)
def test_a_suffix_names_the_format_else_it_is_text(source: str, name: str) -> None:
    check_suffix(f"root/{source}")
    assert format_of(f"root/{source}", b"hello").name == name


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("a.odt", "office document"),
        ("a.doc", "office document"),
        ("a.pptx", "presentation"),
        ("a.epub", "e-book"),
        ("a.jpeg", "JPEG image"),
        ("a.tar.gz", "archive"),
        ("a.so", "program"),
        ("a.sqlite", "database"),
        ("a.mp4", "audio or video"),
        ("a.woff2", "font"),
    ],
)
def test_a_format_without_a_reader_is_refused_by_name(source: str, name: str) -> None:
    with pytest.raises(RefusedError, match=f"^{name}: "):
        format_of(f"root/{source}", b"plain text")
    with pytest.raises(RefusedError, match=f"^{name}: "):
        check_suffix(f"root/{source}")


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.txt", "hello")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
        (b"\xff\xd8\xff\xe0", "JPEG image"),
        (b"GIF89a\x01\x00", "GIF image"),
        (zipped(), "Zip archive"),
        (gzip.compress(b"hello", mtime=0), "archive"),
        (b"\x7fELF\x02", "program"),
        (b"SQLite format 3\0", "database"),
    ],
)
@pytest.mark.parametrize("source", ["README", "a.txt", "a.md", "a.bin"])
def test_content_refuses_a_format_whatever_its_name(source: str, data: bytes, name: str) -> None:
    with pytest.raises(RefusedError, match=f"^{name}: "):
        format_of(f"root/{source}", data)


@pytest.mark.parametrize("text", ["GIF8 was a beta of it.", "PK is short for public key.", "BM25"])
def test_a_text_that_begins_like_a_binary_format_is_text(text: str) -> None:
    assert format_of("root/a.txt", text.encode()).name == "text"


@pytest.mark.parametrize(
    ("media_type", "name"),
    [
        ("text/markdown", "markdown"),
        ("text/x-rst", "restructuredtext"),
        ("text/plain", "text"),
        ("application/x-unheard-of", "text"),
    ],
)
def test_a_media_type_names_the_format_else_it_is_text(media_type: str, name: str) -> None:
    assert media_format(media_type).name == name


@pytest.mark.parametrize(
    ("levels", "title"),
    [
        ([], None),
        ([1], "h0"),
        ([1, 2, 2, 3], "h0"),
        ([2, 3], "h0"),
        ([1, 2, 1], None),
        ([2, 1], None),
    ],
)
def test_a_document_is_titled_by_the_heading_above_all_others(
    levels: list[int], title: str | None
) -> None:
    blocks = [Block(i, i + 1, "heading", level, f"h{i}") for i, level in enumerate(levels)]
    assert heading_title([Block(9, 10), *blocks]) == title


RECORDS = ExtractionConfig(
    jsonl_text="body.text", jsonl_id="a&b", jsonl_title="=", jsonl_metadata=("x", "y z")
)


def test_identities_carry_a_version_and_differ() -> None:
    for config in (ExtractionConfig(), RECORDS, ExtractionConfig(html="full")):
        identities = {known.identity(config) for known in FORMATS}
        assert len(identities) == len(FORMATS)
        assert all("@" in identity and " " not in identity for identity in identities)


def test_an_identity_tells_how_its_reader_was_called() -> None:
    for config in (ExtractionConfig(), RECORDS, ExtractionConfig(html="full")):
        for known in FORMATS:
            found = named_format(known.identity(config))
            assert found is not None
            assert found[0] == known
            if known.name == "jsonl" and config is RECORDS:
                assert found[1] == {
                    "text": ["body.text"],
                    "id": ["a&b"],
                    "title": ["="],
                    "meta": ["x", "y z"],
                }
            elif known.name == "html" and config.html == "full":
                assert found[1] == {"content": ["full"]}
            else:
                assert found[1] == {}


@pytest.mark.parametrize("identity", ["html@0", "html@2?content=full", "unheard@1", "given@1", ""])
def test_a_reader_of_another_version_is_not_ours(identity: str) -> None:
    assert named_format(identity) is None


def test_a_text_that_is_named_as_one_but_is_a_pdf_is_one() -> None:
    pytest.importorskip("pypdfium2")
    assert format_of("root/a.txt", b"%PDF-1.7\n").name == "pdf"


def test_json_lines_are_records_where_their_text_is_named() -> None:
    assert format_of("root/a.ndjson", b"{}", RECORDS).name == "jsonl"
