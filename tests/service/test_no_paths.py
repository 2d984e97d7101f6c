"""No answer holds a path of the machine, whatever goes wrong."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from groundkit_cli.service.errors import service_error
from groundkit_core.embedding import EmbeddingProtocol
from groundkit_core.errors import (
    CollectionCorruptError,
    CollectionError,
    CollectionIncompatibleError,
    CollectionNotFoundError,
    ConfigurationError,
    EmbeddingError,
    GroundkitError,
    SourceError,
)
from groundkit_core.index.collection import Collection
from groundkit_core.testing import InMemoryEmbedder

from tests.service.support import TRANSPORTS, Desk, desk, library, write

Spoil = Callable[[Path], None]
SECRET = "sk-secret-key"


class Failing(InMemoryEmbedder):
    """An embedder whose server tells too much."""

    def embed_now(self, texts: list[str], purpose: Any) -> Any:
        raise EmbeddingError(f"{Path.cwd()}/model: {SECRET}: no {purpose} for {texts}")


def failing_load(_: Collection) -> EmbeddingProtocol:
    raise ConfigurationError(f"embed.model_name: {Path.cwd()}/model is not there ({SECRET})")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the working directory, with a collection that has vectors."""
    place = tmp_path / "telltale"
    write(place / "docs", {"a.md": "# A\n\nA valve.\n\n# B\n\nB valve.\n", "sub/b.md": "valve\n"})
    with Collection.open(place / "index/default", embedder=InMemoryEmbedder()) as collection:
        collection.ingest([place / "docs"])
    monkeypatch.chdir(place)
    return place


