"""One writer that is killed at random, four readers whose answers are those of a rebuild."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.contracts import SearchMode
from groundkit_core.testing import InMemoryEmbedder

from tests.e2e import soak_worker
from tests.e2e.soak_worker import ASKED, Held, Places, ask, documents, held_at, last_stamp, step
from tests.note import Note

READERS = 4
JUDGED_AT_LEAST = 0.5
"""Answers a second that have to be compared with a rebuild."""
ROOT = Path(__file__).parents[2]


def start(role: str, collection: Path, log: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.e2e.soak_worker", role, str(collection), str(log)]
    with log.with_suffix(".err").open("ab") as errors:
        return subprocess.Popen(command, cwd=ROOT, stderr=errors)


def opened(path: Path, *, embedding: bool = True) -> Collection:
    return Collection.open(path, embedder=InMemoryEmbedder(16) if embedding else None)


class Judge:
    """Compares the newest answers that readers logged with those of rebuilt collections."""

    def __init__(self, logs: list[Path], filed: Path, scratch: Path) -> None:
        self._logs = dict.fromkeys(logs, 0)
        self._filed = filed
        self._scratch = scratch
        self.judged = 0

    def work(self, until: float) -> None:
        """Judge what is new, as much as there is time for."""
        new: dict[int, list[tuple[SearchMode, bool, Places]]] = {}
        for log, begin in self._logs.items():
            *lines, rest = log.read_bytes()[begin:].split(b"\n") if log.exists() else [b""]
            self._logs[log] += sum(len(line) + 1 for line in lines)
            assert len(rest) < 1 << 20
            for line in lines:
                _, _, stamp, mode, even, found = json.loads(line)
                places = [[(score, id_) for score, id_ in each] for each in found]
                new.setdefault(stamp, []).append((mode, even, places))
        for stamp in sorted(new, key=lambda stamp: -len(new[stamp])):
            if time.monotonic() > until:
                return
            self._judge(stamp, new[stamp])

    def _judge(self, stamp: int, answers: list[tuple[SearchMode, bool, Places]]) -> None:
        for rebuilt in self._candidates(stamp):
            right = {asked: soak_worker.places(ask(rebuilt, *asked)) for asked in ASKED}
            left = [each for each in answers if each[2] != right[each[0], each[1]]]
            self.judged += len(answers) - len(left)
            answers = left
            rebuilt.close()
            if not answers:
                return
        raise AssertionError(f"at stamp {stamp}: {[each[:2] for each in answers]}")

    def _candidates(self, stamp: int) -> Iterator[Collection]:
        """What the collection may be while its beacon bears a stamp."""
        held, (_, written), (removed, _) = held_at(stamp), step(stamp), step(stamp + 1)
        yield self._rebuilt(held, {})
        # Committed, and not embedded yet.
        yield self._rebuilt(
            {source: at for source, at in held.items() if source not in written}, written
        )
        # The next step has removed what it removes.
        yield self._rebuilt(
            {source: at for source, at in held.items() if source not in removed}, {}
        )

    def _rebuilt(self, embedded: Held, others: Held) -> Collection:
        path = self._scratch / "default"
        shutil.rmtree(path, ignore_errors=True)
        with opened(path) as collection:
            collection.ingest([self._filed])
            collection.add(documents(embedded))
        opened(path, embedding=False).add(documents(others))
        return opened(path)


@pytest.mark.e2e
@pytest.mark.timeout(0)
def test_soak(tmp_path: Path, pytestconfig: pytest.Config, note: Note) -> None:
    seconds = pytestconfig.getoption("--soak-seconds")
    path, stamps, filed = tmp_path / "index" / "default", tmp_path / "stamps", tmp_path / "filed"
    filed.mkdir()
    (filed / "tower.md").write_text("The lighthouse stands on the cliff, as stamp0 says.\n")
    with opened(path) as collection:
        collection.ingest([filed])
        collection.add(documents(held_at(0)))
    logs = [tmp_path / f"reader{number}" for number in range(READERS)]
    judge = Judge(logs, filed, tmp_path / "rebuilt")
    readers = [start("read", path, log) for log in logs]
    writer, kills = start("write", path, stamps), 0
    rng, until = random.Random(1), time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            if rng.random() < 0.8:
                wait_for_step(stamps)
            kill = time.monotonic() + rng.uniform(0.1, 3.0)
            judge.work(kill)
            time.sleep(max(0.0, kill - time.monotonic()))
            assert [reader.poll() for reader in readers] == [None] * READERS, errors(tmp_path)
            assert writer.poll() is None, errors(tmp_path)
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            kills += 1
            writer = start("write", path, stamps)
    finally:
        for process in (*readers, writer):
            process.kill()
            process.wait()
    judge.work(time.monotonic() + 10)
    with opened(path) as collection:
        assert collection.check() == []
        collection.embed()
        (beacon, *_) = collection.search(soak_worker.BEACON).results
        assert soak_worker.stamp_of(beacon.content) >= last_stamp(stamps)
        generation, segments = collection.info().generation, collection.info().segments
    searches, growth = 0, 0.0
    for log in logs:
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        searches += lines[-1][0]
        early, late = lines[len(lines) // 4][1], lines[-1][1]
        growth = max(growth, late / early)
    note(
        f"{seconds} s, writer killed {kills} times, {last_stamp(stamps)} steps, "
        f"generation {generation}, {segments} segments, {searches} searches, {judge.judged} "
        f"answers to {len(soak_worker.QUERIES)} queries as of a rebuild, memory of a reader "
        f"x {growth:.2f}"
    )
    assert judge.judged >= JUDGED_AT_LEAST * seconds
    assert last_stamp(stamps) > kills
    assert growth < 1.5


def wait_for_step(stamps: Path) -> None:
    """Wait until the writer has come so far that it takes steps."""
    before, until = last_stamp(stamps), time.monotonic() + 30
    while last_stamp(stamps) == before and time.monotonic() < until:
        time.sleep(0.05)


def errors(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.glob("*.err"))
