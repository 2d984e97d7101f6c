"""Damaged metadata is named, repaired from the source, and never the end of a run."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_core import Collection, Document, GroundkitError
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.retrieval.filters import Condition

from tests.core.index.support import found, write

FILES = {
    "a.md": "---\nyear: 2020\ntags: [x, y]\n---\n\nPump one.\n",
    "b.txt": "Pump two.\n",
    "sub/c.txt": "Pump three.\n",
}
SOURCES = [f"docs/{name}" for name in FILES]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sound")
    docs = write(home / "docs", FILES)
    with Collection.open(home / "index" / "c") as collection:
        collection.ingest([docs], metadata={"lang": "en", "n": 1})
        collection.ingest([docs / "sub"], metadata={"deep": True})
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def collection(home: Path) -> Collection:
    return Collection.open(home / "index" / "c")


def damage(collection: Collection, sql: str) -> None:
    database = sqlite3.connect(collection.path / "collection.db")
    database.execute(sql)
    database.commit()
    database.close()


def everything(collection: Collection) -> list[object]:
    """What is found and told of every document, and what the tables hold."""
    database = sqlite3.connect(collection.path / "collection.db")
    held = database.execute("SELECT * FROM field ORDER BY 1, 2, 3, 4").fetchall()
    database.close()
    return [
        sorted((r.citation.source, r.metadata.items()) for r in collection.search("pump").results),
        held,
        collection.info().metadata,
        collection.info().given,
    ]


OF_ONE = "(SELECT doc FROM document WHERE source='docs/b.txt')"
DAMAGE = {
    "no JSON": "UPDATE document SET metadata='{' WHERE source='docs/b.txt'",
    "no mapping": "UPDATE document SET metadata='[1]' WHERE source='docs/b.txt'",
    "a number": "UPDATE document SET metadata=5 WHERE source='docs/b.txt'",
    "nothing": "UPDATE document SET metadata='{}' WHERE source='docs/b.txt'",
    "another value": 'UPDATE document SET metadata=\'{"lang": "ex", "n": 1}\' '
    "WHERE source='docs/b.txt'",
    "another kind": 'UPDATE document SET metadata=\'{"lang": "en", "n": true}\' '
    "WHERE source='docs/b.txt'",
    "null": 'UPDATE document SET metadata=\'{"lang": "en", "n": null}\' '
    "WHERE source='docs/b.txt'",
    "a list in a list": 'UPDATE document SET metadata=\'{"lang": "en", "n": [[1]]}\' '
    "WHERE source='docs/b.txt'",
    "a mapping": 'UPDATE document SET metadata=\'{"lang": "en", "n": {"b": 1}}\' '
    "WHERE source='docs/b.txt'",
    "no UTF-8": "UPDATE document SET metadata=CAST(x'7bff7d' AS TEXT) WHERE source='docs/b.txt'",
    "bytes": "UPDATE document SET metadata=x'7b7d' WHERE source='docs/b.txt'",
    "a row less": f"DELETE FROM field WHERE key='n' AND doc={OF_ONE}",
    "a row more": f"INSERT INTO field VALUES ('n', 'number', 2, {OF_ONE})",
    "another row's value": f"UPDATE field SET value='ex' WHERE key='lang' AND doc={OF_ONE}",
    "another row's key": f"UPDATE field SET key='lanf' WHERE key='lang' AND doc={OF_ONE}",
    "another row's kind": f"UPDATE field SET kind='numbeq' WHERE key='n' AND doc={OF_ONE}",
    "a row's key of bytes": f"UPDATE field SET key=x'ff' WHERE key='n' AND doc={OF_ONE}",
    "a row's key that is no UTF-8": "UPDATE field SET key=CAST(x'ff' AS TEXT) "
    f"WHERE key='n' AND doc={OF_ONE}",
    "a row's value that is no UTF-8": "UPDATE field SET value=CAST(x'ff' AS TEXT) "
    f"WHERE key='lang' AND doc={OF_ONE}",
    "a row's value of bytes": f"UPDATE field SET value=x'ff' WHERE key='n' AND doc={OF_ONE}",
}


def cases(held: dict[str, str]) -> pytest.MarkDecorator:
    """A case for each statement."""
    return pytest.mark.parametrize(
        "sql", [pytest.param(sql, id=name) for name, sql in held.items()]
    )


@cases(DAMAGE)
def test_damage_is_named_and_repaired_from_the_source(sql: str, collection: Collection) -> None:
    before = everything(collection)
    damage(collection, sql)
    findings = collection.check()
    assert findings == ["the metadata of docs/b.txt is damaged"]
    (done,) = collection.repair()
    assert done.startswith("docs/b.txt: ")
    assert collection.check() == []
    assert everything(collection) == before


@cases(DAMAGE)
def test_damage_reaches_no_one_as_a_foreign_error(sql: str, collection: Collection) -> None:
    damage(collection, sql)
    readings: list[Callable[[], object]] = [
        lambda: collection.search("pump"),
        lambda: collection.search("pump", filters=Condition(key="n", equals=1)),
        lambda: collection.search("pump", filters=Condition(key="lang", glob="e*")),
        lambda: collection.search("pump", filters=Condition(key="nope", exists=True)),
        lambda: collection.info(),
        lambda: collection.check(),
        lambda: collection.ingest([collection.path.parents[1] / "docs"]),
        lambda: collection.repair(),
    ]
    for read in readings:
        try:
            read()
        except GroundkitError:
            continue


@cases(DAMAGE)
def test_the_documents_that_are_sound_stay_in_use(sql: str, collection: Collection) -> None:
    damage(collection, sql)
    asked = Condition(key="source", one_of=("docs/a.md", "docs/sub/c.txt"))
    assert sorted(found(collection.search("pump", filters=asked))) == [SOURCES[0], SOURCES[2]]


@pytest.mark.parametrize("doc", ["'x'", "-5", "99999999999", "0"])
def test_a_value_of_no_document_is_named_and_repaired(doc: str, collection: Collection) -> None:
    before = everything(collection)
    damage(collection, f"UPDATE field SET doc={doc} WHERE key='n' AND doc={OF_ONE}")
    findings = collection.check()
    assert "the metadata of docs/b.txt is damaged" in findings
    assert any("1 values of metadata belong to no document" in each for each in findings)
    collection.repair()
    assert collection.check() == []
    assert everything(collection) == before


GIVEN = {
    "no JSON": "UPDATE given SET metadata='{' WHERE below=''",
    "no mapping": "UPDATE given SET metadata='[1]' WHERE below=''",
    "a mapping": "UPDATE given SET metadata='{\"n\": {\"b\": 1}}' WHERE below=''",
    "no UTF-8": "UPDATE given SET metadata=CAST(x'7bff7d' AS TEXT) WHERE below=''",
    "a label of bytes": "UPDATE given SET label=x'ff' WHERE below=''",
}


@cases(GIVEN)
def test_damage_to_what_a_path_is_given_is_named_and_no_foreign_error(
    sql: str, collection: Collection
) -> None:
    damage(collection, sql)
    assert collection.check() != []
    with pytest.raises(CollectionCorruptError):
        collection.info()
    with pytest.raises(CollectionCorruptError):
        collection.ingest([collection.path.parents[1] / "docs"])
    assert len(collection.search("pump").results) == 3


@cases(GIVEN)
def test_what_a_path_is_given_can_be_given_again_after_a_repair(
    sql: str, collection: Collection
) -> None:
    before = everything(collection)
    docs = collection.path.parents[1] / "docs"
    damage(collection, sql)
    assert collection.repair() != []
    assert collection.check() == []
    collection.ingest([docs], metadata={"lang": "en", "n": 1})
    assert everything(collection) == before


def test_damaged_metadata_of_a_source_that_is_gone_is_said_to_stay(
    home: Path, collection: Collection
) -> None:
    damage(collection, DAMAGE["no JSON"])
    (home / "docs" / "b.txt").unlink()
    (said,) = collection.repair()
    assert said.startswith("not repaired: docs/b.txt: ")
    assert collection.check() == ["the metadata of docs/b.txt is damaged"]
    collection.ingest([home / "docs"])
    assert collection.check() == []
    assert len(collection.search("pump").results) == 2


def test_damaged_metadata_of_what_is_no_file_heals_when_it_is_added_again(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    document = Document.from_text("docs/b.txt", "pump", metadata={"n": 1})
    collection.add([document])
    damage(collection, DAMAGE["no JSON"])
    (said,) = collection.repair()
    assert said.startswith("not repaired: docs/b.txt: ")
    collection.add([document])
    assert collection.check() == []
    assert collection.search("pump").results[0].metadata == {"n": 1}


def test_a_passage_that_is_repaired_keeps_its_documents_metadata(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.txt": "Pump one.\n"})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs], metadata=lambda _: {"from": "a callback"})
    damage(collection, "UPDATE chunk SET content='Pump two.'")
    with pytest.raises(CollectionCorruptError):
        collection.search("pump")
    collection.repair()
    (result,) = collection.search("pump").results
    assert (result.content, result.metadata) == ("Pump one.", {"from": "a callback"})
    assert collection.check() == []