def everything(ask: Desk, chunk_id: str) -> Iterator[str]:
    """All that clients can see of each operation: bodies and headers."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "valve", "highlight": True}),
        ("search", {"query": "valve", "mode": "dense"}),
        ("search", {"query": "valve", "mode": "hybrid", "verify": False}),
        ("search", {"query": "valve", "collection": "absent"}),
        ("search", {"query": "valve", "where": {"key": "source", "glob": "*"}}),
        ("fetch_chunk", {"chunk_id": chunk_id, "before": 5, "after": 5}),
        ("fetch_chunk", {"chunk_id": "absent"}),
        ("list_collections", {}),
        ("index_status", {}),
    ]
    for transport in TRANSPORTS:
        for operation, arguments in calls:
            answer = ask(transport, operation, **arguments)
            yield answer.response.text + str(answer.response.headers) + str(answer.body)
    for path in ("/", "/healthz", "/readyz", "/openapi.json", "/absent", "/page/absent"):
        response = ask.http("GET", path)
        yield response.text + str(response.headers)


def flip(index: Path) -> None:
    for file in (index / "default/segments").iterdir():
        file.chmod(0o644)
        content = bytearray(file.read_bytes())
        content[40] ^= 0xFF
        file.write_bytes(content)


def set_meta(key: str, value: object) -> Spoil:
    def spoil(index: Path) -> None:
        with sqlite3.connect(index / "default/collection.db") as database:
            changed = database.execute("UPDATE meta SET value=? WHERE key=?", (value, key))
            assert changed.rowcount == 1
        database.close()

    return spoil


def overwrite(index: Path) -> None:
    (index / "default/collection.db").write_bytes(b"no database " * 1_000)


def sweep(index: Path) -> None:
    shutil.rmtree(index / "default/segments")


def index_is_a_file(index: Path) -> None:
    shutil.rmtree(index)
    index.write_text("")


def root_gone(index: Path) -> None:
    shutil.rmtree(index.parent / "docs")


def root_is_a_file(index: Path) -> None:
    root_gone(index)
    (index.parent / "docs").write_text("")


def sources_lead_out(index: Path) -> None:
    (index.parent / "docs/a.md").unlink()
    (index.parent / "docs/a.md").symlink_to(index / "default/collection.db")


SPOILS: dict[str, Spoil] = {
    "nothing": lambda _: None,
    "flipped": flip,
    "another schema": set_meta("schema", 99),
    "other terms": set_meta("analysis", "other@1"),
    "no database": overwrite,
    "no segments": sweep,
    "no collection": lambda index: shutil.rmtree(index / "default"),
    "no index": shutil.rmtree,
    "an index that is a file": index_is_a_file,
    "no root": root_gone,
    "a root that is a file": root_is_a_file,
    "sources that lead out": sources_lead_out,
}
EMBEDDERS: dict[str, Any] = {
    "good": lambda _: InMemoryEmbedder(),
    "failing": lambda _: Failing(),
    "missing": failing_load,
}


@pytest.mark.parametrize("opened_before", [True, False])
@pytest.mark.parametrize("kind", SPOILS)
def test_what_is_broken_is_told_without_a_path(
    folder: Path, kind: str, opened_before: bool
) -> None:
    index = folder / "index"
    with Collection.open(index / "default") as collection:
        chunk_id = collection.search("valve").results[0].citation.chunk_id
    with desk(index, make_embedder=EMBEDDERS["good"]) as ask:
        if opened_before:
            assert ask("rest", "search", query="valve").ok["results"]
        SPOILS[kind](index)
        for told in everything(ask, chunk_id):
            assert "telltale" not in told
            assert str(folder.parent) not in told
            assert "internal_error" not in told


@pytest.mark.parametrize("kind", EMBEDDERS)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_embedder_that_fails_tells_no_path_and_no_secret(
    folder: Path, kind: str, transport: str
) -> None:
    with desk(folder / "index", make_embedder=EMBEDDERS[kind]) as ask:
        for mode in ("dense", "hybrid"):
            answer = ask(transport, "search", query="valve", mode=mode)
            assert answer.code == ("ok" if kind == "good" else "embedder_failed")
            assert SECRET not in answer.response.text
            assert "telltale" not in answer.response.text
        assert ask(transport, "search", query="valve").ok["results"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CollectionNotFoundError("/telltale"), "collection_not_found"),
        (CollectionCorruptError("/telltale"), "collection_unusable"),
        (CollectionIncompatibleError("/telltale"), "collection_unusable"),
        (CollectionError("/telltale"), "collection_unusable"),
        (SourceError("/telltale"), "collection_unusable"),
        (ConfigurationError("/telltale"), "collection_unusable"),
        (EmbeddingError("/telltale"), "embedder_failed"),
    ],
)
def test_what_may_hold_a_path_goes_to_the_log_alone(error: GroundkitError, code: str) -> None:
    told = service_error(error)
    assert (told.code, told.detail) == (code, str(error))
    assert "telltale" not in told.failure("1").model_dump_json()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_fault_of_ours_is_told_by_its_code_alone(folder: Path, transport: str) -> None:
    def faulty(_: Collection) -> EmbeddingProtocol:
        raise RuntimeError(f"{folder}: {SECRET}")

    with desk(folder / "index", make_embedder=faulty) as ask:
        answer = ask(transport, "search", query="valve", mode="dense")
        assert answer.code == "internal_error"
        assert answer.body["message"] == "the server failed; its log says where"
        assert answer.response.status_code == (500 if transport == "rest" else 200)
        assert ask(transport, "search", query="valve").ok["results"]


def test_sources_are_labels(folder: Path) -> None:
    with desk(folder / "index", roots={"docs": folder / "docs"}) as ask:
        found = ask("rest", "search", query="valve").ok["results"]
    assert {result["citation"]["source"] for result in found} == {"docs/a.md", "docs/sub/b.md"}
    assert {result["verification"]["status"] for result in found} == {"verified"}


@pytest.mark.parametrize("name", ["kb-é", "with space"])
def test_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    index = library(tmp_path / name, {"a.md": "A valve.\n"})
    with desk(index) as ask:
        assert name not in ask("rest", "search", query="valve").response.text
