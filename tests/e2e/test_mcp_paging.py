"""Responses by MCP over HTTP stay within their cap, and cursors lead through all that was found."""

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.shell import Shell
from tests.e2e.serving import Served, rpc, serving

pytestmark = pytest.mark.e2e

CAP = 20_000
PASSAGES = 60
COPIES = 150
MOST_PAGES = 100
LONG = "x" * 20
Result = dict[str, Any]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shell, Served]]:
    """Sixty passages of 4 kB, a thousand tiny ones, and one too large for any response."""
    shell = Shell(tmp_path_factory.mktemp("paging"))
    paragraphs = (
        " ".join(["valve", f"w{number}", *(f"{LONG}{number}q{word}" for word in range(160))])
        for number in range(PASSAGES)
    )
    shell.write("large/one.txt", "\n\n".join(paragraphs))
    for number in range(200):
        shell.write(f"tiny/{number}.txt", f"Tap {number}.\n" * (1 + number % 7))
    shell.write("huge/one.txt", "gasket " + "é" * 100_000)
    keys = "\n".join(f"{'k' * 40}{number:03}: {number}" for number in range(400))
    shell.write("keyed/one.md", f"---\n{keys}\n---\n\nA washer.\n")
    for name in ("large", "tiny", "huge", "keyed"):
        shell("ingest", name, "--collection", name)
    for number in range(COPIES):
        name = f"copy{number:03}{'y' * 50}"
        shutil.copytree(shell.folder / ".groundkit/huge", shell.folder / ".groundkit" / name)
    for number in range(0, 200, 2):
        moved = f"Tap {number}.\n" * (1 + number % 7)
        shell.write(f"tiny/{number}.txt", f"Before.\n\n{moved}\nAfter.\n\n" * (number + 1))
    with serving(shell, "--collection", "large", "--max-response-bytes", str(CAP)) as served:
        yield shell, served


def pages(served: Served, tool: str, arguments: dict[str, Any], on: str = "next_cursor") -> Any:
    """The structured content of each page, none of whose bodies exceeds the cap."""
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = called(served, tool, {**arguments, **({"cursor": cursor} if cursor else {})})
        yield page
        cursor = page[on]
        if cursor is None:
            return
    raise AssertionError(f"there are more than {MOST_PAGES} pages")


