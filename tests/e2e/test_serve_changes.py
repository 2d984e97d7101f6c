"""Searches go on while another process changes, deletes and makes a collection."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.e2e.serve_clients import Answer, asking
from tests.e2e.serving import Served, serving

pytestmark = pytest.mark.e2e

DOCUMENTS = 10
WARM, MEASURED = 20, 60
"""Generations before memory is measured first, and between then and the second time."""
PER_GENERATION = 30
TURNS, SPARE = 15, 8
CLIENTS = 4

# A stamp for each line on stdin: all documents are written with it and ingested.
WRITER = """
import sys
from pathlib import Path
from groundkit_core import Collection
documents, index, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for line in sys.stdin:
    stamp = line.strip()
    for at in range(count):
        (documents / f"{at}.md").write_text(f"The valve {at} bears stamp {stamp} today.")
    if stamp.startswith("new"):
        Collection.open(index).delete()
    with Collection.open(index) as collection:
        print(collection.ingest([documents]).generation, flush=True)
"""


class Writer:
    """Another process that commits generations."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def __call__(self, stamp: str) -> int:
        """The generation in which all documents bear a stamp."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{stamp}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def writing(folder: Path) -> Iterator[Writer]:
    """Such a process over a folder of documents, which it fills once."""
    documents, index = folder / "docs", folder / ".groundkit/default"
    documents.mkdir()
    command = [sys.executable, "-c", WRITER, str(documents), str(index), str(DOCUMENTS)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        writer = Writer(process)
        writer("0")
        yield writer
        assert process.stdin
        process.stdin.close()
        assert process.wait(30) == 0


@dataclass(frozen=True, slots=True)
class Size:
    """What a process holds: kilobytes of its own, files, and mapped files that were deleted."""

    private: int
    files: int
    deleted: int

    @classmethod
    def of(cls, server: Served) -> "Size":
        folder = Path(f"/proc/{server.process.pid}")
        status = (folder / "status").read_text().splitlines()
        return cls(
            next(int(line.split()[1]) for line in status if line.startswith("RssAnon")),
            len(list((folder / "fd").iterdir())),
            sum("(deleted)" in line for line in (folder / "maps").read_text().splitlines()),
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """What was seen while generation after generation was committed."""

    answers: list[Answer]
    stamps: dict[int, str]
    sizes: list[Size]


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> Changes:
    folder = tmp_path_factory.mktemp("changes")
    stamps, sizes = {1: "0"}, []
    with (
        writing(folder) as write,
        serving(Shell(folder)) as server,
        asking(server, CLIENTS, {"query": "valve", "top_k": DOCUMENTS}) as askers,
    ):
        askers.more(CLIENTS)
        for stamp in map(str, range(1, WARM + MEASURED + 1)):
            stamps[write(stamp)] = stamp
            askers.more(PER_GENERATION)
            if int(stamp) in (WARM, WARM + MEASURED) and sys.platform == "linux":
                sizes.append(Size.of(server))
        askers.more(CLIENTS)
        return Changes(askers.answers, stamps, sizes)


def test_no_search_fails_while_generations_are_committed(changes: Changes) -> None:
    assert {answer.code for answer in changes.answers} == {"ok"}
    assert {answer.body["generation"] for answer in changes.answers} == changes.stamps.keys()


def test_a_response_holds_passages_of_its_generation_only(changes: Changes) -> None:
    for answer in changes.answers:
        stamp = changes.stamps[answer.body["generation"]]
        assert sorted(answer.contents) == sorted(
            f"The valve {at} bears stamp {stamp} today." for at in range(DOCUMENTS)
        )


def test_a_verdict_is_on_the_file_as_it_was_when_the_search_ran_or_later(changes: Changes) -> None:
    statuses = {
        result["verification"]["status"]
        for answer in changes.answers
        for result in answer.body["results"]
    }
    assert "verified" in statuses
    # A file is empty for a moment while another process writes it.
    assert statuses <= {"verified", "drifted"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process holds")
def test_memory_and_open_files_stay_flat(changes: Changes) -> None:
    before, after = changes.sizes
    assert after.private <= 1.1 * before.private
    assert after.files <= before.files
    assert after.deleted <= before.deleted + CLIENTS


def test_a_collection_deleted_and_made_anew_is_searched_again(tmp_path: Path) -> None:
    with (
        writing(tmp_path) as write,
        serving(Shell(tmp_path)) as server,
        asking(server, 8, {"query": "valve", "top_k": DOCUMENTS}) as askers,
    ):
        askers.more(100)
        before = Size.of(server) if sys.platform == "linux" else None
        for turn in range(TURNS):
            write(f"new{turn}")
            askers.more(20)
        last = askers.more(100)[50:]
        assert {answer.code for answer in last} == {"ok"}
        assert {content.split()[5] for answer in last for content in answer.contents} == {
            f"new{TURNS - 1}"
        }
        assert askers.codes() == {"ok", "collection_not_found"}
        assert server.process.poll() is None
        assert '"traceback"' not in server.log.read_text()
        if before is not None:
            # What is open of the collection that was just deleted may be let go a moment later.
            assert Size.of(server).files <= before.files + SPARE
