"""Vectors of one embedder are never compared with those of another, and all change at once."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from groundkit_core import Collection, Retriever, SearchResponse
from groundkit_core.blocking import result_of
from groundkit_core.contracts import SearchMode
from groundkit_core.embedding import EmbeddingIdentity, Purpose, Vectors, identity_of
from groundkit_core.errors import (
    CollectionIncompatibleError,
    CollectionNotFoundError,
    EmbeddingError,
    RetrievalError,
)
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.embedders import FailingEmbedder
from tests.core.index.support import documents, found, places

pytest.importorskip("faiss", reason="vectors are searched by faiss")

TEXTS = {f"s{n:02}": f"pump w{n} valve w{n * n}" for n in range(70)}
"""Three batches: 32, 32 and 6 texts."""


class OtherProvider(InMemoryEmbedder):
    provider = "elsewhere"


OTHERS = {
    "model": InMemoryEmbedder(16, model_name="other"),
    "provider": OtherProvider(16),
    "dimensions": InMemoryEmbedder(8),
    "document prefix": InMemoryEmbedder(16, document_prefix="d: "),
    "query prefix": InMemoryEmbedder(16, query_prefix="q: "),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Collection.open(tmp_path / "c", embedder=InMemoryEmbedder(16)).add(documents(TEXTS))
    return tmp_path / "c"


def opened(path: Path, embedder: InMemoryEmbedder | None = None) -> Collection:
    return Collection.open(path, embedder=embedder or InMemoryEmbedder(16))


def spaces(path: Path) -> list[tuple[str, int, int]]:
    """Model, whether it is searched, and number of vectors of each space."""
    with closing(sqlite3.connect(path / "collection.db")) as database:
        return [
            (EmbeddingIdentity.model_validate_json(identity).model_name, active, count)
            for identity, active, count in database.execute(
                "SELECT identity, active, (SELECT count(*) FROM vector v WHERE v.space=s.space) "
                "FROM space s ORDER BY space"
            )
        ]


def vec_files(path: Path) -> tuple[int, int]:
    """Vector files that are there, and those that are named."""
    with closing(sqlite3.connect(path / "collection.db")) as database:
        query = "SELECT count(*) FROM segment WHERE kind<>'lexical'"
        (named,) = database.execute(query).fetchone()
    return len(list((path / "segments").glob("*.vec"))), named


@pytest.mark.parametrize(
    ("embedder", "said"),
    [
        (InMemoryEmbedder(16), "inmemory hashed-terms (16 dimensions)"),
        (
            InMemoryEmbedder(8, model_name="m", document_prefix="d: "),
            "inmemory m (8 dimensions, prefixes 'd: ' and '')",
        ),
    ],
    ids=["plain", "prefixed"],
)
def test_an_identity_reads_as_a_phrase(embedder: InMemoryEmbedder, said: str) -> None:
    assert str(identity_of(embedder)) == said


@pytest.mark.parametrize("what", OTHERS)
def test_another_embedder_is_refused_by_a_sentence_that_names_both(what: str, path: Path) -> None:
    other = opened(path, OTHERS[what])
    attempts: list[Callable[[], object]] = [
        lambda: other.add(documents({"new": "hose"})),
        lambda: other.embed(),
        lambda: other.search("pump", mode="dense"),
        lambda: other.search("pump", mode="hybrid"),
        lambda: result_of(Retriever(other).search("pump", mode="dense")),
    ]
    for attempt in attempts:
        with pytest.raises(CollectionIncompatibleError) as caught:
            attempt()
        message = str(caught.value)
        assert str(identity_of(InMemoryEmbedder(16))) in message
        assert str(identity_of(OTHERS[what])) in message
        assert "grk collections reindex c with the --embed options of this one" in message
        assert "\n" not in message
    assert found(other.search("w7"))[0] == "s07"
    assert found(opened(path).search("pump w7", mode="dense"))
    assert other.check() == []


def test_the_query_is_not_sent_to_an_embedder_that_is_refused(path: Path) -> None:
    other = InMemoryEmbedder(16, model_name="other")
    with pytest.raises(CollectionIncompatibleError):
        opened(path, other).search("pump", mode="dense")
    assert other.asked == []


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_collection_without_vectors_says_how_to_get_them(
    mode: SearchMode, tmp_path: Path
) -> None:
    plain = Collection.open(tmp_path / "c")
    plain.add(documents({"a": "pump"}))
    with pytest.raises(RetrievalError, match=r"^mode (dense|hybrid) needs an embedder$"):
        plain.search("pump", mode=mode)
    embedder = InMemoryEmbedder(16)
    with pytest.raises(RetrievalError, match=r"^c has no vectors.*grk ingest PATH --dense$"):
        opened(tmp_path / "c", embedder).search("pump", mode=mode)
    assert embedder.asked == []
    with pytest.raises(CollectionNotFoundError):
        opened(tmp_path / "none", embedder).search("pump", mode=mode)


def dense(path: Path, embedder: InMemoryEmbedder, query: str = "pump w7") -> SearchResponse:
    return opened(path, embedder).search(query, mode="dense")


def test_changing_the_embedder_swaps_all_vectors(path: Path) -> None:
    old, new = InMemoryEmbedder(16), InMemoryEmbedder(8, model_name="new")
    reader = opened(path, old)
    reader.search("pump", mode="dense")
    done = opened(path).change_embedder(new)
    assert done.texts == len(TEXTS)
    assert spaces(path) == [("new", 1, 70)]
    assert opened(path).embedding() == identity_of(new)
    assert opened(path).check() == []
    assert vec_files(path) == (1, 1)
    with pytest.raises(CollectionIncompatibleError):
        reader.search("pump", mode="dense")
    fresh = path.with_name("fresh")
    opened(fresh, InMemoryEmbedder(8, model_name="new")).add(documents(TEXTS))
    for query in ("pump w7", "valve", "w25"):
        assert places(dense(path, new, query)) == places(dense(fresh, new, query))


class Watching(InMemoryEmbedder):
    """Runs something before each batch."""

    def __init__(self, watch: Callable[[], None]) -> None:
        super().__init__(16, model_name="new")
        self.watch = watch

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        if purpose == "document":
            self.watch()
        return await super().embed(texts, purpose=purpose)


def test_readers_see_the_old_vectors_until_the_swap(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundkit_core.index.backfill._COMMIT_AT", 32)
    reader, old = opened(path), InMemoryEmbedder(16)
    before = places(reader.search("pump w7", mode="dense"))
    seen: list[bool] = []

    def watch() -> None:
        seen.append(places(reader.search("pump w7", mode="dense")) == before)
        seen.append(places(dense(path, old)) == before)
        seen.append(opened(path).info().vectors == 70)

    new = Watching(watch)
    opened(path).change_embedder(new)
    assert seen == [True] * 9
    assert opened(path).embedding() == identity_of(new)
    assert reader.embedding() == identity_of(new)


def test_the_swap_is_seen_by_a_reader_that_searches_all_the_while(path: Path) -> None:
    old, new = InMemoryEmbedder(16), InMemoryEmbedder(16, model_name="new")
    fresh = path.with_name("fresh")
    opened(fresh, new).add(documents(TEXTS))
    right = {
        "hashed-terms": places(dense(path, old)),
        "new": places(dense(fresh, new)),
    }
    stop, failures, rounds = threading.Event(), [], [0]

    def read() -> None:
        reader = Collection.open(path)
        while not stop.is_set():
            for embedder in (InMemoryEmbedder(16), InMemoryEmbedder(16, model_name="new")):
                try:
                    response = result_of(
                        Retriever(reader, embedder=embedder).search("pump w7", mode="dense")
                    )
                except CollectionIncompatibleError:
                    continue
                if places(response) != right[embedder.model_name]:
                    failures.append(response)
            rounds[0] += 1
        reader.close()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(4):
            opened(path).change_embedder(InMemoryEmbedder(16, model_name="new"))
            opened(path).change_embedder(InMemoryEmbedder(16))
    finally:
        stop.set()
        thread.join(60)
    assert failures == []
    assert rounds[0] > 3


def test_a_change_that_failed_goes_on_where_it_was(path: Path) -> None:
    failing = FailingEmbedder(2)
    failing.model_name = "new"
    with pytest.raises(EmbeddingError, match=r"^s32: the server went away$"):
        opened(path).change_embedder(failing)
    assert spaces(path) == [("hashed-terms", 1, 70), ("new", 0, 32)]
    assert opened(path).check() == []
    assert len(dense(path, InMemoryEmbedder(16)).results) == 10

    again = InMemoryEmbedder(16, model_name="new")
    assert opened(path).change_embedder(again).texts == 38
    assert again.asked == list(TEXTS.values())[32:]
    assert spaces(path) == [("new", 1, 70)]
    assert vec_files(path)[0] == vec_files(path)[1]
    assert opened(path).check() == []


def test_what_changes_during_a_stopped_change_counts_in_both(path: Path) -> None:
    failing = FailingEmbedder(2)
    failing.model_name = "new"
    with pytest.raises(EmbeddingError):
        opened(path).change_embedder(failing)
    opened(path).remove(["s00", "s69"])
    report = opened(path).add(documents({"late": "hose", "s01": "bolt"}))
    assert report.embedded == 2
    assert opened(path).check() == []
    assert spaces(path) == [("hashed-terms", 1, 69), ("new", 0, 30)]
    assert opened(path).change_embedder(InMemoryEmbedder(16, model_name="new")).texts == 39
    assert spaces(path) == [("new", 1, 69)]
    assert opened(path).check() == []


def test_a_change_to_a_third_drops_one_that_was_stopped(path: Path) -> None:
    failing = FailingEmbedder(2)
    failing.model_name = "new"
    with pytest.raises(EmbeddingError):
        opened(path).change_embedder(failing)
    opened(path).change_embedder(InMemoryEmbedder(16, model_name="third"))
    assert spaces(path) == [("third", 1, 70)]
    assert vec_files(path) == (1, 1)
    assert opened(path).check() == []


def test_a_change_to_the_same_embedder_embeds_nothing(path: Path) -> None:
    same = InMemoryEmbedder(16)
    assert opened(path).change_embedder(same).texts == 0
    assert spaces(path) == [("hashed-terms", 1, 70)]
    assert len(dense(path, same).results) == 10


def test_a_change_makes_vectors_where_there_were_none(tmp_path: Path) -> None:
    plain = Collection.open(tmp_path / "c")
    plain.add(documents(TEXTS))
    assert plain.change_embedder(InMemoryEmbedder(16)).texts == 70
    assert spaces(tmp_path / "c") == [("hashed-terms", 1, 70)]


def test_an_ingest_takes_up_what_a_stopped_change_made(tmp_path: Path) -> None:
    plain = Collection.open(tmp_path / "c")
    plain.add(documents(TEXTS))
    with pytest.raises(EmbeddingError):
        plain.change_embedder(FailingEmbedder(2))
    assert opened(tmp_path / "c").embed().texts == 38
    assert spaces(tmp_path / "c") == [("hashed-terms", 1, 70)]
    assert plain.check() == []


def test_a_change_in_a_missing_collection_makes_none(tmp_path: Path) -> None:
    with pytest.raises(CollectionNotFoundError):
        Collection.open(tmp_path / "c").change_embedder(InMemoryEmbedder(16))
    assert not (tmp_path / "c").exists()


def test_lexical_search_is_the_same_with_and_without_vectors(path: Path, tmp_path: Path) -> None:
    plain = Collection.open(tmp_path / "plain")
    plain.add(documents(TEXTS))
    for query in ("pump", "w7 w49", "valve w3"):
        assert places(opened(path).search(query)) == places(plain.search(query))
    opened(path).change_embedder(InMemoryEmbedder(8, model_name="new"))
    for query in ("pump", "w7 w49", "valve w3"):
        assert places(opened(path).search(query)) == places(plain.search(query))