def called(served: Served, tool: str, arguments: dict[str, Any]) -> Any:
    """The structured content of a result that is no larger than the cap."""
    reply = served.post("/mcp", rpc("tools/call", {"name": tool, "arguments": arguments}))
    assert len(reply.body) <= CAP, f"{len(reply.body)} bytes"
    result = reply.json["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]


def refused(served: Served, arguments: dict[str, Any]) -> str:
    """The code of the error that a search ends in."""
    reply = served.post("/mcp", rpc("tools/call", {"name": "search", "arguments": arguments}))
    result = reply.json["result"]
    assert result["isError"] is True
    code: str = json.loads(result["content"][0]["text"])["error"]["code"]
    return code


def cited(results: list[Result]) -> list[tuple[str, int, int]]:
    places = (result["citation"] for result in results)
    return [(place["chunk_id"], place["start"], place["end"]) for place in places]


@pytest.mark.parametrize("highlight", [False, True])
@pytest.mark.parametrize(("name", "query"), [("large", "valve"), ("tiny", "tap")])
def test_a_search_is_continued_without_gap_or_repeat(
    site: tuple[Shell, Served], name: str, query: str, highlight: bool
) -> None:
    shell, served = site
    asked = {"query": query, "top_k": 50, "collection": name, "highlight": highlight}
    found = list(pages(served, "search", asked))
    whole = shell("search", query, "--top-k", "50", "--collection", name, "--json").json["results"]
    results = [result for page in found for result in page["results"]]
    assert cited(results) == cited(whole)
    assert [result["rank"] for result in results] == list(range(1, 51))
    assert [page["truncated"] for page in found] == [True] * (len(found) - 1) + [False]
    assert len(found) > 1
    for result, printed in zip(results, whole, strict=True):
        assert {**result, "highlights": []} == printed
        assert bool(result["highlights"]) == highlight


def test_a_passage_larger_than_a_response_is_cut_and_says_so(site: tuple[Shell, Served]) -> None:
    shell, served = site
    asked = {"query": "gasket", "collection": "huge", "highlight": True}
    (page,) = pages(served, "search", asked)
    (whole,) = shell("search", "gasket", "--collection", "huge", "--json").json["results"]
    (result,) = page["results"]
    assert result["cut"] is True
    assert whole["content"].startswith(result["content"])
    assert len(result["content"]) > 1_000
    assert (result["citation"], result["verification"]) == (
        whole["citation"],
        whole["verification"],
    )
    assert result["highlights"] == [[0, len("gasket")]]
    assert (page["truncated"], page["next_cursor"]) == (False, None)


@pytest.mark.parametrize("around", [0, 7, 1000])
def test_a_document_is_read_to_both_ends(site: tuple[Shell, Served], around: int) -> None:
    shell, served = site
    (middle,) = shell("search", "w30", "--top-k", "1", "--collection", "large", "--json").json[
        "results"
    ]
    id_ = middle["citation"]["chunk_id"]
    whole = shell(
        "show", id_, "--before", "1000", "--after", "1000", "--collection", "large", "--json"
    ).json["passages"]
    assert len(whole) == PASSAGES
    asked = {"chunk_id": id_, "collection": "large", "before": around, "after": around}
    onward = list(pages(served, "fetch_chunk", asked))
    backward = list(pages(served, "fetch_chunk", asked, "previous_cursor"))
    assert onward[0] == backward[0]
    first = onward[0]["passages"]
    assert first[onward[0]["at"]]["citation"]["chunk_id"] == id_
    before = [passage for page in reversed(backward[1:]) for passage in page["passages"]]
    after = [passage for page in onward[1:] for passage in page["passages"]]
    assert before + first + after == whole
    for page in onward + backward:
        shown_here = len(page["passages"])
        assert page["before"] + shown_here + page["after"] == PASSAGES
        assert (page["previous_cursor"] is None) == (page["before"] == 0)
        assert (page["next_cursor"] is None) == (page["after"] == 0)


def test_collections_are_listed_in_pages(site: tuple[Shell, Served]) -> None:
    shell, served = site
    found = list(pages(served, "list_collections", {}))
    listed = [collection["name"] for page in found for collection in page["collections"]]
    assert listed == sorted(path.name for path in (shell.folder / ".groundkit").iterdir())
    assert len(listed) > COPIES
    assert len(found) > 1
    assert [page["truncated"] for page in found] == [True] * (len(found) - 1) + [False]


def test_a_status_leaves_out_metadata_keys_and_says_so(site: tuple[Shell, Served]) -> None:
    shell, served = site
    result = called(served, "index_status", {"collection": "keyed"})
    shown = shell("collections", "show", "keyed", "--json").json["metadata"]
    assert result["truncated"] is True
    assert 0 < len(result["metadata"]) < len(shown) == 400
    assert result["metadata"].items() <= shown.items()


def test_a_cursor_of_another_request_is_refused(site: tuple[Shell, Served]) -> None:
    _, served = site
    asked = {"query": "valve", "top_k": 50, "collection": "large"}
    cursor = next(pages(served, "search", asked))["next_cursor"]
    for changed in ({"query": "tap"}, {"top_k": 49}, {"collection": "tiny"}):
        assert refused(served, {**asked, **changed, "cursor": cursor}) == "invalid_request"


def test_a_cursor_of_an_older_generation_is_stale(site: tuple[Shell, Served]) -> None:
    shell, served = site
    shell.write("fresh/one.txt", "\n\n".join(f"Rivet {'y' * 900} {n}" for n in range(40)))
    shell("ingest", "fresh", "--collection", "fresh")
    asked = {"query": "rivet", "top_k": 40, "collection": "fresh"}
    cursor = next(pages(served, "search", asked))["next_cursor"]
    assert cursor
    shell.write("fresh/two.txt", "A rivet more.\n")
    shell("ingest", "fresh", "--collection", "fresh")
    assert refused(served, {**asked, "cursor": cursor}) == "stale_cursor"
