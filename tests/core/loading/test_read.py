import os
from pathlib import Path

import pytest
from groundkit_core.errors import RefusedError, SourceError
from groundkit_core.ids import document_id
from groundkit_core.loading.read import load_document, read_file


def test_a_file_is_read_up_to_the_limit_and_never_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"12345")
    assert read_file(str(path), 5) == b"12345"
    with pytest.raises(RefusedError, match="5 bytes, the limit is 4"):
        read_file(str(path), 4)


def test_a_file_that_is_gone_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        read_file(str(tmp_path / "a.txt"), 9)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "a.txt").symlink_to("secret")
    with pytest.raises(SourceError, match="unreadable"):
        read_file(str(tmp_path / "a.txt"), 9)


def test_a_pipe_does_not_make_a_reader_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(SourceError):
        read_file(str(tmp_path / "a.txt"), 9)


def test_a_folder_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="unreadable"):
        read_file(str(tmp_path), 9)


def test_a_document_records_how_it_was_read() -> None:
    loaded = load_document("root/a.md", b"\xef\xbb\xbf# A\r\n")
    assert (loaded.warnings, loaded.partial) == ((), None)
    assert loaded.document.model_dump() == {
        "id": document_id("root/a.md"),
        "source": "root/a.md",
        "text": "# A\r\n",
        "title": None,
        "media_type": "text/markdown",
        "source_class": "text",
        "extractor": "markdown@1",
        "encoding": "utf-8-sig",
        "metadata": {},
    }


def test_a_guessed_encoding_and_an_empty_text_are_warnings() -> None:
    guessed = load_document("root/a.txt", b"Caf\xe9 costs 5 \x80")
    assert guessed.warnings == ("encoding guessed: cp1252",)
    assert load_document("root/a.txt", b" \n").warnings == ("it holds no text",)


def test_front_matter_is_metadata_and_a_title_of_its_document() -> None:
    loaded = load_document("root/a.md", b"---\ntitle: T\nyear: 2020\n---\n# A\n")
    assert (loaded.document.title, loaded.partial) == ("T", None)
    assert loaded.document.metadata == {"title": "T", "year": 2020}
    assert loaded.document.text == "---\ntitle: T\nyear: 2020\n---\n# A\n"


def test_front_matter_that_cannot_be_read_makes_a_document_partial() -> None:
    loaded = load_document("root/a.md", b"---\nyear: [2020\n---\n# A\n")
    assert (loaded.document.metadata, loaded.document.title) == ({}, None)
    assert str(loaded.partial).startswith("front matter: ")


def test_only_markdown_has_front_matter() -> None:
    loaded = load_document("root/a.txt", b"---\nyear: 2020\n---\n# A\n")
    assert (loaded.document.metadata, loaded.partial) == ({}, None)
