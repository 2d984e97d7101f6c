"""One writer at a time."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_core import Collection, GroundkitError
from groundkit_core.errors import CollectionLockedError
from groundkit_core.index.lock import writer_lock

from tests.core.index.support import documents, found, start, write

HOLD = """
import sys
from groundkit_core import Collection
def progress(done, total, added):
    print("holding", flush=True)
    sys.stdin.read()
Collection.open(sys.argv[1]).ingest([sys.argv[2]], progress=progress)
"""


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": "pump"})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.add(documents({"b": "valve"}))
    holder = start(HOLD, collection.path, docs)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    writes: dict[str, Callable[[], object]] = {
        "add": lambda: collection.add(documents({"c": "hose"}), lock_timeout=0.1),
        "ingest": lambda: collection.ingest([docs], lock_timeout=0.1),
        "remove": lambda: collection.remove(["b"], lock_timeout=0.1),
        "reindex": lambda: collection.reindex(lock_timeout=0.1),
        "compact": lambda: collection.compact(lock_timeout=0.1),
        "delete": lambda: collection.delete(lock_timeout=0.1),
    }
    try:
        for write_ in writes.values():
            began = time.monotonic()
            with pytest.raises(CollectionLockedError, match=rf"process {holder.pid} on .*0\.1 s"):
                write_()
            assert time.monotonic() - began < 2
        assert found(collection.search("valve")) == ["b"]
    finally:
        holder.communicate("")
    assert holder.returncode == 0
    assert len(collection.search("pump valve").results) == 2


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": "pump"})
    collection = Collection.open(tmp_path / "index" / "c")
    holder = start(HOLD, collection.path, docs)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    threading.Timer(0.3, lambda: holder.communicate("")).start()
    collection.add(documents({"b": "pump too"}), lock_timeout=30)

    assert sorted(found(collection.search("pump"))) == ["b", "docs/a.md"]
    assert not (collection.path / "writer.json").exists()


def test_a_killed_writer_holds_nothing(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": "pump"})
    collection = Collection.open(tmp_path / "index" / "c")
    holder = start(HOLD, collection.path, docs)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    holder.kill()
    holder.communicate()
    collection.add(documents({"b": "pump"}), lock_timeout=1)

    assert found(collection.search("pump")) == ["b"]


def test_threads_write_one_after_another(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def add(number: int) -> None:
        try:
            Collection.open(tmp_path / "c").add(documents({f"d{number}": f"pump {number}"}))
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    collection = Collection.open(tmp_path / "c")

    assert failures == []
    assert len(collection.search("pump").results) == 8
    assert collection.check() == []


def test_two_processes_that_create_one_collection_both_succeed(tmp_path: Path) -> None:
    path = tmp_path / "index" / "c"
    code = """
    import sys
    from groundkit_core import Collection
    Collection.open(sys.argv[1]).ingest([sys.argv[2]])
    """
    folders = [write(tmp_path / f"docs{n}", {"a.md": f"pump {n}"}) for n in range(3)]
    children = [start(code, path, folder) for folder in folders]
    for child in children:
        child.communicate()

    assert [child.returncode for child in children] == [0, 0, 0]
    assert len(Collection.open(path).search("pump").results) == 3


def test_a_writer_whose_collection_was_deleted_while_it_waited_makes_it_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "c"
    Collection.open(path).add(documents({"a": "pump"}))
    outcome: list[object] = []

    def wait() -> None:
        try:
            outcome.append(Collection.open(path).add(documents({"b": "pump"}), lock_timeout=20))
        except BaseException as error:  # noqa: BLE001
            outcome.append(error)

    waiting = threading.Thread(target=wait)
    with writer_lock(path, 1):
        waiting.start()
        time.sleep(0.5)
        # In one step: the waiting lock makes its file anew in a folder that is emptied bit by bit.
        path.rename(tmp_path / "gone")
    waiting.join()
    (result,) = outcome

    assert not isinstance(result, BaseException) or isinstance(result, GroundkitError), repr(result)
    Collection.open(path).add(documents({"b": "pump"}))
    assert found(Collection.open(path).search("pump")) == ["b"]


@pytest.mark.parametrize("record", ["", "{", "[]", "null", '{"pid": 1}', "\ud800"])
def test_a_damaged_note_of_the_holder_is_no_obstacle(record: str, tmp_path: Path) -> None:
    path = tmp_path / "c"
    Collection.open(path).add(documents({"a": "pump"}))
    with writer_lock(path, 1):
        assert json.loads((path / "writer.json").read_text())["pid"] == os.getpid()
        (path / "writer.json").write_bytes(record.encode("utf-8", "surrogatepass"))
        with pytest.raises(CollectionLockedError, match="is writing"):
            Collection.open(path).add(documents({"b": "pump"}), lock_timeout=0)
