"""What a process that keeps a collection open asks of it."""

from pathlib import Path

import pytest
from groundkit_core import Collection, Document
from groundkit_core.errors import CollectionNotFoundError, PassageNotFoundError
from groundkit_core.index.store import SEGMENTS


def add(collection: Collection, number: int) -> None:
    collection.add([Document.from_text(f"notes/{number}", f"Valve {number} leaks.")])


def files(collection: Collection) -> set[str]:
    return {path.name for path in (collection.path / SEGMENTS).iterdir()}


def test_a_summary_counts_as_info_does(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])

    info = collection.info()
    assert collection.summary().model_dump() == {
        name: getattr(info, name)
        for name in ("name", "generation", "documents", "chunks", "embedding")
    }


def test_a_version_changes_with_each_commit_and_with_a_collection_made_anew(
    collection: Collection,
) -> None:
    versions = []
    for number in (1, 2):
        add(collection, number)
        versions.append(collection.version())
    collection.delete()
    add(collection, 1)
    versions.append(collection.version())

    (token, first), (same, second), (other, again) = versions
    assert token == same != other
    assert first < second
    assert first == again


def test_only_files_that_are_not_known_are_read_through(collection: Collection) -> None:
    add(collection, 1)
    known, findings = collection.check_segments()
    assert (known, findings) == (frozenset(files(collection)), [])

    (file,) = (collection.path / SEGMENTS).iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    add(collection, 2)

    live, findings = collection.check_segments(known)
    assert (live, findings) == (frozenset(files(collection)), [])
    assert len(live) == 2
    _, findings = collection.check_segments()
    assert findings == [f"{file}: array embed does not match its checksum"]


def test_nothing_is_watched_where_there_is_nothing(collection: Collection) -> None:
    for ask in (collection.summary, collection.version, collection.check_segments):
        with pytest.raises(CollectionNotFoundError):
            ask()
    assert not collection.path.exists()


def test_a_passage_that_is_not_there_has_an_error_of_its_own(collection: Collection) -> None:
    add(collection, 1)
    with pytest.raises(PassageNotFoundError, match="c: it holds no passage 'nothing'"):
        collection.fetch("nothing")
