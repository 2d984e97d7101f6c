import json

import pytest

from tests.cli.shell import Shell, tree


def test_list_shows_each_collection_with_its_counts(indexed: Shell) -> None:
    indexed("ingest", "docs/notes.txt", "--collection", "notes")
    header, *rows = indexed("collections", "list").lines
    assert header.split() == ["name", "documents", "passages", "generation", "size"]
    assert [row.split()[:4] for row in rows] == [
        ["default", "2", "3", "1"],
        ["notes", "1", "1", "1"],
    ]
    document = indexed("collections", "list", "--json").json
    assert [found["name"] for found in document["collections"]] == ["default", "notes"]
    assert document["collections"][0] == indexed("collections", "show", "--json").json
    assert document["unusable"] == []


@pytest.mark.parametrize("columns", ["20", "80"])
def test_a_long_name_is_whole_in_a_list_that_is_piped(indexed: Shell, columns: str) -> None:
    name = "n" * 64
    indexed("ingest", "docs", "--collection", name)
    rows = indexed("collections", "list", env={"COLUMNS": columns}).lines[1:]
    assert [row.split()[:4] for row in rows] == [["default", "2", "3", "1"], [name, "2", "3", "1"]]


def test_list_names_what_it_cannot_use_and_shows_the_rest(indexed: Shell) -> None:
    indexed.write(".groundkit/broken/collection.db", "no database")
    indexed.write(".groundkit/Not A Name/collection.db", "no database")
    indexed.write(".groundkit/notes.txt", "no collection")
    ran = indexed("collections", "list", code=3)
    assert [row.split()[0] for row in ran.lines[1:]] == ["default"]
    assert "unusable: broken: " in ran.err
    document = indexed("collections", "list", "--json", code=3).json
    assert [found["name"] for found in document["collections"]] == ["default"]
    assert any(line.startswith("broken: ") for line in document["unusable"])


def test_list_of_an_empty_index_directory_says_so(grk: Shell) -> None:
    (grk.folder / ".groundkit").mkdir()
    ran = grk("collections", "list")
    assert "no collection" in ran.err
    assert grk("collections", "list", "--json").json["collections"] == []


def test_show_says_what_a_collection_holds_and_how_it_was_made(indexed: Shell) -> None:
    folder = indexed.folder / ".groundkit/default"
    shown = indexed("collections", "show", "--json").json
    size = shown["bytes"]
    assert size == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert shown["path"] == str(folder)
    assert shown["roots"] == {"docs": str(indexed.folder / "docs")}
    assert shown["chunking"] == {
        "strategy": "structure",
        "size": 200,
        "overlap": 0,
        "unit": "words",
    }
    facts = dict(line.split(maxsplit=1) for line in indexed("collections", "show").lines)
    assert facts["documents"] == "2"
    assert facts["passages"] == "3"
    assert facts["language"] == "english"
    assert facts["size"] == f"{size / 1000:.1f} kB"
    assert facts["root"] == f"docs = {indexed.folder / 'docs'}"


@pytest.mark.parametrize("command", ["show", "reindex"])
def test_the_configured_collection_is_the_default_name(indexed: Shell, command: str) -> None:
    indexed("ingest", "docs/notes.txt", "--collection", "notes")
    ran = indexed("collections", command, "--json", env={"GROUNDKIT__INDEX__COLLECTION": "notes"})
    assert ran.json["name"] == "notes"


def contents(response: str) -> set[str]:
    return {result["content"] for result in json.loads(response)["results"]}


def test_reindex_takes_another_language_and_reads_no_file(indexed: Shell) -> None:
    before = contents(indexed("search", "valve", "--json").out)
    for path in (indexed.folder / "docs").iterdir():
        path.write_text("Something else.\n")
    ran = indexed("collections", "reindex", "--language", "german", "--json")
    assert ran.json["language"] == "german"
    assert ran.json["chunks"] == 3
    after = contents(indexed("search", "valve", "--json").out)
    assert after == before != set()
    assert indexed("verify", "saved.json", code=1).lines[-1].startswith("0 verified")
    assert "3 passages" in indexed("collections", "reindex").out


def test_compact_merges_segments_and_changes_no_result(indexed: Shell) -> None:
    for number in range(3):
        indexed.write(f"docs/{number}.txt", f"The valve number {number}.\n")
        indexed("ingest", "docs")
    before = indexed("search", "the valve", "--json").json
    assert indexed("collections", "compact", "--json").json["segments"] == 1
    after = indexed("search", "the valve", "--json").json
    assert after["results"] == before["results"]
    assert indexed("doctor").out == "default: sound\n"


def test_reindex_with_an_unknown_language_changes_nothing(indexed: Shell) -> None:
    before = indexed("collections", "show", "--json").json
    assert "klingon" in indexed("collections", "reindex", "--language", "klingon", code=2).err
    after = indexed("collections", "show", "--json").json
    assert {**after, "bytes": 0} == {**before, "bytes": 0}


def test_delete_asks_first_and_leaves_the_documents(indexed: Shell) -> None:
    before = tree(indexed.folder / "docs")
    for answer in ("n\n", "\n", ""):
        ran = indexed("collections", "delete", "default", stdin=answer, code=1)
        assert "Delete the collection default? [y/N]" in ran.err
        assert ran.out == ""
    assert indexed("search", "valve").out
    assert indexed("collections", "delete", "default", stdin="y\n").out == "deleted default\n"
    assert not (indexed.folder / ".groundkit/default").exists()
    assert tree(indexed.folder / "docs") == before
    indexed("search", "valve", code=3)


def test_delete_can_be_told_not_to_ask(indexed: Shell) -> None:
    ran = indexed("collections", "delete", "default", "--json", code=2)
    assert "--yes" in ran.json["error"]["message"]
    ran = indexed("collections", "delete", "default", "--yes", "--json")
    assert ran.json["deleted"] == "default"
    assert list((indexed.folder / ".groundkit").iterdir()) == []


def test_a_damaged_collection_can_be_deleted(indexed: Shell) -> None:
    indexed.write(".groundkit/default/collection.db", "no database")
    assert indexed("collections", "delete", "default", stdin="y\n").out == "deleted default\n"
    assert not (indexed.folder / ".groundkit/default").exists()
