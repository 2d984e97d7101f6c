"""Metadata of documents that are no files, and what a callback gives to files."""

import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection, Document, GroundkitError, SearchResponse
from groundkit_core.contracts import MetadataKey
from groundkit_core.errors import MetadataError
from groundkit_core.metadata import rows
from groundkit_core.retrieval.filters import Condition
from groundkit_core.testing import InMemoryEmbedder
from hypothesis import given, settings

from tests.core.index.support import documents, found, outcomes, write
from tests.core.retrieval.filtering import metadata

pytest.importorskip("faiss", reason="vectors are searched by faiss")

TEXTS = {"a": "pump one", "b": "pump two", "c": "valve three"}


def told(collection: Collection) -> dict[str, Mapping[str, Any]]:
    """Metadata by source, as a search shows it."""
    results = collection.search("pump valve", top_k=100, all_copies=True).results
    return {result.citation.source: result.metadata for result in results}


def fields(collection: Collection) -> list[tuple[Any, ...]]:
    with sqlite3.connect(collection.path / "collection.db") as database:
        found = database.execute(
            "SELECT source, key, kind, value FROM field LEFT JOIN document USING (doc) "
            "ORDER BY source, key, kind, value"
        ).fetchall()
    database.close()
    return found


def test_what_a_document_is_given_comes_back_with_each_result(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    given: dict[str, object] = {
        "year": 2020,
        "size": 2.0,
        "draft": False,
        "tags": ["b", "a", "b"],
        "when": date(2020, 5, 1),
        "at": datetime(2020, 5, 1, 12, 0, tzinfo=UTC),
        "project": {"owner": "me", "none": None},
        "empty": [],
        "text": "茶 \U0001f600 \x1b[31m ' %",
    }
    document = Document.from_text("a", "pump", metadata=given)
    collection.add([document])
    (result,) = collection.search("pump").results
    assert result.metadata == document.metadata == {
        "year": 2020,
        "size": 2.0,
        "draft": False,
        "tags": ("b", "a"),
        "when": "2020-05-01",
        "at": "2020-05-01T12:00:00Z",
        "project.owner": "me",
        "text": "茶 \U0001f600 \x1b[31m ' %",
    }  # fmt: skip
    assert {key: type(value) for key, value in result.metadata.items()} == {
        key: type(value) for key, value in document.metadata.items()
    }
    assert collection.info().metadata == {
        key: MetadataKey(documents=1, kinds=(kind,))  # type: ignore[arg-type]
        for key, kind in sorted({(key, kind) for key, kind, _ in rows(document.metadata)})
    }


@settings(max_examples=25, deadline=None)
@given(metadata)
def test_any_metadata_survives_storing_and_json(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, object]
) -> None:
    collection = Collection.open(tmp_path_factory.mktemp("any") / "c")
    document = Document.from_text("a", "pump", metadata=given)
    collection.add([document])
    response = collection.search("pump")
    assert response.results[0].metadata == document.metadata
    assert repr(sorted(response.results[0].metadata.items())) == repr(
        sorted(document.metadata.items())
    )
    assert SearchResponse.model_validate_json(response.model_dump_json()) == response
    listed = {(key, kind, value) for _, key, kind, value in fields(collection)}
    assert listed == set(rows(document.metadata))
    assert collection.check() == []


def test_other_metadata_alone_changes_no_passage_and_embeds_nothing(tmp_path: Path) -> None:
    embedder = InMemoryEmbedder(16)
    collection = Collection.open(tmp_path / "c", embedder=embedder)
    collection.add([Document.from_text("a", "pump one\n\npump two", metadata={"n": 1})])
    before = [result.citation for result in collection.search("pump").results]
    embedder.asked.clear()
    report = collection.add(
        [Document.from_text("a", "pump one\n\npump two", metadata={"n": 2, "m": "x"})]
    )

    assert outcomes(report) == {"a": "changed"}
    assert (report.added, report.dropped, report.embedded, embedder.asked) == (0, 0, 0, [])
    results = collection.search("pump").results
    assert [result.citation for result in results] == before
    assert told(collection) == {"a": {"n": 2, "m": "x"}}
    assert fields(collection) == [("a", "m", "text", "x"), ("a", "n", "number", 2)]
    assert collection.check() == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": 1, "b": ["x", "y"]}, {"b": ("x", "y"), "a": 1.0}),
        ({"a": {"b": 1}}, {"a.b": 1}),
        ({"a": None, "b": []}, {}),
        ({"when": date(2020, 1, 2)}, {"when": "2020-01-02"}),
    ],
)
def test_metadata_that_is_stored_alike_is_no_change(
    first: dict[str, object], second: dict[str, object], tmp_path: Path
) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add([Document.from_text("a", "pump", metadata=first)])
    report = collection.add([Document.from_text("a", "pump", metadata=second)])
    assert (report.unchanged, report.files) == (1, ())


