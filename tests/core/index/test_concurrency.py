"""Readers beside a writer, in threads, processes and forked children."""

import gc
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from groundkit_core import Collection, Document
from groundkit_core.errors import (
    CollectionCorruptError,
    CollectionNotFoundError,
)

from tests.core.index.support import python, start


def versions(step: int) -> list[Document]:
    return [Document.from_text(f"d{n}", f"marker version{step} part{n}") for n in range(6)]


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "opened anew"])
def test_threads_beside_a_writer_each_see_one_generation(shared: bool, tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(versions(0))
    seen: list[tuple[int, frozenset[str]]] = []
    failures: list[BaseException] = []
    stop = threading.Event()

    def read() -> None:
        try:
            while not stop.is_set():
                reader = collection if shared else Collection.open(tmp_path / "c")
                response = reader.search("marker", top_k=20)
                texts = {result.content.split()[1] for result in response.results}
                assert len(response.results) == 6
                seen.append((response.generation, frozenset(texts)))
                if not shared:
                    reader.close()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        writer = Collection.open(tmp_path / "c")
        for step in range(1, 40):
            writer.add(versions(step))
            if step % 15 == 0:
                writer.reindex()
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
        sys.setswitchinterval(interval)

    assert failures == []
    by_generation: dict[int, set[frozenset[str]]] = {}
    for generation, texts in seen:
        by_generation.setdefault(generation, set()).add(texts)
    assert len(by_generation) > 1
    assert all(len(texts) == 1 and len(*texts) == 1 for texts in by_generation.values())


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
