"""A hundred thousand tiny files."""

import time
from pathlib import Path

import pytest
from groundkit_core import Collection

from tests.note import Note


@pytest.mark.e2e
@pytest.mark.timeout(0)
def test_a_hundred_thousand_tiny_files(tmp_path: Path, note: Note) -> None:
    docs = tmp_path / "docs"
    for number in range(100_000):
        if number % 500 == 0:
            folder = docs / f"{number // 500:03}"
            folder.mkdir(parents=True)
        (folder / f"{number}.txt").write_text(f"Note {number} on valve number{number}.\n")
    with Collection.open(tmp_path / "index" / "default") as collection:
        begin = time.monotonic()
        report = collection.ingest([docs])
        took = time.monotonic() - begin
        assert (report.count("indexed"), report.chunks) == (100_000, 100_000)
        assert collection.info().segments < 30
        [result, *_] = collection.search("number77777", verify=True).results
        assert result.citation.source == "docs/155/77777.txt"
        assert result.verification is not None
        assert result.verification.status == "verified"
        assert collection.ingest([docs]).unchanged == 100_000
        segments = collection.info().segments
    note(f"100,000 files: {took:.0f} s, {segments} segments")
