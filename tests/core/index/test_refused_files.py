"""Files that cannot be taken: named, never fatal."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.config import MAX_FILE_BYTES
from groundkit_core.failpoints import set_hook

from tests.core.index.support import (
    counts,
    found,
    outcomes,
    write,
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"Pump\0one", "binary"),
        (b"\xff\xfe\x00", "utf-16"),
        (b"\x89PNG pump", "PNG"),
        (b"\xef\xbb\xbfPump \xff", "utf-8"),
    ],
)
def test_a_file_that_is_no_longer_text_takes_its_passages_with_it(
    content: bytes, reason: str, docs: Path, collection: Collection
) -> None:
    collection.ingest([docs])
    write(docs, {"a.md": content})
    report = collection.ingest([docs])

    assert outcomes(report) == {"docs/a.md": "refused"}
    assert reason in (report.files[0].reason or "")
    assert (report.dropped, report.documents) == (1, 3)
    assert found(collection.search("pump")) == []
    again = collection.ingest([docs])
    assert (outcomes(again), again.generation) == (outcomes(report), report.generation)


def test_a_refused_file_that_became_text_is_indexed(docs: Path, collection: Collection) -> None:
    write(docs, {"x.md": b"\0"})
    assert outcomes(collection.ingest([docs]))["docs/x.md"] == "refused"
    write(docs, {"x.md": "Hydrant.\n"})

    assert outcomes(collection.ingest([docs])) == {"docs/x.md": "indexed"}


def test_a_file_that_changes_while_it_is_read_is_refused_and_kept(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs])
    write(docs, {"b.md": "Valve changed.\n"})
    real_fstat, turns = os.fstat, iter(range(1, 100))

    def racing(descriptor: int) -> os.stat_result:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == "b.md" and next(turns) == 2:
            with (docs / "b.md").open("a") as stream:
                stream.write("More.\n")
        return real_fstat(descriptor)

    if not Path("/proc/self/fd").exists():
        pytest.skip("finds a descriptor's file in /proc")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fstat", racing)
        report = collection.ingest([docs])

    assert outcomes(report) == {"docs/b.md": "refused"}
    assert "changed while it was read" in (report.files[0].reason or "")
    assert [r.content for r in collection.search("valve").results] == ["# B\n\nValve two."]
    assert outcomes(collection.ingest([docs])) == {"docs/b.md": "changed"}


def test_a_file_that_vanishes_between_the_walk_and_the_read_is_refused(
    docs: Path, collection: Collection
) -> None:
    def vanish(name: str) -> None:
        if name == "file.read":
            (docs / "b.md").unlink(missing_ok=True)

    set_hook(vanish)
    try:
        report = collection.ingest([docs])
    finally:
        set_hook(None)

    assert outcomes(report)["docs/b.md"] == "refused"
    assert report.count("indexed") == 3


def test_a_file_that_changes_after_the_walk_is_read_again_next_time(
    aged: Callable[[], Path],
) -> None:
    docs = aged()
    collection = Collection.open(docs.parent / "index" / "c")

    def change(name: str) -> None:
        if name == "file.read":
            (docs / "sub" / "c.txt").write_text("Hydrant three.\n")

    set_hook(change)
    try:
        collection.ingest([docs])
    finally:
        set_hook(None)
    assert found(collection.search("hydrant")) == ["docs/sub/c.txt"]
    assert counts(collection.ingest([docs])) == {"unchanged": 4, "read": 1}


def test_one_bad_file_of_each_kind_stops_neither_the_run_nor_its_pruning(
    docs: Path, collection: Collection
) -> None:
    write(docs, {f"good{n}.md": f"Pump {n}.\n" for n in range(20)})
    collection.ingest([docs])
    write(docs, {"nul.md": b"a\0b", "large.md": b"", "good0.md": "Pump changed.\n"})
    os.truncate(docs / "large.md", MAX_FILE_BYTES + 1)
    (docs / "dangling.md").symlink_to("nowhere")
    os.mkfifo(docs / "fifo.md")
    (docs / "good1.md").unlink()
    report = collection.ingest([docs])

    assert {o.source: o.reason for o in report.files if o.status == "refused"} == {
        "docs/nul.md": "binary: it holds NUL bytes",
        "docs/large.md": f"{MAX_FILE_BYTES + 1} bytes, the limit is {MAX_FILE_BYTES}",
        "docs/dangling.md": "dangling link",
        "docs/fifo.md": "not a regular file",
    }
    assert {o.source: o.status for o in report.files if o.status != "refused"} == {
        "docs/good0.md": "changed",
        "docs/good1.md": "removed",
    }


def test_a_file_name_that_is_no_utf_8_is_refused_by_its_escaped_name(
    docs: Path, collection: Collection
) -> None:
    (docs / os.fsdecode(b"caf\xe9.md")).write_text("Pump.\n")
    report = collection.ingest([docs])

    assert outcomes(report)["docs/caf\\xe9.md"] == "refused"
    assert report.count("indexed") == 4


def test_an_empty_file_is_a_document_without_passages(docs: Path, collection: Collection) -> None:
    write(docs, {"empty.md": "", "blank.txt": " \n\n\t\n", "marks.md": "***\n\n---\n"})
    report = collection.ingest([docs])

    assert report.count("indexed") == 7
    assert report.warnings == (
        "docs/blank.txt: it holds no text",
        "docs/empty.md: it holds no text",
    )
    assert collection.ingest([docs]).unchanged == 7
    assert collection.check() == []
