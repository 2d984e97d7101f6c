"""Cursors of fetch_chunk lead through a whole document, in both directions."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from groundkit_core.contracts import Document
from groundkit_core.index.collection import Collection
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.service.paging import pages
from tests.service.support import TRANSPORTS, Desk, desk, library

FILLERS = ("plain words ", "泵打开阀门", '"\\\t', "😀 ", "\x01\x02 ")
CAP = 12_000


def passages(folder: Path, source: str) -> list[dict[str, Any]]:
    """Those of a document, in order, as the library has them."""
    with Collection.open(folder / "default") as collection:
        found = next(each for each in collection.passages() if each[0][0].source == source)
    return [
        {"content": content, "citation": citation.model_dump(mode="json"), "cut": False}
        for citation, content in found
    ]


def same_but_cut(shown: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    if not shown["cut"]:
        return shown == whole
    begun = {"content": whole["content"][: len(shown["content"])], "cut": True}
    return len(shown["content"]) < len(whole["content"]) and shown == {**whole, **begun}


@settings(deadline=None, max_examples=20)
@given(
    held=st.lists(
        st.tuples(st.sampled_from(FILLERS), st.integers(0, 30) | st.integers(0, 2_000)),
        min_size=1,
        max_size=25,
    ),
    start=st.integers(0, 24),
    before=st.integers(0, 3) | st.integers(0, 1000),
    after=st.integers(0, 3) | st.integers(0, 1000),
    transport=st.sampled_from(TRANSPORTS),
)
@example(held=[("泵打开阀门", 40)] * 60, start=30, before=1000, after=1000, transport="mcp")
@example(held=[("plain words ", 90)] * 60, start=24, before=1000, after=0, transport="rest")
@example(held=[('"\\\t', 2_000)] * 3, start=1, before=1, after=1, transport="mcp")
@example(held=[("", 0)] * 60, start=0, before=0, after=0, transport="mcp")
def test_from_any_passage_the_whole_document_is_read_once_and_in_order(
    held: list[tuple[str, int]], start: int, before: int, after: int, transport: str
) -> None:
    text = "\n\n".join(
        f"# {at}\n\nvalve {at} {filler * count}" for at, (filler, count) in enumerate(held)
    )
    with TemporaryDirectory() as folder:
        index = library(Path(folder), {"long.md": text, "other.md": "A valve.\n"})
        whole = passages(index, "docs/long.md")
        at = start % len(whole)
        asked = {
            "chunk_id": whole[at]["citation"]["chunk_id"],
            "before": before,
            "after": after,
        }
        with desk(index, response_bytes=CAP) as ask:
            onward = list(pages(ask, transport, "fetch_chunk", **asked))
            back = list(pages(ask, transport, "fetch_chunk", "previous_cursor", **asked))
    bodies = [answer.body for answer in [*reversed(back[1:]), *onward]]
    joined = [passage for body in bodies for passage in body["passages"]]
    assert len(joined) == len(whole)
    assert all(map(same_but_cut, joined, whole))
    assert onward[0].body["passages"][onward[0].body["at"]]["citation"] == whole[at]["citation"]
    first = 0
    for body in bodies:
        last = first + len(body["passages"])
        assert (body["before"], body["after"]) == (first, len(whole) - last)
        assert (body["previous_cursor"] is None, body["next_cursor"] is None) == (
            first == 0,
            last == len(whole),
        )
        assert body["verification"]["status"] == "verified"
        first = last


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_page_has_as_many_passages_as_the_first_was_asked_for(
    tmp_path: Path, transport: str
) -> None:
    text = "\n\n".join(f"# {at}\n\nvalve {at}" for at in range(20))
    index = library(tmp_path, {"long.md": text})
    whole = passages(index, "docs/long.md")
    asked = {"chunk_id": whole[4]["citation"]["chunk_id"], "before": 1, "after": 2}
    with desk(index) as ask:
        onward = list(pages(ask, transport, "fetch_chunk", **asked))
        back = list(pages(ask, transport, "fetch_chunk", "previous_cursor", **asked))
    assert [len(answer.body["passages"]) for answer in onward] == [4, 4, 4, 4, 1]
    assert [len(answer.body["passages"]) for answer in back] == [4, 3]
    assert [answer.body["at"] for answer in onward] == [1, 0, 0, 0, 0]
    assert [answer.body["at"] for answer in back] == [1, 2]
    assert {answer.body["truncated"] for answer in [*onward, *back]} == {False}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_titles_metadata_and_links_count(tmp_path: Path, transport: str) -> None:
    source = f"https://e.example/{'p' * 1_500}"
    text = "\n\n".join(f"valve {at} {'word ' * 150}" for at in range(20))
    given_ = Document.from_text(source, text, title="t" * 3_000, metadata={"note": "n" * 1_000})
    with Collection.open(tmp_path / "default") as collection:
        collection.add([given_])
        first = collection.search("valve 0").results[0].citation.chunk_id
    with desk(tmp_path, response_bytes=25_000) as ask:
        onward = list(pages(ask, transport, "fetch_chunk", chunk_id=first, after=100))
    assert {answer.body["link"] for answer in onward} == {source}
    assert len(onward) > 1


CHANGES = {
    "gone": "",
    "rewritten": "Nothing of it stands.\n",
    "turned round": "\n\n".join(f"# {at}\n\nvalve {at}" for at in reversed(range(20))),
    "longer": "\n\n".join(f"# {at}\n\nvalve {at}" for at in (*range(10), 77, *range(10, 20))),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_cursor_is_stale_once_the_document_has_changed(
    tmp_path: Path, transport: str, change: str
) -> None:
    text = "\n\n".join(f"# {at}\n\nvalve {at}" for at in range(20))
    index = library(tmp_path, {"long.md": text, "other.md": "A valve.\n"})
    asked = {
        "chunk_id": passages(index, "docs/long.md")[5]["citation"]["chunk_id"],
        "before": 2,
        "after": 2,
    }
    with desk(index) as ask:
        page = ask(transport, "fetch_chunk", **asked).ok
        if CHANGES[change]:
            library(tmp_path, {"long.md": CHANGES[change]})
        else:
            (tmp_path / "docs/long.md").unlink()
            library(tmp_path, {})
        for cursor in (page["next_cursor"], page["previous_cursor"]):
            assert ask(transport, "fetch_chunk", **asked, cursor=cursor).code == "stale_cursor"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_cursor_belongs_to_its_passage(folder: Path, ask: Desk, transport: str) -> None:
    known = passages(folder / "index", "docs/pump.md")
    first, second = (each["citation"]["chunk_id"] for each in known[:2])
    cursor = ask(transport, "fetch_chunk", chunk_id=first).ok["next_cursor"]
    for arguments in (
        {"chunk_id": second},
        {"chunk_id": first, "after": 1},
        {"chunk_id": first, "verify": False},
    ):
        answer = ask(transport, "fetch_chunk", **arguments, cursor=cursor)
        assert answer.code == "invalid_request"
    assert ask(transport, "fetch_chunk", chunk_id=first, cursor=cursor).ok["at"] == 0
