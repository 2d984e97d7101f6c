"""JSON lines as documents: each record is found, filtered, changed and removed by itself."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection, Document, IngestReport
from groundkit_core.config import ExtractionConfig
from groundkit_core.errors import IngestError
from groundkit_core.failpoints import set_hook
from groundkit_core.retrieval.filters import Condition
from pydantic import ValidationError

from tests.core.index.support import found, outcomes, write

BODY = ExtractionConfig(
    jsonl_text="body", jsonl_id="key", jsonl_title="name", jsonl_metadata=("year", "kind")
)
ROWS: list[dict[str, Any]] = [
    {"key": "a", "name": "Red", "body": "The red kite flies.", "year": 2001, "kind": "bird"},
    {"key": "b", "name": "Blue", "body": "The blue kite sails.", "year": 2002, "kind": "toy"},
    {"key": "c#d%", "body": "A kite in flat geometry.", "year": 2003, "kind": "shape"},
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def kites(tmp_path: Path) -> Path:
    folder = tmp_path / "kites"
    write(folder, {"k.jsonl": lines(ROWS), "note.md": "No such bird.\n"})
    return folder


def taken(collection: Collection, kites: Path, **options: Any) -> IngestReport:
    return collection.ingest([kites], extraction=BODY, **options)


def sources(collection: Collection, query: str = "kite", **options: Any) -> set[str]:
    return {r.citation.source for r in collection.search(query, verify=True, **options).results}


def statuses(collection: Collection, query: str = "kite") -> dict[str, str]:
    found = collection.search(query, verify=True).results
    return {r.citation.source: r.verification.status for r in found if r.verification}


def test_each_record_is_a_document_with_its_own_title_and_metadata(
    kites: Path, collection: Collection
) -> None:
    report = taken(collection, kites)
    assert outcomes(report) == {"kites/k.jsonl": "indexed", "kites/note.md": "indexed"}
    assert (report.documents, report.chunks) == (4, 4)
    response = collection.search("blue kite", verify=True)
    best = response.results[0]
    assert (best.content, best.title) == ("The blue kite sails.", "Blue")
    assert best.metadata == {"year": 2002, "kind": "toy"}
    assert best.citation.source == "kites/k.jsonl#b"
    assert best.citation.source_class == "extracted"
    assert best.citation.extractor == "jsonl@1?text=body&id=key&title=name&meta=year&meta=kind"
    assert {r.verification and r.verification.status for r in response.results} == {"verified"}


def test_filters_pick_records(kites: Path, collection: Collection) -> None:
    taken(collection, kites)
    recent = Condition(key="year", at_least=2002)
    assert sources(collection, filters=recent) == {"kites/k.jsonl#b", "kites/k.jsonl#c%23d%25"}


def test_a_collection_goes_on_with_the_fields_it_was_told(
    kites: Path, collection: Collection
) -> None:
    first = taken(collection, kites)
    again = collection.ingest([kites])
    assert (again.unchanged, again.files) == (2, ())
    assert again.generation == first.generation
    assert collection.info().extraction == BODY
    rehashed = collection.ingest([kites], rehash=True)
    assert (rehashed.unchanged, rehashed.read, rehashed.files) == (2, 2, ())


def test_without_a_text_field_a_file_of_lines_is_one_text(
    kites: Path, collection: Collection
) -> None:
    collection.ingest([kites])
    assert sources(collection) == {"kites/k.jsonl"}
    taken(collection, kites)
    assert len(sources(collection)) == 3
    report = collection.ingest([kites], extraction=ExtractionConfig())
    assert outcomes(report) == {"kites/k.jsonl": "indexed"}
    assert sources(collection) == {"kites/k.jsonl"}
    assert collection.check() == []


def test_only_records_that_changed_are_made_again(kites: Path, collection: Collection) -> None:
    taken(collection, kites)
    rows = [{"key": "new", "body": "A new kite."}, {**ROWS[1], "body": "It sank."}, ROWS[0]]
    write(kites, {"k.jsonl": lines(rows)})
    report = collection.ingest([kites])
    assert (report.added, report.dropped, report.documents) == (2, 2, 4)
    assert sources(collection) == {"kites/k.jsonl#a", "kites/k.jsonl#new"}
    assert statuses(collection) == dict.fromkeys(sources(collection), "verified")


def test_a_record_that_changed_its_metadata_only_is_changed(
    kites: Path, collection: Collection
) -> None:
    taken(collection, kites)
    write(kites, {"k.jsonl": lines([{**row, "year": 1999} for row in ROWS])})
    collection.ingest([kites])
    assert len(sources(collection, filters=Condition(key="year", equals=1999))) == 3


def test_records_go_with_their_file(kites: Path, collection: Collection) -> None:
    taken(collection, kites)
    (kites / "k.jsonl").unlink()
    assert set(statuses(collection).values()) == {"unresolvable"}
    kept = collection.ingest([kites], keep_missing=True)
    assert outcomes(kept) == {"kites/k.jsonl": "missing"}
    assert len(sources(collection)) == 3
    report = collection.ingest([kites])
    assert outcomes(report) == {"kites/k.jsonl": "removed"}
    assert (report.dropped, report.documents) == (3, 1)
    assert found(collection.search("kite")) == []
    assert collection.ingest([kites]).files == ()


def test_a_bad_line_refuses_the_file_and_takes_the_old_records_with_it(
    kites: Path, collection: Collection
) -> None:
    taken(collection, kites)
    write(kites, {"k.jsonl": lines(ROWS) + "{\n"})
    report = collection.ingest([kites])
    assert outcomes(report) == {"kites/k.jsonl": "refused"}
    assert "line 4" in (report.files[0].reason or "")
    assert (report.dropped, report.documents) == (3, 1)


def test_a_run_that_was_stopped_between_records_is_finished_by_the_next(
    tmp_path: Path, collection: Collection
) -> None:
    rows = [{"key": str(n), "body": f"kite {n}"} for n in range(2_500)]
    folder = tmp_path / "many"
    write(folder, {"k.jsonl": lines(rows)})
    killed(lambda: collection.ingest([folder], extraction=BODY))
    assert 0 < collection.info().documents < 2_500
    (folder / "k.jsonl").unlink()
    write(folder, {"other.md": "x"})
    report = collection.ingest([folder])
    assert report.documents == 1

    write(folder, {"k.jsonl": lines(rows)})
    assert collection.ingest([folder]).documents == 2_501


class KilledError(Exception):
    pass


def killed(act: Callable[[], object], point: str = "commit.done") -> None:
    """Stop a run right behind its first commit."""

    def stop(reached: str) -> None:
        if reached == point:
            raise KilledError

    set_hook(stop)
    try:
        with pytest.raises(KilledError):
            act()
    finally:
        set_hook(None)


def test_records_come_back_after_a_kill_behind_the_commit_that_removed_them(
    kites: Path, collection: Collection
) -> None:
    taken(collection, kites)
    path = kites / "k.jsonl"
    good = path.read_text()

    path.rename(kites.parent / "away")
    killed(lambda: collection.ingest([kites]))
    (kites.parent / "away").rename(path)
    assert collection.ingest([kites]).documents == 4

    path.write_text(good + "{\n")
    killed(lambda: collection.ingest([kites]))
    path.write_text(good)
    assert collection.ingest([kites]).documents == 4

    killed(lambda: collection.remove(["kites/k.jsonl"]))
    assert collection.ingest([kites]).documents == 4
    assert len(sources(collection)) == 3


def test_a_kill_while_records_become_a_text_or_the_other_way_loses_nothing(
    tmp_path: Path, collection: Collection
) -> None:
    folder = tmp_path / "many"
    rows = [{"key": str(n), "body": f"kite {n}"} for n in range(2_500)]
    write(folder, {"k.jsonl": lines(rows)})
    collection.ingest([folder])
    passages = collection.info().chunks
    killed(lambda: collection.ingest([folder], extraction=BODY))
    assert collection.ingest([folder], extraction=ExtractionConfig()).chunks == passages
    assert collection.ingest([folder], extraction=BODY).documents == 2_500
    killed(lambda: collection.ingest([folder], extraction=ExtractionConfig()))
    assert collection.ingest([folder]).chunks == passages
    assert collection.check() == []


@pytest.mark.parametrize("first", ["k.jsonl", "k.jsonl#a", "both"])
def test_a_file_named_like_a_record_is_refused_beside_it(
    first: str, kites: Path, collection: Collection
) -> None:
    if first == "k.jsonl":
        taken(collection, kites)
    write(kites, {"k.jsonl#a": "The kite of a file.\n"})
    if first == "k.jsonl#a":
        collection.ingest([kites / "k.jsonl#a"], extraction=BODY)
    report = taken(collection, kites)
    assert report.count("refused") == 1
    assert {o.reason for o in report.files if o.status == "refused"} == {
        "another document has the source 'kites/k.jsonl#a'"
    }
    assert collection.check() == []
    collection.search("kite")


def test_another_encoding_of_the_same_records_verifies(kites: Path, collection: Collection) -> None:
    taken(collection, kites)
    write(kites, {"k.jsonl": lines(ROWS).encode("utf-16")})
    collection.ingest([kites])
    assert statuses(collection) == dict.fromkeys(sources(collection), "verified")


def test_what_a_repair_could_not_read_is_made_again_by_the_next_run(
    kites: Path, collection: Collection
) -> None:
    taken(collection, kites)
    with sqlite3.connect(collection.path / "collection.db") as database:
        database.execute("UPDATE chunk SET content='Other.' WHERE content LIKE '%bird%'")
        database.execute("UPDATE chunk SET content='Another.' WHERE content LIKE '%red%'")
    database.close()
    kites.rename(kites.parent / "away")
    assert len(collection.repair()) == 2
    (kites.parent / "away").rename(kites)
    collection.ingest([kites])
    assert collection.check() == []


def test_a_text_is_repaired_as_it_was_read(kites: Path, collection: Collection) -> None:
    other = write(kites.parent / "other", {"x.md": "x"})
    collection.ingest([kites])
    collection.ingest([other], extraction=BODY)
    with sqlite3.connect(collection.path / "collection.db") as database:
        database.execute("UPDATE chunk SET content='Other.' WHERE content LIKE '%kite%'")
    database.close()
    collection.repair()
    assert statuses(collection) == {"kites/k.jsonl": "verified"}


def test_a_file_without_a_record_is_a_warning(kites: Path, collection: Collection) -> None:
    write(kites, {"k.jsonl": "\n"})
    report = taken(collection, kites)
    assert report.warnings == ("kites/k.jsonl: it holds no record",)
    assert collection.remove(["kites/k.jsonl"]).documents == 1


def test_an_error_of_a_callback_takes_none_of_a_files_records(
    kites: Path, collection: Collection
) -> None:
    def told(document: Document) -> dict[str, object]:
        return {"x": object() if document.source.endswith("#b") else 1}

    report = collection.ingest([kites], extraction=BODY, metadata=told)
    assert outcomes(report) == {"kites/k.jsonl": "refused", "kites/note.md": "indexed"}
    assert report.documents == 1


def test_a_citation_of_a_record_follows_its_text(kites: Path, collection: Collection) -> None:
    taken(collection, kites)
    result = collection.search("red").results[0]

    def verdict(rows: list[dict[str, Any]]) -> tuple[str, str]:
        write(kites, {"k.jsonl": lines(rows)})
        found = collection.verify(result.citation, content=result.content)
        return found.status, found.reason

    moved = [ROWS[1], {**ROWS[0], "body": "Look! The red kite flies."}]
    assert verdict([ROWS[2], ROWS[0]])[0] == "verified"
    assert verdict(moved)[0] == "moved"
    assert verdict([{**ROWS[0], "body": "Gone."}])[0] == "drifted"
    assert verdict(ROWS[1:]) == ("unresolvable", "the file no longer has this record")


def test_metadata_given_to_the_file_is_given_to_its_records(
    kites: Path, collection: Collection
) -> None:
    collection.ingest([kites / "k.jsonl"], extraction=BODY, metadata={"team": "air"})
    assert len(sources(collection, filters=Condition(key="team", equals="air"))) == 3


def test_one_record_cannot_be_removed_by_itself(kites: Path, collection: Collection) -> None:
    taken(collection, kites)
    with pytest.raises(IngestError, match=r"kites/k\.jsonl#a: .*kites/k\.jsonl"):
        collection.remove(["kites/k.jsonl#a"])
    assert collection.remove(["kites/k.jsonl"]).dropped == 3
    assert outcomes(collection.ingest([kites])) == {"kites/k.jsonl": "indexed"}


def test_damaged_records_are_made_again(kites: Path, collection: Collection) -> None:
    taken(collection, kites)
    with sqlite3.connect(collection.path / "collection.db") as database:
        database.execute(
            "UPDATE chunk SET content='The rad kite flies.' WHERE content LIKE '%red%'"
        )
    database.close()
    assert len(collection.check()) == 1
    assert collection.repair() == ["kites/k.jsonl#a: 1 passages made again from the source"]
    assert collection.check() == []
    assert statuses(collection)["kites/k.jsonl#a"] == "verified"


def test_fields_without_the_text_field_are_an_error() -> None:
    with pytest.raises(ValidationError, match="but not this one"):
        ExtractionConfig(jsonl_id="key")
