"""Readers: what they may touch, and which generation they see."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_core import Collection, SearchResponse
from groundkit_core.errors import (
    CollectionError,
    CollectionIncompatibleError,
    CollectionNotFoundError,
    ConfigurationError,
)

from tests.core.index.support import contents, documents, found, python

READS: dict[str, Callable[[Collection], object]] = {
    "search": lambda collection: collection.search("pump"),
    "info": lambda collection: collection.info(),
    "roots": lambda collection: collection.roots(),
    "passages": lambda collection: list(collection.passages()),
    "verify_all": lambda collection: collection.verify_all([]),
    "matches": lambda collection: collection.matches("pump", ["pump"]),
    "check": lambda collection: collection.check(),
    "export_bm25s": lambda collection: collection.export_bm25s(collection.path / "x"),
    "remove": lambda collection: collection.remove(["a"]),
    "reindex": lambda collection: collection.reindex(),
    "compact": lambda collection: collection.compact(),
    "delete": lambda collection: collection.delete(),
}


@pytest.mark.parametrize("read", READS)
def test_a_collection_that_is_not_there_is_an_error_and_stays_away(
    read: str, tmp_path: Path
) -> None:
    with pytest.raises(CollectionNotFoundError, match="no collection here"):
        READS[read](Collection.open(tmp_path / "index" / "c"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("read", READS)
def test_a_folder_without_a_database_is_no_collection(read: str, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    with pytest.raises(CollectionNotFoundError):
        READS[read](Collection.open(tmp_path / "c"))
    assert list((tmp_path / "c").iterdir()) == []


def test_opening_touches_nothing(tmp_path: Path) -> None:
    assert not Collection.open(tmp_path / "index" / "c").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "Upper", "_a", ".a", "a b", "a/..", "ä", "a" * 65, "a\n"])
def test_a_collection_has_a_plain_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        Collection.open(f"{tmp_path}/X/{name}")


def test_reading_changes_no_file_but_sqlites_own(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump", "b": "valve"}))
    before = contents(tmp_path)
    with collection:
        collection.search("pump", verify=True)
        collection.check()
        collection.info()
        list(collection.passages())
    after = contents(tmp_path)

    side = {name: data for name, data in after.items() if name.endswith(("-wal", "-shm"))}
    assert {name: data for name, data in after.items() if name not in side} == before
    assert not any(data for name, data in side.items() if name.endswith("-wal"))


def test_a_new_generation_is_seen_by_the_next_query(tmp_path: Path) -> None:
    writer, reader = Collection.open(tmp_path / "c"), Collection.open(tmp_path / "c")
    writer.add(documents({"a": "pump one"}))
    first = reader.search("pump")
    writer.add(documents({"b": "pump two"}))
    second = reader.search("pump")
    writer.remove(["a"])
    third = reader.search("pump")
    writer.reindex(language="german")
    fourth = reader.search("pump")

    assert [found(response) for response in (first, second, third, fourth)] == [
        ["a"],
        sorted("ab", key=lambda source: chunk(second, source)),
        ["b"],
        ["b"],
    ]
    assert first.generation < second.generation < third.generation < fourth.generation
    assert reader.info().language == "german"


def chunk(response: SearchResponse, source: str) -> str:
    return next(r.citation.chunk_id for r in response.results if r.citation.source == source)


def test_a_commit_of_another_process_is_seen(tmp_path: Path) -> None:
    reader = Collection.open(tmp_path / "c")
    reader.add(documents({"a": "pump one"}))
    assert found(reader.search("pump")) == ["a"]
    python(
        """
        import sys
        from groundkit_core import Collection, Document
        collection = Collection.open(sys.argv[1])
        collection.remove(["a"])
        collection.add([Document.from_text("b", "pump two")])
        """,
        tmp_path / "c",
    )

    assert found(reader.search("pump")) == ["b"]


def test_an_open_reader_of_a_deleted_collection_finds_none(tmp_path: Path) -> None:
    reader = Collection.open(tmp_path / "c")
    reader.add(documents({"a": "pump"}))
    reader.search("pump")
    Collection.open(tmp_path / "c").delete()

    with pytest.raises(CollectionNotFoundError):
        reader.search("pump")
    assert not (tmp_path / "c").exists()


def test_an_open_reader_sees_the_collection_that_took_the_place_of_another(tmp_path: Path) -> None:
    reader = Collection.open(tmp_path / "c")
    reader.add(documents({"a": "pump"}))
    reader.search("pump")
    other = Collection.open(tmp_path / "c")
    other.delete()
    other.add(documents({"b": "pump"}))

    assert found(reader.search("pump")) == ["b"]


def test_a_collection_of_another_schema_is_incompatible(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump"}))
    set_meta(tmp_path / "c", "schema", 99)

    for use in (
        lambda: Collection.open(tmp_path / "c").search("pump"),
        lambda: Collection.open(tmp_path / "c").add(documents({"b": "pump"})),
    ):
        with pytest.raises(CollectionIncompatibleError, match="schema 99"):
            use()
    assert "schema 99" in Collection.open(tmp_path / "c").check()[0]


def set_meta(path: Path, key: str, value: object) -> None:
    database = sqlite3.connect(path / "collection.db")
    with database:
        database.execute("UPDATE meta SET value=? WHERE key=?", (value, key))
    database.close()


def test_terms_of_other_rules_are_incompatible_until_they_are_made_anew(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pumps"}))
    expected = collection.search("pump").results
    set_meta(tmp_path / "c", "analysis", "terms@0:english:snowball1")
    stale = Collection.open(tmp_path / "c")

    for use in (
        lambda: stale.search("pump"),
        lambda: stale.add(documents({"b": "pump"})),
        lambda: stale.ingest([tmp_path]),
    ):
        with pytest.raises(CollectionIncompatibleError, match="grk collections reindex c"):
            use()
    stale.reindex()
    assert stale.search("pump").results == expected


def test_an_empty_database_file_is_no_collection_until_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "collection.db").touch()
    collection = Collection.open(tmp_path / "c")
    with pytest.raises(CollectionNotFoundError):
        collection.search("pump")
    collection.add(documents({"a": "pump"}))

    assert found(collection.search("pump")) == ["a"]


def test_a_database_of_something_else_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    database = sqlite3.connect(tmp_path / "c" / "collection.db")
    with database:
        database.execute("CREATE TABLE other (x)")
    database.close()

    with pytest.raises(CollectionError):
        Collection.open(tmp_path / "c").search("pump")
    with pytest.raises(CollectionError):
        Collection.open(tmp_path / "c").add(documents({"a": "pump"}))


def test_a_copied_collection_works_where_it_is(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({f"d{n}": f"marker {n}" for n in range(6)}))
    expected = collection.search("marker").results
    collection.close()
    shutil.copytree(tmp_path / "c", tmp_path / "索引 ü" / "x")

    assert Collection.open(tmp_path / "索引 ü" / "x").search("marker").results == expected
