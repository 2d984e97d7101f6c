"""Writers that are stopped: the collection stands at a commit, and the next run completes."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from groundkit_core import Citation, Collection, GroundkitError
from groundkit_core.errors import CollectionError
from groundkit_core.failpoints import FAILPOINTS, set_hook
from groundkit_core.index import intake

from tests.core.index.support import documents, found, python, write

Passages = list[list[tuple[Citation, str]]]

OLD = {f"f{n}.md": f"# Page {n}\n\nOld pump {n}.\n\nKept valve {n}.\n" for n in range(9)}
NEW = {
    **{f"f{n}.md": f"# Page {n}\n\nNew hose {n}.\n\nKept valve {n}.\n" for n in range(4)},
    **{f"f{n}.md": OLD[f"f{n}.md"] for n in range(4, 7)},
    "new.md": "A new pump.\n",
}
NOTE = "A pump of its own."


def prepare(home: Path) -> None:
    """A collection of OLD in seven segments, NEW in the folder, and a file that nobody names."""
    docs = write(home / "docs", OLD)
    collection = Collection.open(home / "index" / "c")
    for name in list(OLD)[:6]:
        collection.ingest([docs / name])
    collection.ingest([docs])
    shutil.rmtree(docs)
    write(docs, NEW)
    (home / "index" / "c" / "segments" / "orphan.lex.tmp1").write_bytes(b"left over")


def work(home: Path) -> None:
    collection = Collection.open(home / "index" / "c")
    collection.ingest([home / "docs"])
    collection.ingest([home / "docs"], rehash=True)
    collection.add(documents({"note": NOTE}))
    collection.remove(["note"])
    collection.reindex()
    collection.compact()


def passages(home: Path) -> Passages:
    with Collection.open(home / "index" / "c") as collection:
        return list(collection.passages())


def texts(held: Passages) -> list[str]:
    return [text for document in held for _, text in document]


def assert_whole(home: Path, states: list[list[str]]) -> None:
    """The collection stands at one of the states, and working again completes it."""
    path = home / "index" / "c"
    assert Collection.open(path).check() == []
    assert texts(passages(home)) in states
    work(home)
    assert texts(passages(home)) == states[-1]
    collection = Collection.open(path)
    assert collection.check() == []
    assert len(list((path / "segments").iterdir())) == collection.info().segments == 1
    assert not (path / "writer.json").exists()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("base")
    prepare(home)
    return home


@pytest.fixture(scope="module")
def states(base: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Texts before the work, while the note is there, and after the work."""
    home = tmp_path_factory.mktemp("states") / "home"
    shutil.copytree(base, home)
    before = texts(passages(home))
    Collection.open(home / "index" / "c").ingest([home / "docs"])
    after = texts(passages(home))
    return [before, [*after, NOTE], after]


def reached(home: Path) -> list[str]:
    names: list[str] = []
    set_hook(names.append)
    work(home)
    set_hook(None)
    return names


class Stopped(BaseException):
    """Raised where a test stops a writer."""


def test_a_run_that_raises_anywhere_leaves_a_whole_collection(
    base: Path,
    states: list[list[str]],
    tmp_path: Path,
) -> None:
    shutil.copytree(base, tmp_path / "dry")
    names = reached(tmp_path / "dry")
    assert set(FAILPOINTS) - set(names) <= {"delete.begun"}
    for at in range(0, len(names), 2):
        home = tmp_path / str(at)
        shutil.copytree(base, home)
        left = iter(range(at, -1, -1))

        def stop(name: str, left: Iterator[int] = left) -> None:
            if next(left, 1) == 0:
                raise Stopped(name)

        set_hook(stop)
        with pytest.raises(Stopped):
            work(home)
        set_hook(None)
        assert_whole(home, states)
        shutil.rmtree(home)


