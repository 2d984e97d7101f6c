"""Readers beside a writer, in threads, processes and forked children."""

import gc
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from groundkit_core import Collection, Document
from groundkit_core.contracts import SearchMode
from groundkit_core.errors import (
    CollectionCorruptError,
    CollectionNotFoundError,
)
from groundkit_core.index.view import Reader, View
from groundkit_core.retrieval.filters import Condition
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.support import documents, found, places, python, start


def versions(step: int) -> list[Document]:
    return [Document.from_text(f"d{n}", f"marker version{step} part{n}") for n in range(6)]


@contextmanager
def searching(work: Callable[[], None], threads: int = 6) -> Iterator[list[BaseException]]:
    """Threads that do the work over and over; gives what they failed with."""
    stop, failures = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            while not stop.is_set():
                work()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    running = [threading.Thread(target=run) for _ in range(threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in running:
            thread.start()
        yield failures
    finally:
        stop.set()
        for thread in running:
            thread.join(60)
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "opened anew"])
def test_threads_beside_a_writer_each_see_one_generation(shared: bool, tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(versions(0))
    seen: list[tuple[int, frozenset[str]]] = []

    def work() -> None:
        reader = collection if shared else Collection.open(tmp_path / "c")
        response = reader.search("marker", top_k=20)
        texts = {result.content.split()[1] for result in response.results}
        assert len(response.results) == 6
        seen.append((response.generation, frozenset(texts)))
        if not shared:
            reader.close()

    with searching(work, threads=8) as failures:
        writer = Collection.open(tmp_path / "c")
        for step in range(1, 40):
            writer.add(versions(step))
            if step % 15 == 0:
                writer.reindex()

    assert failures == []
    by_generation: dict[int, set[frozenset[str]]] = {}
    for generation, texts in seen:
        by_generation.setdefault(generation, set()).add(texts)
    assert len(by_generation) > 1
    assert all(len(texts) == 1 and len(*texts) == 1 for texts in by_generation.values())


# Commits, merges and compacts; writes down what it gets itself at each generation.
WRITER = """
import json, random, sys
from groundkit_core import Collection, Document
from groundkit_core.failpoints import set_hook
from groundkit_core.index import dense, spaces
from groundkit_core.retrieval.filters import Condition
from groundkit_core.testing import InMemoryEmbedder

path, log, asked = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
dense.GRAPH_FROM = spaces.GRAPH_FROM = 60
collection = Collection.open(path, embedder=InMemoryEmbedder(24))
chance = random.Random(1)


def answers(*_):
    found = []
    for query, mode, even in asked:
        filters = Condition(key="even", equals=True) if even else None
        response = collection.search(query, mode=mode, filters=filters)
        places = [(result.score, result.citation.chunk_id) for result in response.results]
        found.append((response.generation, query, mode, even, places))
    with open(log, "a") as out:
        out.writelines(json.dumps(each) + "\\n" for each in found)


def document(number, step):
    words = " ".join(f"w{chance.randrange(40)}" for _ in range(8))
    return Document.from_text(
        f"d{number}", f"pump {words} at {step}", metadata={"even": number % 2 == 0}
    )


collection.add(document(number, 0) for number in range(100))
answers()
set_hook(lambda name: name in ("commit.done", "merge.swapped") and answers())
print("ready", flush=True)
for step in range(1, 22):
    collection.add(document(number, step) for number in chance.sample(range(100), 3))
    answers()
    if step % 7 == 0:
        collection.remove([f"d{step}"])
    if step % 10 == 0:
        collection.compact()
    answers()
"""
MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
ASKED = [
    (query, mode, even)
    for query in ("w1 w2", "pump w7")
    for mode in MODES
    for even in (False, True)
]


@pytest.mark.slow
def test_threads_get_in_every_mode_what_one_thread_gets_at_that_generation(
    tmp_path: Path,
) -> None:
    pytest.importorskip("faiss", reason="vectors are searched by faiss")
    log = tmp_path / "log"
    collection = Collection.open(tmp_path / "c", embedder=InMemoryEmbedder(24))
    seen: list[tuple[int, str, str, bool, list[tuple[float, str]]]] = []

    def work() -> None:
        for query, mode, even in ASKED:
            filters = Condition(key="even", equals=True) if even else None
            response = collection.search(query, mode=mode, filters=filters)
            seen.append((response.generation, query, mode, even, places(response)))

    with start(WRITER, tmp_path / "c", log, json.dumps(ASKED)) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        with searching(work) as failures:
            assert writer.wait(timeout=240) == 0
    assert failures == []
    expected = {
        tuple(asked): [(score, chunk) for score, chunk in found]
        for *asked, found in map(json.loads, log.read_text().splitlines())
    }
    known = [each for each in seen if each[:4] in expected]

    assert [each for each in known if expected[each[:4]] != each[4]] == []
    # The writer has no place to look between the commit of vectors and a merge of theirs.
    assert len(known) > 0.9 * len(seen)
    for mode in MODES:
        assert len({each[0] for each in known if each[2] == mode}) > 10


def test_closing_in_one_thread_breaks_no_other(tmp_path: Path) -> None:
    pytest.importorskip("faiss", reason="vectors are searched by faiss")
    collection = Collection.open(tmp_path / "c", embedder=InMemoryEmbedder(24))
    collection.add(versions(0))
    expected = {mode: places(collection.search("marker part3", mode=mode)) for mode in MODES}
    searches = 0

    def work() -> None:
        nonlocal searches
        for mode in MODES:
            assert places(collection.search("marker part3", mode=mode)) == expected[mode]
        searches += 1

    with searching(work, threads=4) as failures:
        until = time.monotonic() + 2
        while time.monotonic() < until:
            collection.close()
            time.sleep(0.001)
    assert failures == []
    assert searches > 20


def test_a_reader_finds_the_living_in_a_vector_file_that_went_and_came_back(
    tmp_path: Path,
) -> None:
    pytest.importorskip("faiss", reason="vectors are searched by faiss")

    def opened() -> Collection:
        return Collection.open(tmp_path / "c", embedder=InMemoryEmbedder(24))

    reader, writer = opened(), opened()
    texts = {"a": "pump", "b": "valve"}
    writer.add(documents(texts))
    writer.remove(["a"])
    assert found(reader.search("pump", mode="dense")) == ["b"]
    writer.remove(["b"])
    # The same vectors make a file of the same name, in which the other one dies now.
    writer.add(documents(texts))
    writer.remove(["b"])
    assert found(opened().search("pump", mode="dense")) == ["a"]
    assert found(reader.search("pump", mode="dense")) == ["a"]


def test_processes_beside_a_writer_see_whole_generations(tmp_path: Path) -> None:
    path = tmp_path / "c"
    writer = Collection.open(path)
    writer.add(versions(0))
    code = """
    import sys
    from groundkit_core import Collection
    for turn in range(150):
        with Collection.open(sys.argv[1]) as collection:
            response = collection.search("marker", top_k=20)
            texts = {result.content.split()[1] for result in response.results}
            assert (len(response.results), len(texts)) == (6, 1), (response.generation, texts)
    print("done")
    """
    readers = [start(code, path) for _ in range(2)]
    step = 0
    while any(reader.poll() is None for reader in readers):
        step += 1
        writer.add(versions(step))

    assert [reader.communicate()[0].strip() for reader in readers] == ["done", "done"]
    assert step > 1


def test_a_check_beside_a_writer_finds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c"
    writer = Collection.open(path)
    writer.add(versions(0))
    code = """
    import sys
    from groundkit_core import Collection
    for turn in range(100):
        with Collection.open(sys.argv[1]) as collection:
            findings = collection.check()
            assert findings == [], findings
    print("done")
    """
    checker = start(code, path)
    step = 0
    while checker.poll() is None:
        step += 1
        writer.add(versions(step))
        writer.remove(["d1"])

    assert checker.communicate()[0].strip() == "done"


def test_a_forked_child_searches_with_a_connection_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "c"
    Collection.open(path).add(versions(0))
    said = python(
        """
        import os, sys
        from groundkit_core import Collection, Document
        collection = Collection.open(sys.argv[1])
        print(len(collection.search("marker").results), flush=True)
        for turn in range(3):
            child = os.fork()
            if child == 0:
                print(len(collection.search("marker").results), flush=True)
                new = Document.from_text(f"x{turn}", f"marker x{turn}")
                Collection.open(sys.argv[1]).add([new])
                print(len(collection.search("marker").results), flush=True)
                sys.stdout.flush()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            print(len(collection.search("marker").results), flush=True)
        print(collection.check())
        """,
        path,
    )

    assert said.split() == ["6", "6", "7", "7", "7", "8", "8", "8", "9", "9", "[]"]


def test_a_fork_inside_a_query_leaves_the_parent_its_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "c"
    Collection.open(path).add(versions(0))
    said = python(
        """
        import os, sys
        from groundkit_core import Collection
        collection = Collection.open(sys.argv[1])
        passages = collection.passages()
        first = next(passages)
        child = os.fork()
        if child == 0:
            assert len(collection.search("marker").results) == 6
            collection.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(1 + len(list(passages)), len(collection.search("marker").results))
        """,
        path,
    )

    assert said == "6 6"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors in /proc")
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(versions(0))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "collection.db").write_bytes(b"garbage" * 1000)
    gc.collect()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with Collection.open(tmp_path / "c") as reader:
            reader.search("marker")
        with suppress(CollectionCorruptError):
            Collection.open(tmp_path / "bad").search("marker")
        with suppress(CollectionNotFoundError):
            Collection.open(tmp_path / "none").search("marker")

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_query_begins_again_as_often_as_a_writer_sweeps_what_it_needs(
    collection: Collection,
) -> None:
    collection.add([Document.from_text("a", "pump")])
    reader = Reader(collection.path)
    seen: list[int] = []

    def swept(view: View) -> list[int]:
        seen.append(view.contents.manifest.generation)
        if len(seen) < 5:
            collection.add([Document.from_text(f"b{len(seen)}", "valve")])
            raise FileNotFoundError(2, "No such file", "gone.vec")
        return seen

    first = collection.info().generation
    assert reader.run(swept) == [first, first + 1, first + 2, first + 3, first + 4]


def test_a_file_that_the_newest_generation_lacks_is_missing(collection: Collection) -> None:
    collection.add([Document.from_text("a", "pump")])
    tries: list[int] = []

    def lost(view: View) -> None:
        tries.append(view.contents.chunks)
        raise FileNotFoundError(2, "No such file", "gone.vec")

    with pytest.raises(CollectionCorruptError, match=r"^gone\.vec: the segment file is missing$"):
        Reader(collection.path).run(lost)
    assert tries == [1]