@pytest.mark.parametrize(
    ("first", "second"),
    [({"a": 1}, {"a": True}), ({"a": 1}, {"a": "1"}), ({"a": ["x", "y"]}, {"a": ["y", "x"]})],
)
def test_metadata_that_is_stored_otherwise_is_a_change(
    first: dict[str, object], second: dict[str, object], tmp_path: Path
) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add([Document.from_text("a", "pump", metadata=first)])
    assert collection.add([Document.from_text("a", "pump", metadata=second)]).count("changed") == 1
    assert told(collection)["a"] == Document.from_text("a", "", metadata=second).metadata


def test_removing_and_adding_again_leaves_no_value_behind(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    for turn in range(3):
        collection.add(
            [Document.from_text(s, t, metadata={f"k{turn}": s}) for s, t in TEXTS.items()]
        )
        collection.remove(["a"])
        assert fields(collection) == [(s, f"k{turn}", "text", s) for s in "bc"]
        collection.remove(["b", "c"])
        assert fields(collection) == []
        assert collection.info().metadata == {}
    collection.add(documents(TEXTS))
    assert fields(collection) == []


def _plain(**changes: Any) -> Document:
    return Document.from_text("a", "pump").model_copy(update=changes)


UNSTORED: dict[str, dict[str, Any]] = {
    "beyond 64 bits": {"k": 2**70},
    "half a pair": {"k": "a\ud800"},
    "half a pair in a key": {"\ud800": 1},
    "no number": {"k": float("nan")},
    "a value twice": {"k": (1, 1)},
    "no value": {"k": ()},
    "an empty key": {"": 1},
    "a blank around a key": {" k": 1},
    "a long text": {"k": "x" * 20_000},
}


@pytest.mark.parametrize("given", UNSTORED.values(), ids=list(UNSTORED))
def test_a_document_made_in_pieces_is_refused_or_stored_as_any_other(
    given: dict[str, Any], tmp_path: Path
) -> None:
    collection = Collection.open(tmp_path / "c")
    try:
        collection.add([_plain(metadata=given)])
    except GroundkitError:
        return
    assert collection.check() == []
    assert told(collection)["a"] == Document.from_text("a", "", metadata=given).metadata


@pytest.mark.parametrize("value", [object(), b"x", {1, 2}, 1j, {"x": {2: object()}}])
def test_a_document_cannot_be_made_with_what_is_no_metadata(value: object) -> None:
    with pytest.raises(MetadataError, match="'k"):
        Document.from_text("a", "pump", metadata={"k": value})


# A callback


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(
        tmp_path / "docs", {"a.md": "# A\n\npump\n", "b.txt": "pump", "sub/c.txt": "valve"}
    )


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection.open(tmp_path / "index" / "c")


def test_a_callback_sees_each_document_and_what_it_has(docs: Path, collection: Collection) -> None:
    seen: dict[str, Document] = {}

    def give(document: Document) -> dict[str, object]:
        seen[document.source] = document
        return {"length": len(document.text), "lang": None, "year": 2021}

    collection.ingest([docs], metadata={"lang": "en", "year": 2020})
    report = collection.ingest([docs], metadata=give, rehash=True)
    assert {s: (d.text, d.metadata) for s, d in seen.items()} == {
        "docs/a.md": ("# A\n\npump\n", {"lang": "en", "year": 2020}),
        "docs/b.txt": ("pump", {"lang": "en", "year": 2020}),
        "docs/sub/c.txt": ("valve", {"lang": "en", "year": 2020}),
    }
    assert told(collection) == {
        "docs/a.md": {"length": 10, "year": 2021},
        "docs/b.txt": {"length": 4, "year": 2021},
        "docs/sub/c.txt": {"length": 5, "year": 2021},
    }
    assert (report.count("changed"), report.added, report.dropped) == (3, 0, 0)
    assert collection.info().given == {"docs": {"lang": "en", "year": 2020}}


def test_what_a_callback_gave_stays_until_the_file_is_read_again(
    aged: Callable[[], Path],
) -> None:
    docs = aged()
    collection = Collection.open(docs.parent / "index" / "c")
    collection.ingest([docs], metadata=lambda document: {"by": document.source})
    sources = ["docs/a.md", "docs/b.md", "docs/sub/c.txt", "docs/sub/deep/d.rst"]

    def passing() -> list[str]:
        results = collection.search("pump valve hose torque").results
        return sorted(r.citation.source for r in results if "by" in r.metadata)

    assert collection.ingest([docs]).unchanged == 4
    assert passing() == sources
    called: list[str] = []

    def again(document: Document) -> dict[str, object]:
        called.append(document.source)
        return {"by": "again"}

    assert collection.ingest([docs], metadata=again).unchanged == 4
    assert called == []
    write(docs, {"a.md": "# A\n\nPump changed.\n"})
    collection.ingest([docs])
    assert passing() == sources[1:]
    report = collection.ingest([docs], metadata=again, rehash=True)
    assert sorted(called) == sources
    assert report.count("changed") == 4
    assert set(told(collection)["docs/a.md"].values()) == {"again"}


@pytest.mark.parametrize(
    "value", [object(), float("nan"), 2**64, "\ud800"], ids=["object", "nan", "big", "half"]
)
def test_a_value_that_cannot_be_stored_refuses_that_file_alone(
    value: object, docs: Path, collection: Collection
) -> None:
    report = collection.ingest(
        [docs], metadata=lambda d: {"k": value if d.source.endswith("b.txt") else 1}
    )
    refused = [each for each in report.files if each.status == "refused"]
    assert [each.source for each in refused] == ["docs/b.txt"]
    assert str(refused[0].reason).startswith("'k': ")
    assert sorted(told(collection)) == ["docs/a.md", "docs/sub/c.txt"]
    assert collection.ingest([docs], metadata=lambda _: {"k": 2}).count("refused") == 0
    assert sorted(told(collection)) == ["docs/a.md", "docs/b.txt", "docs/sub/c.txt"]


def test_a_refused_file_keeps_what_it_had(docs: Path, collection: Collection) -> None:
    collection.ingest([docs], metadata=lambda _: {"k": 1})
    report = collection.ingest([docs], metadata=lambda _: {"k": object()}, rehash=True)
    assert report.count("refused") == 3
    assert {str(held) for held in told(collection).values()} == {"{'k': 1}"}
    assert collection.check() == []


@pytest.mark.parametrize("given", ["abc", [("a", 1)], 5], ids=["text", "pairs", "number"])
def test_a_callback_that_gives_no_mapping_is_told_so(
    given: Any, docs: Path, collection: Collection
) -> None:
    report = collection.ingest([docs], metadata=lambda _: given)
    assert report.count("refused") == 3
    assert fields(collection) == []


def test_a_callback_that_gives_none_is_treated_alike_whatever_there_is(
    docs: Path, collection: Collection
) -> None:
    nothing: Any = lambda _: None  # noqa: E731
    without = collection.ingest([docs], metadata=nothing)
    collection.ingest([docs], metadata={"lang": "en"})
    with_some = collection.ingest([docs], metadata=nothing, rehash=True)
    assert without.count("refused") == with_some.count("refused")


@pytest.mark.parametrize("given", ["year=2020", [("year", 2020)]], ids=["text", "pairs"])
def test_metadata_that_is_no_mapping_is_an_error_before_any_work(
    given: Any, docs: Path, collection: Collection
) -> None:
    with pytest.raises((GroundkitError, TypeError)):
        collection.ingest([docs], metadata=given)
    assert not collection.exists()


def test_an_error_of_the_callback_itself_reaches_the_caller(
    docs: Path, collection: Collection
) -> None:
    def broken(document: Document) -> dict[str, object]:
        raise KeyError(document.source)

    with pytest.raises(KeyError, match=r"docs/a\.md"):
        collection.ingest([docs], metadata=broken)
    assert collection.check() == []
    assert collection.ingest([docs]).documents == 3


def test_filters_find_what_a_callback_gave(docs: Path, collection: Collection) -> None:
    collection.ingest([docs], metadata=lambda d: {"words": len(d.text.split())})
    short = Condition(key="words", equals=1)
    assert found(collection.search("pump", filters=short)) == ["docs/b.txt"]
