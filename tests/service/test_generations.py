"""The process follows what happens to its collections."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_core.index.collection import Collection

from tests.cli.shell import Shell
from tests.service.support import TRANSPORTS, Answer, Desk, desk, library, write


def sources(answer: Answer) -> list[str]:
    return sorted(result["citation"]["source"] for result in answer.ok["results"])


def until(ask: Desk, passed: Callable[[Answer], bool]) -> Answer:
    """The first answer to a search that passes; what is checked beside it takes a moment."""
    end = time.monotonic() + 10
    while not passed(answer := ask("rest", "search", query="valve")):
        assert time.monotonic() < end, answer
        time.sleep(0.02)
    return answer


def damage(index: Path) -> None:
    """Change the last byte of every segment file: no open notices that."""
    for file in (index / "default/segments").iterdir():
        file.chmod(0o644)
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 0xFF]))


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_new_generation_is_searched_by_the_next_query(tmp_path: Path, transport: str) -> None:
    index = library(tmp_path, {"a.md": "A valve.\n"})
    with desk(index) as ask:
        for at in range(3):
            before = ask(transport, "search", query="valve").ok["generation"]
            library(tmp_path, {f"new{at}.md": f"Valve number {at}.\n"})
            found = ask(transport, "search", query="valve")
            assert f"docs/new{at}.md" in sources(found)
            assert found.body["generation"] == before + 1
            status = ask(transport, "index_status").ok
            assert (status["generation"], status["documents"]) == (before + 1, at + 2)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_collection_that_is_deleted_is_not_found_and_one_that_is_made_anew_is(
    tmp_path: Path, transport: str
) -> None:
    index = library(tmp_path, {"a.md": "A valve.\n"})
    with desk(index) as ask:
        chunk_id = ask(transport, "search", query="valve").ok["results"][0]["citation"]["chunk_id"]
        shutil.rmtree(index / "default")
        for operation, arguments in (
            ("search", {"query": "valve"}),
            ("fetch_chunk", {"chunk_id": chunk_id}),
            ("index_status", {}),
        ):
            assert ask(transport, operation, **arguments).code == "collection_not_found"
        assert ask(transport, "list_collections").ok["collections"] == []
        assert ask.http("GET", "/readyz").status_code == 503
        assert ask.http("GET", "/healthz").status_code == 200
        assert not (index / "default").exists()
        shutil.rmtree(tmp_path / "docs")
        library(tmp_path, {"b.md": "Another valve.\n"})
        assert sources(ask(transport, "search", query="valve")) == ["docs/b.md"]
        assert ask(transport, "fetch_chunk", chunk_id=chunk_id).code == "chunk_not_found"
        assert ask.http("GET", "/readyz").json() == {"status": "ready"}


def test_a_collection_that_is_swapped_is_searched_at_once(tmp_path: Path) -> None:
    index = library(tmp_path / "one", {"a.md": "A valve.\n"})
    other = library(tmp_path / "two", {"b.md": "Another valve.\n"})
    with desk(index) as ask:
        for _ in range(4):
            assert sources(ask("rest", "search", query="valve")) == ["docs/a.md"]
        (index / "default").rename(tmp_path / "old")
        (other / "default").rename(index / "default")
        for _ in range(8):
            assert sources(ask("rest", "search", query="valve")) == ["docs/b.md"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_damaged_file_is_noticed_and_a_repaired_collection_is_searched_again(
    tmp_path: Path, transport: str
) -> None:
    index = library(tmp_path, {f"{at}.md": f"Valve {at}.\n" for at in range(5)})
    damage(index)
    with desk(index) as ask:
        until(ask, lambda answer: answer.code == "collection_unusable")
        answer = ask(transport, "search", query="valve")
        assert answer.code == "collection_unusable"
        assert answer.body["message"] == "the collection cannot be used; the server's log says more"
        listed = ask(transport, "list_collections").ok
        assert [each["name"] for each in listed["unusable"]] == ["default"]
        assert ask.http("GET", "/readyz").status_code == 503
        with Collection.open(index / "default") as collection:
            assert collection.repair()
        assert len(ask(transport, "search", query="valve").ok["results"]) == 5
        assert ask.http("GET", "/readyz").status_code == 200


def test_damage_that_a_new_generation_brings_is_noticed(tmp_path: Path) -> None:
    index = library(tmp_path, {"a.md": "A valve.\n"})
    with desk(index) as ask:
        until(ask, lambda answer: answer.code == "ok")
        library(tmp_path, {"b.md": "Another valve.\n"})
        damage(index)
        until(ask, lambda answer: answer.code == "collection_unusable")
        shutil.rmtree(index / "default")
        library(tmp_path, {})
        assert len(ask("rest", "search", query="valve").ok["results"]) == 2


def test_other_collections_are_searched_beside_a_damaged_one(tmp_path: Path) -> None:
    index = library(tmp_path, {"a.md": "A valve.\n"})
    library(tmp_path, {}, name="sound")
    damage(index)
    with desk(index) as ask:
        until(ask, lambda answer: answer.code == "collection_unusable")
        assert len(ask("rest", "search", query="valve", collection="sound").ok["results"]) == 1


def test_searches_are_answered_while_another_process_ingests(grk: Shell) -> None:
    index = library(grk.folder, {"a.md": "A valve.\n"})
    many = {f"new/{at}.md": f"# {at}\n\nValve number {at}.\n" for at in range(400)}
    write(grk.folder / "docs", many)
    seen = set()
    with desk(index) as ask, grk.start("ingest", "docs", "--index-dir", str(index)) as process:
        while process.poll() is None:
            answer = ask("rest", "search", query="valve", verify=False)
            seen.add((answer.ok["generation"], len(answer.body["results"])))
        process.communicate()
        assert process.returncode == 0
        final = ask("rest", "search", query="valve").ok["generation"]
        assert ask("rest", "index_status").ok["documents"] == 401
    assert min(seen) == (1, 1)
    assert {found for generation, found in seen if generation > 1} <= {10}
    assert final > 1
