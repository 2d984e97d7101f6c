"""One writer that is killed at random, four readers that check every answer."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from groundkit_core import Collection, Document

from tests.e2e.soak_worker import DOCUMENTS, last_stamp, text

READERS = 4
ROOT = Path(__file__).parents[2]


def start(role: str, collection: Path, log: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.e2e.soak_worker", role, str(collection), str(log)]
    with log.with_suffix(".err").open("ab") as errors:
        return subprocess.Popen(command, cwd=ROOT, stderr=errors)


@pytest.mark.e2e
@pytest.mark.timeout(0)
def test_soak(
    tmp_path: Path, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = pytestconfig.getoption("--soak-seconds")
    path, stamps = tmp_path / "index" / "default", tmp_path / "stamps"
    filed = tmp_path / "filed"
    filed.mkdir()
    (filed / "tower.md").write_text("# Tower\n\nThe lighthouse stands on the cliff.\n")
    with Collection.open(path) as collection:
        collection.ingest([filed])
        collection.add(Document.from_text(f"d{n}", text(f"d{n}", 0)) for n in range(DOCUMENTS))
    readers = [start("read", path, tmp_path / f"reader{n}") for n in range(READERS)]
    writer, kills = start("write", path, stamps), 0
    rng, until = random.Random(1), time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            time.sleep(rng.uniform(0.3, 3.0))
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
    with Collection.open(path) as collection:
        assert collection.check() == []
        (result, *_) = collection.search("common").results
        assert int(result.content.split()[1].removeprefix("stamp")) >= last_stamp(stamps) - 1
        generation, segments = collection.info().generation, collection.info().segments
    searches, growth = 0, 0.0
    for number in range(READERS):
        lines = [line.split() for line in (tmp_path / f"reader{number}").read_text().splitlines()]
        searches += int(lines[-1][0])
        early, late = int(lines[len(lines) // 4][1]), int(lines[-1][1])
        growth = max(growth, late / early)
    with capsys.disabled():
        print(
            f"\nsoak: {seconds} s, writer killed {kills} times, generation {generation}, "
            f"{segments} segments, {searches} searches checked, memory of a reader x {growth:.2f}"
        )
    assert growth < 1.5


def errors(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.glob("*.err"))
