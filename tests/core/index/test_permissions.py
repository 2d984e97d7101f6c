"""Folders that may not be read or written."""

import threading
from pathlib import Path

import pytest
from groundkit_core import Collection, Document

from tests.core.index.support import contents, documents, found, python, unprivileged, write

READ_ONLY = """
import sys
from groundkit_core import Collection
from groundkit_core.errors import GroundkitError
collection = Collection.open(sys.argv[1])
try:
    response = collection.search("pump", verify=True)
    print([(r.citation.source, r.verification.status) for r in response.results])
    print(collection.info().chunks, collection.check())
except GroundkitError as error:
    print(type(error).__name__, error)
"""


def test_a_folder_that_cannot_be_written_can_be_read(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": "pump"})
    path = tmp_path / "index" / "c"
    Collection.open(path).ingest([docs])
    before = contents(path)
    read_only(path)
    try:
        said = unprivileged(READ_ONLY, path)
    finally:
        writable(path)

    assert said.splitlines() == ["[('docs/a.md', 'verified')]", "1 []"]
    assert contents(path) == before


def test_changes_that_a_read_only_reader_cannot_see_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "index" / "c"
    Collection.open(path).ingest([write(tmp_path / "docs", {"a.md": "pump"})])
    left_over(path)
    read_only(path)
    try:
        said = unprivileged(READ_ONLY, path)
    finally:
        writable(path)

    assert said.startswith("CollectionError")
    assert str(path) in said


def left_over(path: Path) -> None:
    """Leave a commit in the write-ahead log, as a killed writer does."""
    python(
        """
        import os, sqlite3, sys
        database = sqlite3.connect(sys.argv[1] + "/collection.db", isolation_level=None)
        database.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
        os._exit(0)
        """,
        path,
    )
    assert (path / "collection.db-wal").stat().st_size > 0


def test_a_left_over_log_is_read_where_the_folder_can_be_written(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump"}))
    collection.close()
    left_over(tmp_path / "c")

    assert Collection.open(tmp_path / "c").search("pump").generation == 2


def test_a_reader_without_write_access_sees_the_owners_next_commit(tmp_path: Path) -> None:
    path = tmp_path / "index" / "c"
    Collection.open(path).add([Document.from_text("a", "pump one")])
    read_only(path)
    ready, go = tmp_path / "ready", tmp_path / "go"
    code = """
    import pathlib, sys, time
    from groundkit_core import Collection
    collection = Collection.open(sys.argv[1])
    first = collection.search("pump")
    pathlib.Path(sys.argv[2]).touch()
    while not pathlib.Path(sys.argv[3]).exists():
        time.sleep(0.01)
    second = collection.search("pump")
    print(*[sorted(r.content for r in response.results) for response in (first, second)])
    """
    said: list[str] = []
    reader = threading.Thread(
        target=lambda: said.append(unprivileged(code, path, ready, go)), daemon=True
    )
    reader.start()
    wait_for(ready, reader)
    writable(path)
    writer = Collection.open(path)
    writer.remove(["a"])
    writer.add([Document.from_text(f"b{n}", f"pump two {n}") for n in range(3)])
    writer.close()
    read_only(path)
    go.touch()
    reader.join(60)
    writable(path)

    assert said == ["['pump one'] ['pump two 0', 'pump two 1', 'pump two 2']"]


def wait_for(path: Path, thread: threading.Thread) -> None:
    while not path.exists() and thread.is_alive():
        thread.join(0.01)


def read_only(path: Path) -> None:
    for folder in (path, path / "segments"):
        folder.chmod(0o555)


def writable(path: Path) -> None:
    for folder in (path, path / "segments"):
        folder.chmod(0o755)


@pytest.mark.parametrize(
    ("hidden", "mode"),
    [("collection.db", 0), ("segments", 0), ("", 0o666), ("", 0), ("segments/*", 0)],
)
def test_what_may_not_be_read_is_an_error_of_ours(hidden: str, mode: int, tmp_path: Path) -> None:
    path = tmp_path / "c"
    Collection.open(path).add(documents({"a": "pump"}))
    for target in list(path.glob(hidden)) if hidden else [path]:
        target.chmod(mode)
    try:
        said = unprivileged(READ_ONLY, path)
    finally:
        for target in [path, *path.glob("*"), *path.glob("*/*")]:
            target.chmod(0o755)

    assert said.startswith("Collection")
    assert str(path) in said


@pytest.mark.parametrize("hidden", ["", "segments", "collection.db"])
def test_what_may_not_be_written_is_an_error_of_ours(hidden: str, tmp_path: Path) -> None:
    path = tmp_path / "c"
    Collection.open(path).add(documents({"a": "pump"}))
    target = path / hidden
    target.chmod(0o555 if target.is_dir() else 0o444)
    code = """
    import sys
    from groundkit_core import Collection, Document
    from groundkit_core.errors import GroundkitError
    try:
        Collection.open(sys.argv[1]).add([Document.from_text("b", "pump")])
    except GroundkitError as error:
        print(type(error).__name__, error)
    """
    try:
        said = unprivileged(code, path)
    finally:
        target.chmod(0o755)

    assert said.startswith("Collection")
    assert found(Collection.open(path).search("pump")) == ["a"]


def test_a_parent_that_may_not_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        said = unprivileged(
            """
            import sys
            from groundkit_core import Collection, Document
            from groundkit_core.errors import GroundkitError
            try:
                Collection.open(sys.argv[1]).add([Document.from_text("b", "pump")])
            except GroundkitError as error:
                print(type(error).__name__, error)
            """,
            tmp_path / "index" / "c",
        )
    finally:
        tmp_path.chmod(0o755)

    assert said.startswith("CollectionError")
