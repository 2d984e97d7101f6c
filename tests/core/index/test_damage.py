"""Damaged files: right answers or an error of ours, and never altered text as verified."""

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from groundkit_core import Citation, Collection, GroundkitError
from groundkit_core.errors import CollectionCorruptError, CollectionError
from groundkit_core.ids import content_hash

from tests.core.index.support import documents, statuses, write

QUERIES = ("pump", "valve seven", "torque", "absent")
FILES = {
    f"part{n}.md": f"# Part {n}\n\nThe pump has a valve, torque {n} Nm.\n\n## Seven\n\nSeven {n}.\n"
    for n in range(12)
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `docs` and a collection `index/c` of it with several segments and dead passages."""
    home = tmp_path_factory.mktemp("damage")
    docs = write(home / "docs", FILES)
    collection = Collection.open(home / "index" / "c")
    for name in sorted(FILES)[:4]:
        collection.ingest([docs / name])
    collection.ingest([docs])
    write(docs, {"part3.md": FILES["part3.md"] + "\nMore torque.\n"})
    collection.ingest([docs])
    assert collection.info().segments > 3
    assert set(statuses(collection)) == {"verified"}
    assert collection.check() == []
    return home


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "home")
    return tmp_path / "home"


def read_everything(path: Path, docs: Path, cited: list[tuple[Citation, str]]) -> list[str]:
    """What every way of reading has to say; each error of ours counts as said."""
    said: list[str] = []
    with Collection.open(path) as collection:
        for query in QUERIES:
            try:
                response = collection.search(query, verify=True)
            except GroundkitError as error:
                said.append(str(error))
                continue
            for result in response.results:
                if result.verification and result.verification.status in ("verified", "moved"):
                    assert stands(docs, result.citation.source, result.content)
        others: list[Callable[[], object]] = [
            lambda: collection.verify_all(cited),
            lambda: collection.verify_all([(citation, None) for citation, _ in cited]),
            lambda: list(collection.passages()),
            lambda: collection.info(),
            lambda: collection.matches("pump", ["the pumps"]),
            lambda: said.extend(collection.check()),
        ]
        for other in others:
            try:
                other()
            except GroundkitError as error:
                said.append(str(error))
    return said


def stands(docs: Path, source: str, text: str) -> bool:
    return text in (docs.parent / source).read_text(encoding="utf-8")


def flip(path: Path, at: int, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


def escaped(
    sound: Path, folder: Path, files: list[Path], rounds: int, seed: int
) -> list[tuple[str, int, str]]:
    """Flips after which something else than an error of ours came out."""
    chance = random.Random(seed)
    cited = [p for held in Collection.open(sound / "index" / "c").passages() for p in held]
    failures = []
    for round_ in range(rounds):
        file = chance.choice(files)
        home = folder / str(round_)
        shutil.copytree(sound / "index", home / "index")
        damaged = home / "index" / file.relative_to(sound / "index")
        at, bit = chance.randrange(damaged.stat().st_size), chance.randrange(8)
        flip(damaged, at, bit)
        shutil.copytree(sound / "docs", home / "docs")
        try:
            read_everything(home / "index" / "c", home / "docs", cited)
        except Exception as error:  # noqa: BLE001
            failures.append((file.name, at, f"{type(error).__name__}: {error}"[:200]))
        shutil.rmtree(home)
    return failures


def test_no_flipped_byte_of_a_segment_escapes_as_a_foreign_error(
    sound: Path, tmp_path: Path
) -> None:
    segments = sorted((sound / "index" / "c" / "segments").iterdir())

    assert escaped(sound, tmp_path, segments, 200, 1) == []


def test_no_flipped_byte_of_the_database_escapes_as_a_foreign_error(
    sound: Path, tmp_path: Path
) -> None:
    assert escaped(sound, tmp_path, [sound / "index" / "c" / "collection.db"], 200, 0) == []


def test_a_check_names_the_segment_of_every_flipped_byte_but_padding(copy: Path) -> None:
    chance = random.Random(2)
    folder = copy / "index" / "c" / "segments"
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        held = [at for at in range(len(data)) if data[at] != 0]
        for at in chance.sample(held, 12):
            flip(path, at, chance.randrange(8))
            findings = Collection.open(copy / "index" / "c").check()
            path.write_bytes(data)

            assert any(path.name in finding for finding in findings), at


COLUMNS = {
    "root": ("label", "path"),
    "document": ("id", "source", "title", "extractor", "encoding", "class"),
    "chunk": ("id", "doc", "start", "end", "line_start", "line_end", "hash", "headings", "content"),
    "segment": ("file", "bytes", "checksum", "chunks", "terms"),
    "dead": ("ordinals", "chunks", "terms"),
}
SETTINGS = ("schema", "analysis", "language", "stop_words", "chunking", "generation")
VALUES = {
    "text": "'no such thing'",
    "negative": "-1",
    "huge": "9223372036854775807",
    "blob": "x'ff0001'",
    "empty": "''",
    "no UTF-8": "CAST(x'ff61' AS TEXT)",
}


@pytest.mark.parametrize("value", VALUES)
def test_no_damaged_row_escapes_as_a_foreign_error(value: str, sound: Path, tmp_path: Path) -> None:
    cited = [p for held in Collection.open(sound / "index" / "c").passages() for p in held]
    updates = [
        f"UPDATE OR REPLACE {table} SET {column} = {VALUES[value]}"
        for table, columns in COLUMNS.items()
        for column in columns
    ]
    updates += [f"UPDATE meta SET value = {VALUES[value]} WHERE key = '{key}'" for key in SETTINGS]
    failures = []
    for number, update in enumerate(updates):
        home = tmp_path / str(number)
        shutil.copytree(sound, home)
        execute(home / "index" / "c", update)
        try:
            read_everything(home / "index" / "c", home / "docs", cited)
        except Exception as error:  # noqa: BLE001
            failures.append((update, f"{type(error).__name__}: {error}"[:150]))

    assert failures == []


@pytest.mark.parametrize("key", SETTINGS)
def test_a_missing_setting_is_told(key: str, copy: Path) -> None:
    execute(copy / "index" / "c", f"DELETE FROM meta WHERE key = '{key}'")

    with pytest.raises(CollectionError):
        Collection.open(copy / "index" / "c").info()


def execute(path: Path, sql: str) -> None:
    database = sqlite3.connect(path / "collection.db")
    with database:
        database.create_function("hashed", 1, content_hash)
        database.execute(sql)
    database.close()


ALTER = "UPDATE chunk SET content = replace(content, 'torque', 'torqve')"


def test_altered_text_is_not_shown(copy: Path) -> None:
    path = copy / "index" / "c"
    execute(path, ALTER)
    collection = Collection.open(path)

    with pytest.raises(CollectionCorruptError, match="grk doctor"):
        collection.search("pump", verify=True)
    assert len([finding for finding in collection.check() if "does not match" in finding]) == 13


def test_text_altered_together_with_its_hash_is_not_verified(copy: Path) -> None:
    path = copy / "index" / "c"
    execute(path, ALTER)
    execute(path, "UPDATE chunk SET hash = hashed(content)")
    response = Collection.open(path).search("torque", verify=True)

    assert len(response.results) == 10
    assert all("torqve" in result.content for result in response.results)
    assert {result.verification and result.verification.status for result in response.results} == {
        "drifted"
    }


def test_a_rotten_copy_of_ours_does_not_condemn_the_source(copy: Path) -> None:
    path = copy / "index" / "c"
    cited = [citation for held in Collection.open(path).passages() for citation, _ in held]
    execute(path, ALTER)
    collection = Collection.open(path)

    assert {collection.verify(citation).status for citation in cited} == {"verified"}


def test_a_missing_segment_is_named(copy: Path) -> None:
    path = copy / "index" / "c"
    missing = sorted((path / "segments").iterdir())[0]
    missing.unlink()
    collection = Collection.open(path)

    with pytest.raises(CollectionCorruptError, match=missing.name):
        collection.search("pump")
    assert [finding for finding in collection.check() if missing.name in finding]


def test_re_indexing_heals_damaged_segments(copy: Path) -> None:
    path = copy / "index" / "c"
    before = Collection.open(path).search("pump valve").results
    first, second, third, *_ = sorted((path / "segments").iterdir())
    flip(first, first.stat().st_size - 1, 0)
    second.write_bytes(b"")
    third.unlink()
    assert len(Collection.open(path).check()) == 3
    Collection.open(path).reindex()
    healed = Collection.open(path)

    assert healed.check() == []
    assert healed.search("pump valve").results == before


@pytest.mark.parametrize("work", ["compact", "many small commits"])
def test_merging_does_not_launder_damage(work: str, copy: Path) -> None:
    path = copy / "index" / "c"
    for segment in sorted((path / "segments").iterdir()):
        flip(segment, segment.read_bytes().rindex(b"\x01"), 1)
    collection = Collection.open(path)
    assert collection.check()
    with suppress(CollectionCorruptError):
        if work == "compact":
            collection.compact()
        else:
            for number in range(10):
                collection.add(documents({f"note {number}": "a pump"}))
    assert collection.check()


def test_repair_rebuilds_segments_and_passages(copy: Path) -> None:
    path = copy / "index" / "c"
    before = Collection.open(path).search("pump valve").results
    first, second, *_ = sorted((path / "segments").iterdir())
    flip(first, first.stat().st_size - 1, 0)
    second.unlink()
    execute(path, "UPDATE chunk SET content = CAST(content || x'ff' AS TEXT) WHERE seq % 3 = 0")
    done = Collection.open(path).repair()

    assert done
    assert not [step for step in done if step.startswith("not repaired")]
    assert Collection.open(path).check() == []
    assert Collection.open(path).search("pump valve").results == before
    assert Collection.open(path).repair() == []


def test_repair_says_what_it_cannot_do(copy: Path) -> None:
    path = copy / "index" / "c"
    Collection.open(path).add(documents({"note": "a pump of its own"}))
    (copy / "docs" / "part0.md").unlink()
    execute(path, "UPDATE chunk SET content = content || 'x'")
    done = Collection.open(path).repair()

    assert sorted(step.split(": ")[1] for step in done if step.startswith("not repaired")) == [
        "docs/part0.md",
        "note",
    ]
    assert len(Collection.open(path).check()) == 3


def test_a_database_that_is_none_is_corrupt(copy: Path) -> None:
    path = copy / "index" / "c"
    (path / "collection.db").write_bytes(b"not a database at all, just text" * 100)
    for read in (
        lambda: Collection.open(path).search("pump"),
        lambda: Collection.open(path).info(),
        lambda: Collection.open(path).ingest([copy / "docs"]),
        lambda: Collection.open(path).reindex(),
    ):
        with pytest.raises(CollectionCorruptError, match=r"collection\.db"):
            read()


def test_a_damaged_collection_is_made_anew_after_it_was_deleted(copy: Path) -> None:
    path = copy / "index" / "c"
    before = Collection.open(path).search("pump").results
    flip(path / "collection.db", 100, 1)
    Collection.open(path).delete()
    fresh = Collection.open(path)
    fresh.ingest([copy / "docs"])

    assert not list(path.parent.glob("c/*.tmp*"))
    assert fresh.check() == []
    assert fresh.search("pump").results == before


def test_an_error_holds_no_passage(copy: Path) -> None:
    path = copy / "index" / "c"
    execute(path, "UPDATE chunk SET content = CAST(CAST(content AS BLOB) || x'ff' AS TEXT)")
    collection = Collection.open(path)

    with pytest.raises(CollectionError) as caught:
        collection.search("pump")
    assert "torque" not in str(caught.value)
    try:
        findings = collection.check()
    except GroundkitError as error:
        findings = [str(error)]
    assert findings
    assert not [finding for finding in findings if "torque" in finding]
