"""Both protocols give what the library gives."""

from pathlib import Path
from typing import Any

import pytest
from groundkit_cli.service.errors import STATUS
from groundkit_core.contracts import SearchResponse
from groundkit_core.index.collection import Collection

from tests.cli.shell import Shell
from tests.service.support import TRANSPORTS, Desk, library

SAME = (
    *("generation", "documents", "chunks", "terms", "bytes", "language", "embedding", "vectors"),
    *("vector_index", "metadata"),
)
pytestmark = pytest.mark.parametrize("transport", TRANSPORTS)


@pytest.fixture
def collection(folder: Path) -> Collection:
    return Collection.open(folder / "index/default")


@pytest.mark.parametrize("query", ["valve", "when is the boiler cold?", "Keller 厨房", "zzz"])
def test_search_gives_what_the_library_gives_and_the_command_prints(
    ask: Desk, grk: Shell, collection: Collection, transport: str, query: str
) -> None:
    with collection:
        expected = collection.search(query, top_k=3, verify=True).model_dump(mode="json")
        index = str(collection.path.parent)
    assert ask(transport, "search", query=query, top_k=3).ok == expected
    assert grk("search", query, "-k", "3", "--index-dir", index, "--json").json == expected


def test_a_search_without_a_verdict_reads_no_source(
    ask: Desk, collection: Collection, transport: str
) -> None:
    with collection:
        expected = collection.search("valve").model_dump(mode="json")
    found = ask(transport, "search", query="valve", verify=False).ok
    assert found == expected
    assert {result["verification"] for result in found["results"]} == {None}


@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 0), (0, 1), (1, 1), (1000, 1000)])
def test_fetch_chunk_gives_what_the_library_gives(
    ask: Desk, collection: Collection, transport: str, before: int, after: int
) -> None:
    with collection:
        cited = collection.search("plumber").results[0].citation
        expected = collection.fetch(cited.chunk_id, before=before, after=after, verify=True)
    found = ask(transport, "fetch_chunk", chunk_id=cited.chunk_id, before=before, after=after).ok
    links = {name: found.pop(name) is not None for name in ("next_cursor", "previous_cursor")}
    assert found == expected.model_dump(mode="json", exclude={"next_cursor", "previous_cursor"})
    assert links == {"next_cursor": expected.after > 0, "previous_cursor": expected.before > 0}


def test_the_collection_is_described_as_info_does(
    ask: Desk, collection: Collection, transport: str
) -> None:
    with collection:
        info = collection.info().model_dump(mode="json")
    assert ask(transport, "index_status").ok == {
        "schema_version": 1,
        "collection": "default",
        **{name: info[name] for name in SAME},
        "modes": ["bm25"],
        "truncated": False,
    }
    assert info["metadata"] == {
        "tags": {"documents": 2, "kinds": ["text"]},
        "year": {"documents": 2, "kinds": ["number"]},
    }


def test_the_collections_are_listed(ask: Desk, collection: Collection, transport: str) -> None:
    with collection:
        info = collection.info()
    assert ask(transport, "list_collections").ok == {
        "schema_version": 1,
        "default": "default",
        "collections": [
            {
                "name": "default",
                "documents": info.documents,
                "chunks": info.chunks,
                "generation": info.generation,
                "modes": ["bm25"],
            }
        ],
        "unusable": [],
        "truncated": False,
        "next_cursor": None,
    }


def test_a_collection_is_searched_by_its_name(
    ask: Desk, folder: Path, tmp_path: Path, transport: str
) -> None:
    library(tmp_path, {"only.md": "A valve elsewhere.\n"}, name="other")
    (folder / "index" / f"other-{transport}").symlink_to(tmp_path / "index/other")
    found = ask(transport, "search", query="valve", collection=f"other-{transport}").ok
    (folder / "index" / f"other-{transport}").unlink()
    (result,) = SearchResponse.model_validate(found, strict=False).results
    assert (result.citation.source, result.content) == ("docs/only.md", "A valve elsewhere.")


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("search", {}, "invalid_request", "query: Field required"),
    ("search", {"query": " \n"}, "invalid_request", "the query is empty"),
    ("search", {"query": "x" * 4097}, "invalid_request", "query: String should have at most"),
    ("search", {"query": 5}, "invalid_request", "query: Input should be a valid string"),
    ("search", {"query": "x", "top_k": 0}, "invalid_request", "top_k: Input should be greater"),
    ("search", {"query": "x", "top_k": 101}, "invalid_request", "top_k: Input should be less"),
    ("search", {"query": "x", "top_k": "3"}, "invalid_request", "top_k: Input should be a valid"),
    ("search", {"query": "x", "mode": "magic"}, "invalid_request", "mode: Input should be"),
    ("search", {"query": "x", "mode": "dense"}, "invalid_request", "default has no vectors"),
    ("search", {"query": "x", "index_dir": "/"}, "invalid_request", "index_dir: Extra inputs"),
    ("search", {"query": "x", "collection": "../x"}, "invalid_request", "collection: String"),
    ("search", {"query": "x", "where": {"key": "a"}}, "invalid_request", "where: it asks nothing"),
    ("search", {"query": "x", "near_duplicates": 0}, "invalid_request", "near_duplicates: Input"),
    ("search", {"query": "x", "per_document": 0}, "invalid_request", "per_document: Input"),
    (
        "search",
        {"query": "x", "collection": "no"},
        "collection_not_found",
        "there is no collection",
    ),
    ("fetch_chunk", {"chunk_id": "no"}, "chunk_not_found", "default: it holds no passage 'no'"),
    ("fetch_chunk", {"chunk_id": "no", "before": -1}, "invalid_request", "before: Input should be"),
    ("fetch_chunk", {"chunk_id": "no", "after": 1001}, "invalid_request", "after: Input should be"),
    ("fetch_chunk", {"chunk_id": "no", "collection": "no"}, "collection_not_found", "there is no"),
    ("index_status", {"collection": "no"}, "collection_not_found", "there is no collection no"),
    ("index_status", {"cursor": "e30"}, "invalid_request", "cursor: Extra inputs"),
    ("list_collections", {"cursor": "e30"}, "invalid_request", "cursor: it is none of this"),
]


@pytest.mark.parametrize(
    ("operation", "arguments", "code", "message"), WRONG, ids=lambda each: str(each)[:30]
)
def test_errors_have_the_same_codes(
    ask: Desk, transport: str, operation: str, arguments: dict[str, Any], code: str, message: str
) -> None:
    answer = ask(transport, operation, **arguments)
    assert (answer.code, answer.body["message"][: len(message)]) == (code, message)
    assert set(answer.body) == {"code", "message", "request_id"}
    assert answer.response.status_code == (STATUS[code] if transport == "rest" else 200)


def test_an_operation_that_is_none_is_not_found(ask: Desk, transport: str) -> None:
    assert ask(transport, "ingest", path="docs").code == "not_found"
