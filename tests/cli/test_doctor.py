"""`grk doctor` on collections that were damaged on disk."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.shell import Shell, tree

DATABASE = "collection.db"


def segment(folder: Path) -> Path:
    (path,) = (folder / "segments").iterdir()
    return path


def flip(path: Path, offset: int, count: int = 1) -> None:
    data = bytearray(path.read_bytes())
    for at in range(offset, offset + count):
        data[at] ^= 0xFF
    path.write_bytes(data)


def execute(folder: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
        connection.execute(sql, values)


def flip_segment_header(folder: Path) -> None:
    flip(segment(folder), 20)


def flip_segment_end(folder: Path) -> None:
    flip(segment(folder), segment(folder).stat().st_size - 1)


def cut_segment(folder: Path) -> None:
    path = segment(folder)
    path.write_bytes(path.read_bytes()[:-1])


def empty_segment(folder: Path) -> None:
    segment(folder).write_bytes(b"")


def remove_segment(folder: Path) -> None:
    segment(folder).unlink()


def flip_database_header(folder: Path) -> None:
    flip(folder / DATABASE, 14)


def flip_schema_text(folder: Path) -> None:
    data = (folder / DATABASE).read_bytes()
    flip(folder / DATABASE, data.index(b"CREATE TABLE document"), 30)


def cut_database(folder: Path) -> None:
    path = folder / DATABASE
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_passage(folder: Path) -> None:
    data = (folder / DATABASE).read_bytes()
    flip(folder / DATABASE, data.index(b"Keep the cellar dry."))


def change_passage(folder: Path) -> None:
    execute(folder, "UPDATE chunk SET content = replace(content, 'safe', 'sofa')")


def lose_passage(folder: Path) -> None:
    execute(folder, "DELETE FROM chunk WHERE seq = 1")


def lose_document(folder: Path) -> None:
    execute(folder, "DELETE FROM document WHERE doc = 1")


def lose_setting(folder: Path) -> None:
    execute(folder, "DELETE FROM meta WHERE key = 'stop_words'")


def garble_setting(folder: Path) -> None:
    execute(folder, "UPDATE meta SET value = '{' WHERE key = 'chunking'")


def garble_headings(folder: Path) -> None:
    execute(folder, "UPDATE chunk SET headings = '[' WHERE seq = 1")


def garble_document(folder: Path) -> None:
    execute(folder, "UPDATE document SET class = 'klingon'")


IN_SEGMENT = (flip_segment_header, flip_segment_end, cut_segment, empty_segment, remove_segment)
IN_DATABASE = (
    flip_database_header,
    flip_schema_text,
    cut_database,
    flip_passage,
    change_passage,
    lose_passage,
    lose_document,
    lose_setting,
    garble_setting,
    garble_headings,
    garble_document,
)
DAMAGES: list[Callable[[Path], None]] = [*IN_SEGMENT, *IN_DATABASE]


def test_a_sound_collection_is_called_sound(indexed: Shell) -> None:
    assert indexed("doctor").out == "default: sound\n"
    assert indexed("doctor", "--json").json["collections"] == {"default": []}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_found_and_its_place_named(
    indexed: Shell, damage: Callable[[Path], None]
) -> None:
    folder = indexed.folder / ".groundkit/default"
    name = segment(folder).name if damage in IN_SEGMENT else None
    damage(folder)
    findings = indexed("doctor", "--json", code=1).json["collections"]["default"]
    assert findings
    if name is not None:
        assert any(name in finding for finding in findings)


@pytest.mark.parametrize("damage", DAMAGES[::2], ids=lambda damage: damage.__name__)
def test_a_search_of_a_damaged_collection_answers_or_ends_in_one_line(
    indexed: Shell, damage: Callable[[Path], None]
) -> None:
    damage(indexed.folder / ".groundkit/default")
    with indexed.start("search", "ledger", "--json") as process:
        out, err = (part.decode() for part in process.communicate())
    assert process.returncode in (0, 3), err
    assert "Traceback" not in err
    assert "internal error" not in err
    if process.returncode == 0:
        assert "sofa" not in out


def test_findings_are_listed_below_the_collection(indexed: Shell) -> None:
    folder = indexed.folder / ".groundkit/default"
    name = segment(folder).name
    remove_segment(folder)
    heading, finding = indexed("doctor", code=1).lines
    assert heading == "default: damaged"
    assert finding.startswith("  ")
    assert name in finding


def test_a_damaged_collection_does_not_hide_the_others(indexed: Shell) -> None:
    indexed("ingest", "docs", "--collection", "another")
    indexed.write(".groundkit/broken/collection.db", "no database")
    remove_segment(indexed.folder / ".groundkit/default")
    findings = indexed("doctor", "--json", code=1).json["collections"]
    assert findings["another"] == []
    assert len(findings["default"]) == 1
    assert len(findings["broken"]) == 1
    assert indexed("doctor", "--collection", "another").out == "another: sound\n"


def test_a_damaged_collection_heals_by_ingesting_again_after_deletion(indexed: Shell) -> None:
    remove_segment(indexed.folder / ".groundkit/default")
    indexed("search", "ledger", code=3)
    indexed("collections", "delete", "default", "--yes")
    indexed("ingest", "docs")
    assert indexed("doctor").out == "default: sound\n"


@pytest.mark.parametrize("damage", IN_SEGMENT, ids=lambda damage: damage.__name__)
def test_a_damaged_segment_is_rebuilt_on_request(
    indexed: Shell, damage: Callable[[Path], None]
) -> None:
    before = json.loads((indexed.folder / "saved.json").read_text())["results"]
    damage(indexed.folder / ".groundkit/default")
    report = indexed("doctor", "--repair", "--json").json
    assert report["repairs"]["default"]
    assert report["collections"]["default"] == []
    assert indexed("search", "the", "--json").json["results"] == before


def test_a_changed_passage_is_read_again_from_its_source_on_request(indexed: Shell) -> None:
    change_passage(indexed.folder / ".groundkit/default")
    assert indexed("doctor", "--repair").lines[-1] == "default: sound"
    assert "[verified, " in indexed("search", "safe").lines[0]


def test_a_sound_collection_is_not_repaired(indexed: Shell) -> None:
    before = tree(indexed.folder / ".groundkit")
    assert indexed("doctor", "--repair", "--json").json["repairs"] == {}
    assert tree(indexed.folder / ".groundkit") == before
