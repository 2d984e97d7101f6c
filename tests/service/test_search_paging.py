"""The pages of a search, joined, are the search."""

import json
import shutil
import string
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from groundkit_cli.service.errors import ServiceError
from groundkit_cli.service.paging import AfterResult, read_cursor
from groundkit_cli.service.requests import SearchRequest
from groundkit_core.contracts import Document
from groundkit_core.index.collection import Collection
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.service.paging import pages
from tests.service.support import JSON, TRANSPORTS, Desk, desk, library, write

LONG = f"x {'y' * 60} "
FILLERS = (LONG, "plain words ", "泵打开阀门", "x valve ", '"\\\t', "😀 ", "\x01\x02 ", "é̂ ")
ALPHABET = string.ascii_letters + string.digits + "-_"
Texts = list[tuple[str, int]]
texts = st.lists(
    st.tuples(st.sampled_from(FILLERS), st.integers(0, 40) | st.integers(0, 3_000)),
    min_size=1,
    max_size=30,
)


def expected(folder: Path, query: str, **options: Any) -> list[dict[str, Any]]:
    """The results of the library, with the highlights that it gives for them."""
    with Collection.open(folder / "default") as collection:
        found = collection.search(query, **options)
        spans = collection.matches(query, [result.content for result in found.results])
    return [
        result.model_copy(update={"highlights": tuple(matched)}).model_dump(mode="json")
        for result, matched in zip(found.results, spans, strict=True)
    ]


def shortened(shown: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """The library's result with as many copies and as much text as were shown."""
    kept = {name: whole[name][: len(shown[name])] for name in ("copies", "similar")}
    omitted = sum(len(whole[name]) - len(kept[name]) for name in kept)
    found = whole | kept | {"omitted": omitted}
    if not shown["cut"]:
        return found
    length = len(shown["content"])
    assert length < len(whole["content"])
    within = [span for span in whole["highlights"] if span[1] <= length]
    return found | {"content": whole["content"][:length], "highlights": within, "cut": True}


@settings(deadline=None, max_examples=30)
@given(
    held=texts,
    top_k=st.integers(1, 100),
    cap=st.integers(10_000, 60_000),
    verify=st.booleans(),
    transport=st.sampled_from(TRANSPORTS),
)
@example(held=[("泵打开阀门", 200)] * 30, top_k=30, cap=30_000, verify=True, transport="mcp")
@example(held=[("x valve ", 95)] * 30, top_k=30, cap=30_000, verify=False, transport="mcp")
@example(held=[("", 0)] * 30, top_k=30, cap=12_000, verify=True, transport="mcp")
@example(held=[(LONG, 95)], top_k=1, cap=10_000, verify=True, transport="rest")
@example(held=[('"\\\t', 20_000)] * 2, top_k=2, cap=10_000, verify=True, transport="mcp")
def test_pages_join_to_the_whole_within_the_cap(
    held: Texts, top_k: int, cap: int, verify: bool, transport: str
) -> None:
    named = {
        f"{at}.md": f"valve {at} {filler * count}\n" for at, (filler, count) in enumerate(held)
    }
    with TemporaryDirectory() as folder:
        index = library(Path(folder), named)
        wanted = expected(index, "valve x", top_k=top_k, verify=verify)
        asked: dict[str, Any] = {
            "query": "valve x",
            "top_k": top_k,
            "verify": verify,
            "highlight": True,
        }
        with desk(index, response_bytes=cap) as ask:
            answers = list(pages(ask, transport, "search", **asked))
    joined = [result for answer in answers for result in answer.body["results"]]
    assert joined == [shortened(*each) for each in zip(joined, wanted, strict=True)]
    assert [answer.body["truncated"] for answer in answers] == [True] * (len(answers) - 1) + [False]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("title", [None, "t" * 1_500])
def test_links_and_titles_count(tmp_path: Path, transport: str, title: str | None) -> None:
    base = f"https://e.example/{'p' * 1_500}/"
    documents = [Document.from_text(f"{base}{at}", f"valve {at}", title=title) for at in range(40)]
    with Collection.open(tmp_path / "default") as collection:
        collection.add(documents)
    with desk(tmp_path, response_bytes=20_000) as ask:
        answers = list(pages(ask, transport, "search", query="valve", top_k=40))
    joined = [result for answer in answers for result in answer.body["results"]]
    assert {result["link"] for result in joined} == {f"{base}{at}" for at in range(40)}
    if transport == "mcp":
        for answer in answers:
            (result,) = [answer.response.json()["result"]]
            links = [block["uri"] for block in result["content"] if block["type"] != "text"]
            assert links == [each["link"] for each in answer.body["results"]]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_passage_with_many_copies_does_not_hide_the_others(
    tmp_path: Path, transport: str
) -> None:
    named = {f"{at}.md": "All rights reserved by the valve company.\n" for at in range(150)}
    index = library(tmp_path, named | {"useful.md": "How the valve company works.\n"})
    with desk(index, response_bytes=20_000) as ask:
        answers = list(pages(ask, transport, "search", query="valve company"))
    joined = [result for answer in answers for result in answer.body["results"]]
    assert len(joined) == 2
    assert "docs/useful.md" in {result["citation"]["source"] for result in joined}


@pytest.fixture
def long(tmp_path: Path) -> Iterator[Desk]:
    """Forty passages that fill several pages."""
    index = library(tmp_path, {f"{at}.md": f"valve {at} {'word ' * 150}\n" for at in range(40)})
    with desk(index, response_bytes=10_000) as ask:
        yield ask


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("kind", ["another generation", "another collection"])
def test_a_cursor_is_stale_once_the_collection_has_changed(
    long: Desk, tmp_path: Path, transport: str, kind: str
) -> None:
    asked = {"query": "valve", "top_k": 40}
    cursor = long(transport, "search", **asked).ok["next_cursor"]
    if kind == "another generation":
        library(tmp_path, {"new.md": "A new valve.\n"})
    else:
        shutil.rmtree(tmp_path / "index")
        write(tmp_path / "docs", {f"{at}.md": "A valve.\n" for at in range(10)})
        library(tmp_path, {})
    assert long(transport, "search", **asked, cursor=cursor).code == "stale_cursor"
    assert long(transport, "search", **asked).code == "ok"


OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "valves", "top_k": 40}),
    ("search", {"query": "valve", "top_k": 39}),
    ("search", {"query": "valve", "top_k": 40, "highlight": True}),
    ("search", {"query": "valve", "top_k": 40, "where": {"key": "source", "prefix": "docs/1"}}),
    ("fetch_chunk", {"chunk_id": "x"}),
    ("list_collections", {}),
]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_cursor_belongs_to_its_operation_and_arguments(long: Desk, transport: str) -> None:
    cursor = long(transport, "search", query="valve", top_k=40).ok["next_cursor"]
    for operation, arguments in OTHERS:
        assert long(transport, operation, **arguments, cursor=cursor).code == "invalid_request"


