"""Documents that are no files: adding, replacing, removing."""

from pathlib import Path

import pytest
from groundkit_core import Collection, Document, GroundkitError
from groundkit_core.errors import ConfigurationError, IngestError
from groundkit_core.testing import MappingReader

from tests.core.index.support import cited, documents, found, statuses


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection.open(tmp_path / "c")


def test_adding_says_what_it_did(collection: Collection) -> None:
    first = collection.add(documents({"a": "pump", "b": "valve"}))
    second = collection.add(documents({"a": "hose", "b": "valve", "c": "bar"}))

    assert [(o.source, o.status) for o in first.files] == [("a", "indexed"), ("b", "indexed")]
    assert [(o.source, o.status) for o in second.files] == [("a", "changed"), ("c", "indexed")]
    assert (second.unchanged, second.added, second.dropped, second.read) == (1, 2, 1, 0)
    assert (second.documents, second.chunks) == (3, 3)


def test_removing_says_what_it_did(collection: Collection) -> None:
    collection.add(documents({"a": "pump", "b": "pump two"}))
    report = collection.remove(["a"])

    assert [(o.source, o.status) for o in report.files] == [("a", "removed")]
    assert (report.dropped, report.documents, report.chunks) == (1, 1, 1)
    assert found(collection.search("pump")) == ["b"]


def test_removing_a_source_twice_counts_once(collection: Collection) -> None:
    collection.add(documents({"a": "pump", "b": "pump two"}))
    report = collection.remove(["a", "a"])

    assert (report.dropped, len(report.files), report.chunks) == (1, 1, 1)


def test_removing_what_is_not_there_is_an_error(collection: Collection) -> None:
    collection.add(documents({"a": "pump"}))
    with pytest.raises(IngestError, match="no such source"):
        collection.remove(["b"])


def test_two_documents_of_one_source_are_an_error(collection: Collection) -> None:
    with pytest.raises(ConfigurationError, match="'a'"):
        collection.add([*documents({"a": "pump"}), *documents({"a": "valve"})])


def test_a_document_given_in_pieces_keeps_its_source(collection: Collection) -> None:
    collection.add(documents({"a": "pump"}))
    foreign = Document(id="chosen by hand", source="a", text="valve", extractor="given@1")
    try:
        collection.add([foreign])
    except GroundkitError:
        assert found(collection.search("pump valve")) == ["a"]
    else:
        assert [r.content for r in collection.search("pump valve").results] == ["valve"]
    assert collection.check() == []
    assert collection.info().documents == 1


def test_two_sources_with_one_id_are_two_documents_or_an_error(collection: Collection) -> None:
    given = [
        Document(id="same", source=source, text=f"pump {source}", extractor="given@1")
        for source in "ab"
    ]
    try:
        collection.add(given)
    except GroundkitError:
        return
    assert sorted(found(collection.search("pump"))) == ["a", "b"]
    assert collection.check() == []


@pytest.mark.parametrize("field", ["source", "text", "title"])
def test_lone_surrogates_are_refused_before_any_work(field: str, collection: Collection) -> None:
    fields = {"source": "a", "text": "pump", "title": "Title"} | {field: "x \ud800 y"}
    with pytest.raises(GroundkitError, match="surrogate"):
        collection.add(
            [Document.from_text(fields["source"], fields["text"], title=fields["title"])]
        )


@pytest.mark.parametrize("old", [None, "None", "One"], ids=["none", "None", "One"])
@pytest.mark.parametrize("new", [None, "None", "Two"], ids=["none", "None", "Two"])
def test_a_new_title_is_a_change(old: str | None, new: str | None, collection: Collection) -> None:
    collection.add([Document.from_text("a", "pump", title=old)])
    report = collection.add([Document.from_text("a", "pump", title=new)])

    assert report.unchanged == (old == new)
    assert collection.search("pump").results[0].title == new


def test_a_new_media_type_is_a_change(collection: Collection) -> None:
    text = "# One\n\npump\n\n# Two\n\npump two\n"
    collection.add([Document.from_text("a", text)])
    assert len(collection.search("pump").results) == 1
    collection.add([Document.from_text("a", text, media_type="text/markdown")])

    assert [r.citation.heading_path for r in collection.search("one").results] == [("One",)]


def test_odd_characters_survive(tmp_path: Path) -> None:
    texts = {
        "nul": "pump \0 nul",
        "bell": "pump \x07\x1b[31m bell",
        "crlf": "pump\r\nof\rlines\n",
        "wide": "pump 👩‍👩‍👧 \U0001f600 wide",
        "mark": "\ufeffpump mark",
        "quote '); DROP TABLE chunk; --": "pump ' quote",
    }
    collection = Collection.open(tmp_path / "c", reader=MappingReader(texts))
    collection.add(documents(texts))

    assert {c.source: text for text, c in cited(collection).items()} == {
        source: text.strip() for source, text in texts.items()
    }
    assert statuses(collection) == ["verified"] * 6
    assert len(collection.search("pump").results) == 6


def test_nothing_to_add_makes_an_empty_collection(collection: Collection) -> None:
    report = collection.add([])

    assert (report.documents, report.chunks) == (0, 0)
    assert collection.search("pump").results == ()
    assert collection.check() == []


def test_documents_without_words_are_held(collection: Collection) -> None:
    collection.add(documents({"empty": "", "blank": " \n ", "marks": "*** --- ***"}))

    assert collection.info().documents == 3
    assert collection.info().chunks == 1
    assert collection.search("pump").results == ()
    assert collection.check() == []
    collection.add(documents({"a": "pump"}))
    assert found(collection.search("pump")) == ["a"]


def test_row_numbers_are_not_used_again(collection: Collection) -> None:
    for turn in range(3):
        collection.add(documents({"a": f"pump {turn}", "b": f"pump b {turn}"}))
        collection.remove(["a", "b"])
        collection.compact()
    collection.add(documents({"c": "pump"}))

    assert found(collection.search("pump")) == ["c"]
    assert collection.check() == []