def test_a_delete_that_is_stopped_leaves_no_collection(
    base: Path, states: list[list[str]], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    shutil.copytree(base, home)

    def stop(name: str) -> None:
        if name == "delete.begun":
            raise Stopped

    set_hook(stop)
    with pytest.raises(Stopped):
        Collection.open(home / "index" / "c").delete()
    set_hook(None)
    fresh = Collection.open(home / "index" / "c")

    assert not fresh.exists()
    fresh.ingest([home / "docs"])
    assert texts(passages(home)) == states[-1]
    assert fresh.check() == []
    assert {path.name for path in (home / "docs").iterdir()} == set(NEW)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, BrokenPipeError])
@pytest.mark.parametrize("files", [1, 5, 12])
def test_an_exception_of_the_progress_callback_comes_through_and_the_next_run_completes(
    error: type[BaseException], files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "_BATCH_FILES", 4)
    docs = write(tmp_path / "docs", {f"{n:02}.md": f"pump {n}" for n in range(12)})
    collection = Collection.open(tmp_path / "index" / "c")

    def progress(done: int, total: int, added: int) -> None:
        assert (total, added) == (12, done // 4 * 4)
        if done == files:
            raise error

    with pytest.raises(error):
        collection.ingest([docs], progress=progress)
    assert collection.info().documents == files // 4 * 4
    assert collection.check() == []
    report = collection.ingest([docs])

    assert (report.count("indexed"), report.documents) == (12 - files // 4 * 4, 12)
    assert len(collection.search("pump", top_k=20).results) == 12


def test_ctrl_c_in_a_process_keeps_the_last_commit(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {f"{n}.md": f"pump {n}" for n in range(5)})
    path = tmp_path / "index" / "c"
    Collection.open(path).ingest([docs])
    write(docs, {f"{n}.md": f"valve {n}" for n in range(5)})
    said = python(
        """
        import os, signal, sys
        from groundkit_core import Collection
        def progress(done, total, added):
            if done == 3:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            Collection.open(sys.argv[1]).ingest([sys.argv[2]], progress=progress)
        except KeyboardInterrupt:
            print("interrupted")
        """,
        path,
        docs,
    )
    collection = Collection.open(path)

    assert said == "interrupted"
    assert len(collection.search("pump").results) == 5
    assert collection.ingest([docs]).count("changed") == 5
    assert found(collection.search("pump")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits a file's size by setrlimit")
@pytest.mark.parametrize("limit", [1_000, 40_000, 150_000])
def test_a_full_disk_is_an_error_of_ours_and_loses_nothing(limit: int, tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": "pump"})
    path = tmp_path / "index" / "c"
    Collection.open(path).ingest([docs])
    write(docs, {f"{n}.md": " ".join(f"valve{n}x{m}" for m in range(2000)) for n in range(10)})
    said = python(
        """
        import resource, sys
        from groundkit_core import Collection
        from groundkit_core.errors import GroundkitError
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
        try:
            Collection.open(sys.argv[1]).ingest([sys.argv[2]])
        except GroundkitError as error:
            print(type(error).__name__, error)
        """,
        path,
        docs,
        limit,
    )
    collection = Collection.open(path)

    assert said.startswith("CollectionError")
    assert collection.check() == []
    assert found(collection.search("pump")) == ["docs/a.md"]
    assert collection.ingest([docs]).count("indexed") == 10
    assert not list(path.glob("segments/*.tmp*"))


def test_a_missing_source_in_remove_leaves_everything(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump", "b": "pump too"}))
    with pytest.raises(GroundkitError, match="zzz"):
        collection.remove(["a", "zzz"])

    assert collection.info().documents == 2
    assert collection.info().generation == 1


def test_documents_that_fail_midway_leave_everything(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump"}))

    def failing() -> Iterator[object]:
        yield from documents({"b": "pump too"})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        collection.add(failing())  # type: ignore[arg-type]
    assert found(collection.search("pump")) == ["a"]


def test_foreign_files_beside_the_segments_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "c" / "segments", {"mine.txt": "my notes", "folder/mine.txt": "more"})
    collection = Collection.open(tmp_path / "c")
    with suppress(CollectionError):
        collection.add(documents({"a": "pump"}))
    assert (tmp_path / "c" / "segments" / "mine.txt").read_text() == "my notes"
    assert (tmp_path / "c" / "segments" / "folder" / "mine.txt").read_text() == "more"
