"""What a run removes, and what it must not."""

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.errors import ConfigurationError, GroundkitError, IngestError

from tests.core.index.support import (
    FILES,
    cited,
    found,
    outcomes,
    unprivileged,
    write,
)


def many(docs: Path, number: int) -> None:
    shutil.rmtree(docs)
    write(docs, {f"{'ab'[n % 2]}/{n:02}.md": f"Pump {n}.\n" for n in range(number)})


def lose(docs: Path, number: int, below: str = "") -> None:
    for path in sorted((docs / below).rglob("*.md"))[:number]:
        path.unlink()


@pytest.mark.parametrize(
    ("held", "lost", "guarded"),
    [(20, 10, False), (20, 11, True), (21, 10, False), (21, 11, True), (19, 19, False)],
)
def test_removing_more_than_half_of_twenty_files_is_an_error(
    held: int, lost: int, guarded: bool, docs: Path, collection: Collection
) -> None:
    many(docs, held)
    before = collection.ingest([docs])
    lose(docs, lost)
    if not guarded:
        assert collection.ingest([docs]).count("removed") == lost
        return
    with pytest.raises(IngestError, match=rf"{lost} of {held} files .*--allow-removal"):
        collection.ingest([docs])

    assert collection.info().generation == before.generation
    assert collection.info().documents == held
    kept = collection.ingest([docs], keep_missing=True)
    assert (kept.count("missing"), kept.documents, kept.dropped) == (lost, held, 0)
    removed = collection.ingest([docs], allow_removal=True)
    assert (removed.count("removed"), removed.documents) == (lost, held - lost)


def test_the_guard_counts_a_root_whatever_paths_it_is_given_by(
    docs: Path, collection: Collection
) -> None:
    many(docs, 20)
    collection.ingest([docs])
    lose(docs, 8, "a")
    lose(docs, 8, "b")

    with pytest.raises(IngestError, match="16 of 20"):
        collection.ingest([docs / "a", docs / "b"])
    assert collection.info().documents == 20


def test_a_refused_run_leaves_no_trace(docs: Path, home: Path, collection: Collection) -> None:
    many(docs, 20)
    other = write(home / "other", {"x.md": "Pump x.\n"})
    collection.ingest([docs])
    before = collection.info()
    lose(docs, 20)
    with pytest.raises(IngestError, match="20 of 20"):
        collection.ingest([docs, other])

    assert collection.info().roots == before.roots
    assert collection.info().generation == before.generation


def test_a_first_run_that_is_refused_makes_no_collection(
    home: Path, collection: Collection
) -> None:
    folders = [write(home / name / "docs", {"a.md": "Pump.\n"}) for name in ("x", "y")]
    with pytest.raises(ConfigurationError, match="--root LABEL="):
        collection.ingest(folders)

    assert not collection.exists()


def test_what_is_missing_can_be_kept(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    (docs / "a.md").unlink()
    for _ in range(2):
        report = collection.ingest([docs], keep_missing=True)
        assert outcomes(report) == {"docs/a.md": "missing"}
        assert report.files[0].reason
    response = collection.search("pump", verify=True)

    assert found(response) == ["docs/a.md"]
    assert response.results[0].verification is not None
    assert response.results[0].verification.status == "unresolvable"
    assert outcomes(collection.ingest([docs])) == {"docs/a.md": "removed"}


INGEST = """
import sys
from groundkit_core import Collection
from groundkit_core.errors import GroundkitError
try:
    report = Collection.open(sys.argv[1]).ingest(sys.argv[2:])
    print(report.documents, report.unchanged)
    for outcome in report.files:
        print(outcome.source, outcome.status, outcome.reason)
except GroundkitError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_a_folder_that_cannot_be_read_is_not_pruned(
    mode: int, docs: Path, collection: Collection
) -> None:
    collection.ingest([docs])
    (docs / "a.md").unlink()
    (docs / "sub").chmod(mode)
    try:
        said = unprivileged(INGEST, collection.path, docs).splitlines()
    finally:
        (docs / "sub").chmod(0o755)

    assert "docs/a.md removed None" in said
    assert [line for line in said if line.startswith("docs/sub") and "refused unreadable" in line]
    assert said[0].split()[0] == "3"
    assert found(collection.search("hose torque")) == ["docs/sub/c.txt", "docs/sub/deep/d.rst"]


def test_a_root_that_cannot_be_read_is_not_pruned(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    docs.chmod(0)
    try:
        said = unprivileged(INGEST, collection.path, docs).splitlines()
    finally:
        docs.chmod(0o755)

    assert said == ["4 0", "docs refused unreadable folder: Permission denied"]
    assert collection.info().documents == 4


@pytest.mark.parametrize("name", ["b.md", "sub/.gitignore", "sub/.groundkitignore"])
def test_a_file_that_cannot_be_read_stops_nothing(
    name: str, docs: Path, collection: Collection
) -> None:
    write(docs, {name: "# Some text\n"})
    collection.ingest([docs])
    write(docs, {"a.md": "Hydrant.\n"})
    (docs / name).touch()
    (docs / name).chmod(0)
    try:
        said = unprivileged(INGEST, collection.path, docs).splitlines()
    finally:
        (docs / name).chmod(0o644)

    assert "docs/a.md changed None" in said
    assert [line for line in said if "refused" in line and line.endswith("Permission denied")]
    assert said[0].split()[0] == "4"


def test_a_nested_root_that_vanished_is_not_pruned(docs: Path, collection: Collection) -> None:
    collection.ingest([docs / "sub"])
    collection.ingest([docs])
    assert sorted(collection.roots()) == ["docs", "sub"]
    (docs / "sub").rename(docs.parent / "away")
    report = collection.ingest([docs])

    assert outcomes(report) == {"sub": "refused"}
    assert "gone" in (report.files[0].reason or "")
    assert report.documents == 4
    assert sorted(found(collection.search("hose torque"))) == ["sub/c.txt", "sub/deep/d.rst"]


def test_a_vanished_root_is_an_error_and_prunes_nothing(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    docs.rename(docs.parent / "away")
    for allow in (False, True):
        with pytest.raises(IngestError, match="docs"):
            collection.ingest([docs], allow_removal=allow)

    assert collection.info().documents == 4


def test_a_root_that_became_a_file_is_not_pruned(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    shutil.rmtree(docs)
    docs.write_text("A pump, but no folder.\n")
    with suppress(GroundkitError):
        collection.ingest([docs])
    assert collection.info().documents == 4
    assert {c.source for c in cited(collection).values()} == {f"docs/{name}" for name in FILES}
