"""Queries are embedded by the collection's own embedder, which is loaded once."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from groundkit_core.embedding import EmbeddingProtocol, Purpose, Vectors, identity_of
from groundkit_core.errors import EmbeddingError
from groundkit_core.index.collection import Collection
from groundkit_core.testing import InMemoryEmbedder

from tests.service.slow import Held, with_vectors
from tests.service.support import TRANSPORTS, Answer, Desk, desk


class Loads:
    """Makes the embedder whose identity a collection has, and counts how often."""

    def __init__(self, wait: Callable[[], object] = lambda: None) -> None:
        self.made: list[InMemoryEmbedder] = []
        self._wait = wait

    def __call__(self, collection: Collection) -> EmbeddingProtocol:
        self._wait()
        identity = collection.embedding()
        assert identity is not None
        found = InMemoryEmbedder(identity.dimensions, model_name=identity.model_name)
        self.made.append(found)
        return found


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_vectors_are_searched_as_the_library_does(
    tmp_path: Path, transport: str, mode: Any
) -> None:
    index = with_vectors(tmp_path)
    with Collection.open(index / "default", embedder=InMemoryEmbedder()) as collection:
        expected = collection.search("open valve", mode=mode, verify=True).model_dump(mode="json")
    with desk(index, make_embedder=Loads()) as ask:
        assert ask(transport, "search", query="open valve", mode=mode).ok == expected
        status = ask(transport, "index_status").ok
    assert status["modes"] == ["bm25", "dense", "hybrid"]
    assert (status["embedding"], status["vectors"]) == ("inmemory hashed-terms (64 dimensions)", 2)


def test_the_model_is_loaded_once_for_many_calls(tmp_path: Path) -> None:
    index, loads = with_vectors(tmp_path), Loads(lambda: time.sleep(0.05))
    (index / "default").rename(index / "other")
    with_vectors(tmp_path)

    async def many(ask: Desk) -> list[Answer]:
        asked = [
            ask.ask(transport, "search", query="valve", mode="dense", collection=name)
            for name in ("default", "other")
            for transport in TRANSPORTS
            for _ in range(25)
        ]
        return await asyncio.gather(*asked)

    with desk(index, make_embedder=loads) as ask:
        assert {answer.code for answer in ask.run(many(ask))} == {"ok"}
        assert len(loads.made) == 1
        assert loads.made[0].asked == ["valve"] * 100
        ask("rest", "search", query="valve")
        assert len(loads.made[0].asked) == 100


def test_words_are_searched_while_a_model_loads(tmp_path: Path) -> None:
    index, go = with_vectors(tmp_path), threading.Event()
    loads = Loads(lambda: go.wait(20))

    async def beside(ask: Desk) -> Answer:
        slow = asyncio.create_task(ask.ask("rest", "search", query="valve", mode="dense"))
        await asyncio.sleep(0.1)
        assert (await ask.ask("rest", "search", query="valve")).ok["results"]
        assert (await ask.ask("rest", "list_collections")).ok["collections"]
        assert not loads.made
        go.set()
        return await slow

    with desk(index, make_embedder=loads) as ask:
        assert ask.run(beside(ask)).ok["results"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_other_vectors_are_searched_with_their_own_embedder(tmp_path: Path, transport: str) -> None:
    index, loads = with_vectors(tmp_path), Loads()
    asked = {"query": "valve", "mode": "dense"}
    with desk(index, make_embedder=loads) as ask:
        assert ask(transport, "search", **asked).ok["results"]
        other = InMemoryEmbedder(32, model_name="other")
        with Collection.open(index / "default", embedder=other) as collection:
            collection.change_embedder(other)
            expected = collection.search("valve", mode="dense", verify=True)
        assert ask(transport, "search", **asked).ok == expected.model_dump(mode="json")
        assert [made.model_name for made in loads.made] == ["hashed-terms", "other"]


def test_a_query_that_was_embedded_while_the_vectors_changed_is_answered(tmp_path: Path) -> None:
    index, held, other = with_vectors(tmp_path), Held(), InMemoryEmbedder(32, model_name="other")

    def make(collection: Collection) -> EmbeddingProtocol:
        return held if collection.embedding() == identity_of(held) else other

    async def across(ask: Desk) -> Answer:
        asking = asyncio.create_task(ask.ask("rest", "search", query="valve", mode="dense"))
        await asyncio.to_thread(held.holds, 1)
        with Collection.open(index / "default") as collection:
            await asyncio.to_thread(collection.change_embedder, other)
        held.go.set()
        return await asking

    with desk(index, make_embedder=make) as ask:
        answer = ask.run(across(ask))
        assert (answer.code, other.asked[-1]) == ("ok", "valve")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_embedder_that_fails_is_asked_again_by_the_next_query(
    tmp_path: Path, transport: str
) -> None:
    index, broken = with_vectors(tmp_path), [True]

    class Flaky(InMemoryEmbedder):
        def embed_now(self, texts: list[str], purpose: Purpose) -> Vectors:
            if broken[0]:
                raise EmbeddingError("no route to the server")
            return super().embed_now(texts, purpose)

    asked = {"query": "valve", "mode": "hybrid"}
    with desk(index, make_embedder=lambda _: Flaky()) as ask:
        answer = ask(transport, "search", **asked)
        assert answer.code == "embedder_failed"
        assert answer.response.status_code == (502 if transport == "rest" else 200)
        assert ask(transport, "search", query="valve").code == "ok"
        broken[0] = False
        assert ask(transport, "search", **asked).ok["results"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_embedder_with_other_vectors_is_no_fault_of_the_request(
    tmp_path: Path, transport: str
) -> None:
    index = with_vectors(tmp_path)
    with desk(index, make_embedder=lambda _: InMemoryEmbedder(model_name="wrong")) as ask:
        answer = ask(transport, "search", query="valve", mode="dense")
        assert answer.code in ("collection_unusable", "embedder_failed")
        assert "wrong" not in answer.response.text
