"""A collection that was used before a fork, and workers that open it themselves."""

import json
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest
from groundkit_core import Collection
from groundkit_core.contracts import SearchMode
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.support import documents, places, python

pytest.importorskip("faiss", reason="vectors are searched by faiss")

Answers = list[list[tuple[float, str]]]

TEXTS = {f"s{n:03}": f"pump w{n} valve w{n % 7} bar w{n % 11}" for n in range(240)}
QUERIES = [f"w{n} pump w{n % 5}" for n in range(0, 240, 30)]
MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# What every child is told first: a hang ends it, and it knows what the answers are.
BEGIN = '''
import json, multiprocessing, os, signal, sys, threading, time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from groundkit_core import Collection, Document
from groundkit_core.testing import InMemoryEmbedder

path, queries = Path(sys.argv[1]), json.loads(sys.argv[2])


def opened():
    return Collection.open(path, embedder=InMemoryEmbedder(32))


def answers(collection):
    return [
        [(result.score, result.citation.chunk_id) for result in response.results]
        for query in queries
        for mode in ("bm25", "dense", "hybrid")
        for response in [collection.search(query, mode=mode)]
    ]


def in_child(work, seconds=20):
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)  # ends the process also while it waits for a lock
        code = 1
        try:
            code = 0 if work() else 3
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


new = """
import sys
from groundkit_core import Collection, Document
source = sys.argv[2]
Collection.open(sys.argv[1]).add([Document.from_text(source, "pump later " + source)])
"""


def later(turn):
    # The writer closes the database, and removes its log if it finds nobody who reads.
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", new, path, turn]) == 0


def follows(collection):
    for turn in ("first", "second", "third"):
        later(turn)
        found = collection.search("later", top_k=100).results
        if turn not in {result.citation.source for result in found}:
            return False
    return True
'''


def opened(path: Path) -> Collection:
    return Collection.open(path, embedder=InMemoryEmbedder(32))


def answers(collection: Collection) -> Answers:
    return [places(collection.search(query, mode=mode)) for query in QUERIES for mode in MODES]


def child(code: str, path: Path, *arguments: str) -> str:
    return python(BEGIN + dedent(code), path, json.dumps(QUERIES), *arguments)


@pytest.fixture(params=["scan", "graph"])
def path(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Two segments of words and of vectors with dead passages; one of vectors may be a graph."""
    if request.param == "graph":
        for module in ("dense", "spaces"):
            monkeypatch.setattr(f"groundkit_core.index.{module}.GRAPH_FROM", 100)
    sources = list(TEXTS)
    with opened(tmp_path / "c") as collection:
        collection.add(documents({source: TEXTS[source] for source in sources[:200]}))
        collection.compact()
        assert collection.info().vector_index == request.param
        collection.add(documents({source: TEXTS[source] for source in sources[200:]}))
        collection.remove(sources[::40])
    yield tmp_path / "c"
    with opened(tmp_path / "c") as collection:
        assert collection.check() == []


@needs_fork
def test_a_forked_child_answers_as_its_parent_who_goes_on(path: Path) -> None:
    said = child(
        """
        collection = opened()
        expected = answers(collection)
        print([in_child(lambda: answers(collection) == expected) for _ in range(3)])
        print(answers(collection) == expected, collection.check())
        """,
        path,
    )
    assert said.splitlines() == ["[0, 0, 0]", "True []"]


@needs_fork
def test_a_pool_of_forked_workers_answers_as_its_parent(path: Path) -> None:
    said = child(
        """
        collection = opened()
        expected = answers(collection)
        signal.alarm(60)


        def work(_):
            return answers(collection) == expected


        with ProcessPoolExecutor(3, multiprocessing.get_context("fork")) as pool:
            print(set(pool.map(work, range(12))), answers(collection) == expected)
        """,
        path,
    )
    assert said == "{True} True"


@needs_fork
def test_a_forked_child_makes_a_connection_of_its_own_and_keeps_it(path: Path) -> None:
    said = child(
        """
        connected = []
        sys.addaudithook(lambda event, _: event == "sqlite3.connect" and connected.append(event))
        collection = opened()
        answers(collection)
        before = len(connected)
        print(before, in_child(lambda: answers(collection) and len(connected) == before + 1))
        """,
        path,
    )
    assert said == "1 0"


@pytest.mark.parametrize("path", ["scan"], indirect=True)
@needs_fork
@pytest.mark.parametrize("held", ["one", "two", "a thread's"])
def test_a_forked_child_sees_what_is_committed_after_its_parent_closed(
    held: str, path: Path
) -> None:
    said = child(
        """
        collection, other = opened(), opened()
        answers(collection)
        held = sys.argv[3]
        done = threading.Event()


        def search_and_wait():
            answers(collection)
            answers_given.set()
            done.wait()


        if held == "two":
            answers(other)
        if held == "a thread's":
            answers_given = threading.Event()
            thread = threading.Thread(target=search_and_wait)
            thread.start()
            answers_given.wait()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            code = 1
            try:
                answers(collection)
                os.read(read, 1)
                code = 0 if follows(collection) else 3
            finally:
                os._exit(code)
        if held == "a thread's":
            done.set()
            thread.join()
        collection.close()
        other.close()
        os.write(write, b"x")
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        path,
        held,
    )
    assert said == "0"


@pytest.mark.slow
@pytest.mark.parametrize("path", ["scan"], indirect=True)
@needs_fork
def test_a_child_forked_while_threads_search_does_not_hang(path: Path) -> None:
    said = child(
        """
        collection = opened()
        del queries[1:]
        expected = answers(collection)
        stop = threading.Event()


        def search():
            while not stop.is_set():
                collection.search(queries[0])


        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        ended = [0]
        while len(ended) <= 100 and not ended[-1]:
            ended.append(in_child(lambda: answers(collection) == expected, 10))
        stop.set()
        for thread in threads:
            thread.join()
        print(set(ended))
        """,
        path,
    )
    assert said == "{0}"


_collection: Collection


@pytest.mark.parametrize("path", ["scan"], indirect=True)
@needs_fork
def test_a_child_forked_while_a_thread_writes_does_not_hang(path: Path) -> None:
    said = child(
        """
        from groundkit_core.index.store import Store
        inside, done = threading.Event(), threading.Event()


        def write():
            store = Store.open_writable(path, None)
            store.connection.create_function("wait", 0, lambda: inside.set() or done.wait(30) or 1)
            store.rows("SELECT wait()")  # SQLite holds the connection's lock meanwhile


        thread = threading.Thread(target=write)
        thread.start()
        inside.wait(10)
        child = os.fork()
        if child == 0:
            os._exit(0)
        ended, until = 0, time.monotonic() + 10
        while not ended and time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.02)
        if not ended:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        print("ended" if ended else "hung")
        done.set()
        thread.join()
        """,
        path,
    )
    assert said.split() == ["ended"]


def _open(path: Path) -> None:
    global _collection
    _collection = opened(path)


def _answer(_: int) -> tuple[int, Answers]:
    return _collection.search("pump").generation, answers(_collection)


def test_spawned_workers_answer_as_one_process_also_after_a_commit(path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, spawn, initializer=_open, initargs=(path,)) as pool:
        for added in ({}, {"new": "pump w30 w60 w90"}):
            with opened(path) as collection:
                collection.add(documents(added))
                expected = (collection.info().generation, answers(collection))
            assert list(pool.map(_answer, range(8), timeout=120)) == [expected] * 8
