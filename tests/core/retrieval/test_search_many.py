"""Many queries at once: each as if asked alone, all from one generation."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection, Document, Retriever, SearchResponse
from groundkit_core.blocking import result_of
from groundkit_core.contracts import SearchMode
from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.errors import CollectionNotFoundError, EmbeddingError, RetrievalError
from groundkit_core.retrieval import search as searching
from groundkit_core.retrieval.diversity import Diversity
from groundkit_core.retrieval.filters import Condition
from groundkit_core.retrieval.legs import Fusion
from groundkit_core.testing import InMemoryEmbedder, MappingReader

from tests.core.index.embedders import FailingEmbedder
from tests.core.index.support import documents, found

pytest.importorskip("faiss", reason="vectors are searched by faiss")

MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
QUERIES = ["pump", "valve seven", "pump", "absent", "bar n3", "茶"]
TEXTS = {f"s{n}": f"pump {'valve ' * (n % 4)}seven bar n{n}" for n in range(12)} | {"t": "茶壶"}


class Counting(InMemoryEmbedder):
    """Keeps the texts of each call."""

    def __init__(self) -> None:
        super().__init__(16)
        self.calls: list[list[str]] = []

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        self.calls.append(texts)
        return await super().embed(texts, purpose=purpose)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    collection = Collection.open(
        tmp_path / "c", embedder=Counting(), reader=MappingReader({**TEXTS})
    )
    collection.add(
        [Document.from_text(s, text, metadata={"n": len(text)}) for s, text in TEXTS.items()]
    )
    return collection


OPTIONS: list[dict[str, Any]] = [
    {},
    {"top_k": 3},
    {"verify": True},
    {"all_copies": True},
    {"filters": Condition(key="n", above=20)},
    {"diversity": Diversity(per_document=1, near_duplicates=0.3)},
    {"fusion": Fusion((2.0, 1.0), 0.2), "top_k": 5},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options) or "plain")
@pytest.mark.parametrize("mode", MODES)
def test_each_response_is_that_of_a_search_alone(
    mode: SearchMode, options: dict[str, Any], collection: Collection
) -> None:
    alone = [collection.search(query, mode=mode, **options) for query in QUERIES]
    assert collection.search_many(QUERIES, mode=mode, **options) == alone
    assert collection.search_many(iter(QUERIES), mode=mode, **options) == alone
    assert any(response.results for response in alone)


@pytest.mark.parametrize("mode", MODES)
def test_a_retriever_answers_many_as_a_collection_does(
    mode: SearchMode, collection: Collection
) -> None:
    asked = Condition(key="n", above=20)
    retriever = Retriever(collection, verify=True)
    responses = result_of(retriever.search_many(QUERIES, top_k=4, mode=mode, filters=asked))
    expected = collection.search_many(QUERIES, top_k=4, mode=mode, filters=asked, verify=True)
    assert responses == expected
    alone = [retriever.search(each, top_k=4, mode=mode, filters=asked) for each in QUERIES]
    assert responses == [result_of(each) for each in alone]


@pytest.mark.parametrize("mode", MODES)
def test_no_query_is_no_response_and_no_embedding(mode: SearchMode, collection: Collection) -> None:
    embedder = collection.embedder
    assert isinstance(embedder, Counting)
    embedder.calls.clear()
    assert collection.search_many([], mode=mode) == []
    assert result_of(Retriever(collection).search_many([], mode=mode)) == []
    assert embedder.calls == []


def test_all_vectors_are_made_in_one_call(collection: Collection) -> None:
    embedder = collection.embedder
    assert isinstance(embedder, Counting)
    embedder.calls.clear()
    collection.search_many(QUERIES, mode="hybrid")
    assert embedder.calls == [QUERIES]
    result_of(Retriever(collection).search_many(QUERIES, mode="dense"))
    assert embedder.calls == [QUERIES] * 2
    collection.search_many(QUERIES)
    assert len(embedder.calls) == 2


@pytest.mark.parametrize(
    "bad", ["", "  ", "x" * 100_000, "a\ud800"], ids=["empty", "blank", "long", "half"]
)
@pytest.mark.parametrize("mode", MODES)
def test_one_query_that_cannot_be_asked_stops_all_before_any_work(
    mode: SearchMode, bad: str, tmp_path: Path
) -> None:
    embedder = Counting()
    collection = Collection.open(tmp_path / "none", embedder=embedder)
    with pytest.raises(RetrievalError, match="the query"):
        collection.search_many(["pump", "valve", bad], mode=mode)
    with pytest.raises(RetrievalError, match="the query"):
        result_of(Retriever(collection).search_many(["pump", bad], mode=mode))
    assert embedder.calls == []


def test_a_broken_embedder_gives_no_half_of_the_responses(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c", embedder=FailingEmbedder(at=2))
    collection.add(documents(TEXTS))
    with pytest.raises(EmbeddingError, match="went away"):
        collection.search_many(QUERIES, mode="hybrid")


def test_many_queries_of_a_missing_collection_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(CollectionNotFoundError):
        Collection.open(tmp_path / "none").search_many(QUERIES)


def test_all_come_from_one_generation_while_a_writer_commits(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer commits after each single answer."""
    before = [collection.search(query) for query in QUERIES]
    writer, turn = Collection.open(collection.path), itertools.count()
    plain = searching.search

    def search_and_commit(*arguments: Any) -> SearchResponse:
        response = plain(*arguments)
        writer.add(documents({f"new{next(turn)}": "pump valve seven bar", "s1": "pump gone"}))
        return response

    monkeypatch.setattr(searching, "search", search_and_commit)
    during = collection.search_many(QUERIES)
    monkeypatch.undo()
    assert during == before
    (generation,) = {response.generation for response in during}
    after = collection.search_many(QUERIES)
    assert {response.generation for response in after} == {generation + len(QUERIES)}
    assert len(found(after[0])) > 0
    assert after != before


def test_queries_are_taken_one_by_one_and_may_be_made_as_they_are_asked(
    collection: Collection,
) -> None:
    def made() -> Iterator[str]:
        for number in range(200):
            yield f"pump n{number % 12}"

    responses = collection.search_many(made(), top_k=1)
    assert [found(response) for response in responses] == [[f"s{n % 12}"] for n in range(200)]
