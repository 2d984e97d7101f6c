"""What narrows a search, and what is said of its results."""

from pathlib import Path
from typing import Any

import pytest
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.diversity import Diversity
from groundkit_core.retrieval.filters import AnyOf, Condition, NoneOf

from tests.service.support import TRANSPORTS, Desk, desk, library

pytestmark = pytest.mark.parametrize("transport", TRANSPORTS)
SINCE_2022 = {"key": "year", "at_least": 2022}
FILTERS: dict[str, tuple[dict[str, Any], Any]] = {
    "number": (SINCE_2022, Condition(key="year", at_least=2022)),
    "text": ({"key": "tags", "equals": "water"}, Condition(key="tags", equals="water")),
    "source": ({"key": "source", "prefix": "docs/n"}, Condition(key="source", prefix="docs/n")),
    "list": ({"key": "year", "one_of": [2021, 3]}, Condition(key="year", one_of=(2021, 3))),
    "not": ({"none_of": [SINCE_2022]}, NoneOf(none_of=(Condition(key="year", at_least=2022),))),
    "or": (
        {"any_of": [SINCE_2022, {"key": "year", "exists": False}]},
        AnyOf(any_of=(Condition(key="year", at_least=2022), Condition(key="year", exists=False))),
    ),
    "nothing": ({"key": "year", "above": 3000}, Condition(key="year", above=3000)),
}


def unfiltered(folder: Path, query: str, **options: Any) -> list[dict[str, Any]]:
    with Collection.open(folder / "index/default") as collection:
        found = collection.search(query, verify=True, **options)
    return [result.model_dump(mode="json") for result in found.results]


@pytest.mark.parametrize("kind", FILTERS)
def test_filters_are_those_of_the_library(
    ask: Desk, folder: Path, transport: str, kind: str
) -> None:
    written, built = FILTERS[kind]
    found = ask(transport, "search", query="valve", where=written).ok["results"]
    assert found == unfiltered(folder, "valve", filters=built)
    assert len(found) < len(unfiltered(folder, "valve"))


def test_a_filter_can_be_too_large(ask: Desk, transport: str) -> None:
    wide = {"any_of": [SINCE_2022] * 101}
    deep: dict[str, Any] = SINCE_2022
    for _ in range(21):
        deep = {"all_of": [deep]}
    many = {"any_of": [{"all_of": [SINCE_2022] * 50}] * 2}
    for where in (wide, deep, many):
        assert ask(transport, "search", query="valve", where=where).code == "invalid_request"


def test_one_document_does_not_fill_the_results(ask: Desk, folder: Path, transport: str) -> None:
    found = ask(transport, "search", query="valve", per_document=1).ok["results"]
    assert found == unfiltered(folder, "valve", diversity=Diversity(per_document=1))
    sources = [result["citation"]["source"] for result in found]
    assert sorted(sources) == ["docs/boiler.md", "docs/notes.txt", "docs/pump.md"]


def test_near_duplicates_are_left_out_and_named(tmp_path: Path, transport: str) -> None:
    words = " ".join(f"word{at}" for at in range(60))
    index = library(tmp_path, {"a.md": f"valve {words}\n", "b.md": f"valve {words} more\n"})
    with desk(index) as ask:
        every = ask(transport, "search", query="valve").ok["results"]
        (found,) = ask(transport, "search", query="valve", near_duplicates=0.8).ok["results"]
    (expected,) = unfiltered(tmp_path, "valve", diversity=Diversity(near_duplicates=0.8))
    assert found == expected
    assert [found["citation"], *found["similar"]] == [result["citation"] for result in every]


@pytest.mark.parametrize("query", ["valve", "opening valves", "the", "cellar's stairs"])
def test_highlights_are_the_ranges_that_match(
    ask: Desk, folder: Path, transport: str, query: str
) -> None:
    found = ask(transport, "search", query=query, highlight=True).ok["results"]
    with Collection.open(folder / "index/default") as collection:
        matches = collection.matches(query, [result["content"] for result in found])
    assert [result["highlights"] for result in found] == [
        [list(span) for span in spans] for spans in matches
    ]
    assert any(matches)


def test_highlights_count_characters_not_bytes(tmp_path: Path, transport: str) -> None:
    text = "😀é 泵 and the valve."
    index = library(tmp_path, {"a.md": f"{text}\n"})
    with desk(index) as ask:
        (found,) = ask(transport, "search", query="valve", highlight=True).ok["results"]
    start = text.index("valve")
    assert found["highlights"] == [[start, start + len("valve")]]


def test_without_being_asked_for_there_are_no_highlights(ask: Desk, transport: str) -> None:
    found = ask(transport, "search", query="valve").ok["results"]
    assert [result["highlights"] for result in found] == [[]] * len(found)


def test_a_changed_source_is_told(tmp_path: Path, transport: str) -> None:
    index = library(tmp_path, {"a.md": "A valve.\n", "b.md": "Another valve.\n", "c.md": "valve\n"})
    (tmp_path / "docs/a.md").write_text("Before it.\n\nA valve.\n")
    (tmp_path / "docs/b.md").write_text("Nothing.\n")
    (tmp_path / "docs/c.md").unlink()
    with desk(index) as ask:
        found = ask(transport, "search", query="valve").ok["results"]
        stands = {
            result["citation"]["source"]: result["verification"]["status"] for result in found
        }
        expected = {"docs/a.md": "moved", "docs/b.md": "drifted", "docs/c.md": "unresolvable"}
        assert stands == expected
        for result in found:
            chunk_id = result["citation"]["chunk_id"]
            window = ask(transport, "fetch_chunk", chunk_id=chunk_id).ok
            assert window["verification"] == result["verification"]
            assert (
                ask(transport, "fetch_chunk", chunk_id=chunk_id, verify=False).ok["verification"]
                is None
            )


def test_another_default_collection_is_searched_where_none_is_named(
    tmp_path: Path, transport: str
) -> None:
    library(tmp_path, {"a.md": "A valve.\n"}, name="manuals")
    with desk(tmp_path / "index", default="manuals") as ask:
        assert ask(transport, "search", query="valve").ok["collection"] == "manuals"
        assert ask(transport, "list_collections").ok["default"] == "manuals"
        assert ask(transport, "index_status").ok["collection"] == "manuals"
        missing = ask(transport, "search", query="valve", collection="default")
        assert missing.code == "collection_not_found"


def test_moved_roots_are_read_where_they_are(tmp_path: Path, transport: str) -> None:
    index = library(tmp_path, {"a.md": "A valve.\n"})
    (tmp_path / "docs").rename(tmp_path / "moved")
    for roots, status in ((None, "unresolvable"), ({"docs": tmp_path / "moved"}, "verified")):
        with desk(index, roots=roots) as ask:
            (found,) = ask(transport, "search", query="valve").ok["results"]
            assert found["verification"]["status"] == status
