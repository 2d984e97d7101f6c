"""Search by vectors from threads, children, running loops and folders one may only read."""

import asyncio
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from groundkit_core import Collection, Retriever
from groundkit_core.contracts import SearchMode
from groundkit_core.embedding import Purpose, Vectors
from groundkit_core.errors import RetrievalError
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.support import documents, found, places, unprivileged

pytest.importorskip("faiss", reason="vectors are searched by faiss")

TEXTS = {f"s{n:03}": f"pump w{n} valve w{n % 7} bar w{n % 11}" for n in range(300)}
QUERIES = [f"w{n} pump w{n % 5}" for n in range(24)]
MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")


def opened(path: Path) -> Collection:
    return Collection.open(path, embedder=InMemoryEmbedder(64))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "c"
    for first in range(0, 300, 100):
        part = dict(list(TEXTS.items())[first : first + 100])
        opened(path).add(documents(part))
    opened(path).remove(["s001", "s100", "s299"])
    return path


def answers(collection: Collection) -> list[list[tuple[float, str]]]:
    return [places(collection.search(query, mode=mode)) for query in QUERIES for mode in MODES]


def test_eight_threads_get_the_answers_of_one(path: Path) -> None:
    expected = answers(opened(path))
    shared = opened(path)
    with ThreadPoolExecutor(8) as pool:
        tasks = [pool.submit(answers, shared) for _ in range(16)]
        assert all(task.result(timeout=120) == expected for task in tasks)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_the_answers_of_its_parent(path: Path) -> None:
    collection = opened(path)
    expected = answers(collection)
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if answers(collection) == expected else 3)
            finally:
                os._exit(4)
        assert ended(child, seconds=60) == 0
    assert answers(collection) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_after_threads_searched_gets_them_too(path: Path) -> None:
    collection = opened(path)
    with ThreadPoolExecutor(4) as pool:
        expected = next(iter(pool.map(answers, [collection] * 4)))
    child = os.fork()
    if child == 0:
        try:
            results: list[bool] = []
            threads = [
                threading.Thread(target=lambda: results.append(answers(collection) == expected))
                for _ in range(2)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            os._exit(0 if results == [True, True] else 3)
        finally:
            os._exit(4)
    assert ended(child, seconds=60) == 0


def ended(child: int, seconds: float) -> int:
    """The exit code of a child; one that hangs is killed and gives -1."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


@pytest.mark.parametrize("mode", MODES)
def test_a_blocking_search_works_inside_a_running_loop(mode: SearchMode, path: Path) -> None:
    collection = opened(path)
    expected = places(collection.search("pump w7", mode=mode))

    async def main() -> list[tuple[float, str]]:
        return places(collection.search("pump w7", mode=mode))

    assert asyncio.run(main()) == expected


def test_a_blocking_ingest_works_inside_a_running_loop(tmp_path: Path) -> None:
    async def main() -> int:
        return opened(tmp_path / "c").add(documents({"a": "pump"})).embedded

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize("mode", MODES)
def test_the_retriever_gives_what_the_collection_gives(mode: SearchMode, path: Path) -> None:
    collection = opened(path)

    async def main() -> list[list[tuple[float, str]]]:
        retriever = Retriever(Collection.open(path), embedder=InMemoryEmbedder(64))
        many = [retriever.search(query, mode=mode) for query in QUERIES]
        return [places(response) for response in await asyncio.gather(*many)]

    assert asyncio.run(main()) == [places(collection.search(query, mode=mode)) for query in QUERIES]


def test_a_new_generation_is_seen_in_every_mode(tmp_path: Path) -> None:
    writer, reader = opened(tmp_path / "c"), opened(tmp_path / "c")
    writer.add(documents({"a": "pump"}))
    for mode in MODES:
        assert found(reader.search("pump", mode=mode)) == ["a"]
    writer.add(documents({"b": "pump pump hose"}))
    for mode in MODES:
        assert sorted(found(reader.search("pump", mode=mode))) == ["a", "b"]
    writer.remove(["a"])
    for mode in MODES:
        assert found(reader.search("pump", mode=mode)) == ["b"]
    writer.compact()
    for mode in MODES:
        assert found(reader.search("pump", mode=mode)) == ["b"]


def test_the_first_vectors_are_seen_by_a_reader_that_was_there_before(tmp_path: Path) -> None:
    reader = opened(tmp_path / "c")
    Collection.open(tmp_path / "c").add(documents({"a": "pump"}))
    assert found(reader.search("pump")) == ["a"]
    opened(tmp_path / "c").embed()
    assert found(reader.search("pump", mode="dense")) == ["a"]


def test_where_no_passage_has_a_word_there_are_no_vectors(tmp_path: Path) -> None:
    reader = opened(tmp_path / "c")
    Collection.open(tmp_path / "c").add(documents({"a": "!!!"}))
    assert reader.search("pump").results == ()
    assert opened(tmp_path / "c").embed().wordless == 1
    for collection in (reader, opened(tmp_path / "c")):
        assert collection.embedding() is None
        with pytest.raises(RetrievalError, match="c has no vectors"):
            collection.search("pump", mode="dense")


class Committing(InMemoryEmbedder):
    """Has something done between the making of a query's vector and the search."""

    def __init__(self, path: Path) -> None:
        super().__init__(64)
        self.path = path

    async def embed(self, texts: list[str], *, purpose: Purpose) -> Vectors:
        found = await super().embed(texts, purpose=purpose)
        if purpose == "query":
            writer = opened(self.path)
            await asyncio.to_thread(writer.remove, ["a"])
            await asyncio.to_thread(writer.add, documents({"b": "pump hose"}))
        return found


def test_both_rankings_are_of_the_generation_after_the_vector_was_made(tmp_path: Path) -> None:
    opened(tmp_path / "c").add(documents({"a": "pump", "c": "pump valve"}))
    reader = Collection.open(tmp_path / "c", embedder=Committing(tmp_path / "c"))
    response = reader.search("pump", mode="hybrid")
    assert sorted(found(response)) == ["b", "c"]
    assert response.generation == opened(tmp_path / "c").info().generation
    for result in response.results:
        assert result.components.keys() == {"bm25", "dense"}


def test_no_query_mixes_generations_while_a_writer_commits(tmp_path: Path) -> None:
    def version(n: int) -> dict[str, str]:
        return {f"s{m}": f"pump x{m} v{n}" for m in range(3)}

    opened(tmp_path / "c").add(documents(version(0)))
    stop = threading.Event()
    mixed: list[list[str]] = []
    searches = [0, 0]

    def read(reader: int) -> None:
        with opened(tmp_path / "c") as collection:
            while not stop.is_set():
                results = collection.search("pump", mode="hybrid").results
                texts = [result.content for result in results]
                if len({text.split()[-1] for text in texts}) != 1 or len(texts) != 3:
                    mixed.append(texts)
                searches[reader] += 1

    threads = [threading.Thread(target=read, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    try:
        writer = opened(tmp_path / "c")
        for n in range(1, 25):
            writer.add(documents(version(n)))
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert min(searches) > 10
    assert mixed == []


SEARCH = """
import sys
from groundkit_core import Collection
from groundkit_core.testing import InMemoryEmbedder

collection = Collection.open(sys.argv[1], embedder=InMemoryEmbedder(64))
for mode in ("bm25", "dense", "hybrid"):
    response = collection.search("pump w7", mode=mode)
    print([(result.score, result.citation.chunk_id) for result in response.results])
"""


def test_a_folder_that_one_may_only_read_is_searched_in_every_mode(tmp_path: Path) -> None:
    path = tmp_path / "c"
    opened(path).add(documents(dict(list(TEXTS.items())[:20])))
    expected = [str(places(opened(path).search("pump w7", mode=mode))) for mode in MODES]
    opened(path).close()
    for side in path.glob("collection.db-*"):
        side.unlink()
    before = sorted(path.rglob("*"))
    for folder in (path / "segments", path):
        folder.chmod(0o555)
    try:
        assert unprivileged(SEARCH, path).splitlines() == expected
    finally:
        for folder in (path, path / "segments"):
            folder.chmod(0o755)
    assert sorted(path.rglob("*")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_searching_leaves_no_descriptor_open(path: Path) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def search() -> None:
        with opened(path) as collection:
            collection.search("pump", mode="dense")

            async def main() -> None:
                collection.search("pump", mode="hybrid")

            asyncio.run(main())

    search()
    before = count()
    for _ in range(10):
        search()
    assert count() == before
