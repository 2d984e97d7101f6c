"""Ctrl-C, sent to real processes."""

import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.shell import Shell

FILES = 5000


@pytest.fixture
def many(grk: Shell) -> Shell:
    for number in range(FILES):
        grk.write(f"many/{number:04}.txt", f"Page {number} speaks of valves.\n" * 5)
    return grk


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert process.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def generation(folder: Path) -> int:
    """The collection's generation, -1 where there is none yet."""
    database = folder / "collection.db"
    if not database.exists():
        return -1
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT value FROM meta WHERE key='generation'").fetchall()
            return int(rows[0][0]) if rows else -1
    except sqlite3.OperationalError:
        return -1


def interrupt(process: subprocess.Popen[bytes]) -> str:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    assert out == b""
    return err.decode()


def created(folder: Path) -> bool:
    return generation(folder) >= 0


def committed(folder: Path) -> bool:
    return generation(folder) >= 1


@pytest.mark.parametrize(("point", "kept"), [(created, 0), (committed, 1000)])
def test_an_interrupted_ingest_is_one_line_and_the_next_run_completes(
    many: Shell, point: Callable[[Path], bool], kept: int
) -> None:
    folder = many.folder / ".groundkit/default"
    process = many.start("ingest", "many")
    wait_until(lambda: point(folder), process)
    assert interrupt(process).splitlines() == ["grk: interrupted"]
    assert not (folder / "writer.json").exists()
    held = many("collections", "show", "--json").json["documents"]
    assert kept <= held < FILES
    assert many("doctor").out == "default: sound\n"
    assert len(many("search", "valves", "--json").json["results"]) == (10 if held else 0)
    report = many("ingest", "many", "--json").json
    assert report["documents"] == FILES
    assert len(report["files"]) == FILES - held
    assert many("doctor").out == "default: sound\n"


INTERRUPTS = """
import os, signal, sys
def _hook(event, args):
    if event == "import" and args[0] == {module!r}:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(_hook)
"""


@pytest.mark.parametrize(
    "module", ["typer", "groundkit_core.errors", "numpy", "groundkit_core.retrieval.search"]
)
def test_an_interrupt_while_modules_are_loaded_is_one_line_too(indexed: Shell, module: str) -> None:
    env = indexed.at_startup(INTERRUPTS.format(module=module))
    ran = indexed("search", "valve", env=env, code=130)
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("grk: interrupted")


def test_an_interrupt_at_a_question_deletes_nothing(indexed: Shell) -> None:
    process = indexed.start("collections", "delete", "default")
    assert process.stderr is not None
    while not process.stderr.read1(1000).endswith(b"]: "):  # type: ignore[attr-defined]
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert indexed("search", "valve").out