def code_of(request: SearchRequest, good: AfterResult | None) -> str:
    """The code that reading a request's cursor ends with; `ok` is for the good one alone."""
    try:
        return "ok" if read_cursor(AfterResult, request) == good else "another place"
    except ServiceError as error:
        return error.code


def test_a_changed_cursor_is_refused(long: Desk) -> None:
    asked: dict[str, Any] = {"query": "valve", "top_k": 40}
    cursor = long("rest", "search", **asked).ok["next_cursor"]
    good = read_cursor(AfterResult, SearchRequest(**asked, cursor=cursor))
    for at in range(len(cursor)):
        changed = [cursor[:at] + other + cursor[at + 1 :] for other in ALPHABET]
        codes = {code_of(SearchRequest(**asked, cursor=each), good) for each in changed}
        # The last character may hold bits that stand for nothing.
        assert codes == {"ok", "invalid_request"}
        assert long("rest", "search", **asked, cursor=cursor[:at]).code == "invalid_request"


@settings(deadline=None, max_examples=60)
@given(cursor=st.text(max_size=40) | st.binary(max_size=300).map(lambda raw: raw.hex()))
@example(cursor="A" * 1001)
@example(cursor="W1tbW1tbW1tbW1tbW1tbW1tb" * 40)
@example(cursor="bnVsbA")
def test_a_cursor_of_any_text_is_refused(ask: Desk, cursor: str) -> None:
    for operation, arguments in (("search", {"query": "x"}), ("list_collections", {})):
        raw = json.dumps({**arguments, "cursor": cursor}).encode()
        answer = ask.http("POST", f"/v1/{operation}", content=raw, headers=JSON)
        assert answer.json()["error"]["code"] == "invalid_request"
