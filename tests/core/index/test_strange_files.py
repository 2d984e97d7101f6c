"""Files and folders of unusual size, depth and name."""

import random
from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.terms import count_words


def test_a_collection_stands_in_any_folder(tmp_path: Path) -> None:
    home = tmp_path / "索引 ü" / "x"
    docs = tmp_path / "ドキュメント"
    docs.mkdir()
    (docs / "a.md").write_text("# Pump\n\nThe valve stays shut.\n", encoding="utf-8")
    Collection.open(home / "default").ingest([docs])
    with Collection.open(home / "default") as collection:
        [result] = collection.search("valve", verify=True).results
        assert result.citation.source == "ドキュメント/a.md"
        assert result.verification is not None
        assert result.verification.status == "verified"


@pytest.mark.parametrize("name", ["n" * 252 + ".md", "茶" * 84 + ".md", "a b\t\n'\".md", "ü.md"])
def test_any_name_in_utf_8_is_indexed_and_verified(name: str, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / name).write_text("The valve stays shut.\n", encoding="utf-8")
    with Collection.open(tmp_path / "index" / "default") as collection:
        assert collection.ingest([docs]).count("indexed") == 1
        [result] = collection.search("valve", verify=True).results
        assert result.citation.source == f"docs/{name}"
        assert result.verification is not None
        assert result.verification.status == "verified"


@pytest.mark.slow
def test_one_line_of_twenty_megabytes_is_cut_into_passages(tmp_path: Path) -> None:
    rng = random.Random(1)
    words = [f"word{number}" for number in range(5000)]
    line = " ".join(rng.choices(words, k=2_200_000)) + " lighthouse"
    assert len(line) > 18_000_000
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "line.txt").write_text(line)
    with Collection.open(tmp_path / "index" / "default") as collection:
        report = collection.ingest([docs])
        assert report.chunks == len(line.split()) // 200 + 1
        [result] = collection.search("lighthouse", verify=True).results
        assert count_words(result.content) <= 200
        assert result.verification is not None
        assert result.verification.status == "verified"
