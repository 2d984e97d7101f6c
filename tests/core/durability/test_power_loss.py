"""What was not fsynced is gone: the collection still opens whole at a committed generation."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from groundkit_core import Collection

from tests.core.durability import scenario
from tests.note import Note

pytestmark = pytest.mark.usefixtures("unmeasured")

RUNS = 20
ROOT = Path(__file__).parents[3]
CHILD = """
import os, signal, sys
from pathlib import Path
from groundkit_core.failpoints import set_hook
from tests.core.durability import scenario

base, operation, seed, at, left = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], 1
def hook(name):
    global left
    left -= name == at
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
set_hook(hook)
getattr(scenario, operation)(base, seed)
print(scenario.collection(base).info().generation)
"""
CASES = [
    ("ingest", "segment.synced"),
    ("ingest", "commit.segment"),
    ("ingest", "commit.done"),
    ("ingest", "checkpoint.done"),
    ("ingest", "never"),
    ("compact", "merge.swapped"),
    ("compact", "never"),
    ("reindex", "reindex.swapped"),
]


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("power loss is simulated with a C compiler and LD_PRELOAD, on Linux")
    library = tmp_path_factory.mktemp("shim") / "powerloss.so"
    source = Path(__file__).with_name("powerloss.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("template")
    scenario.build(base)
    return base


def run(shim: Path, base: Path, shadow: Path, operation: str, seed: int, at: str) -> int | None:
    """Run the operation; its last generation if it finished, None if it was killed."""
    environment = {
        **os.environ,
        "LD_PRELOAD": str(shim),
        "WATCH": str(base / "index"),
        "SHADOW": str(shadow),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", CHILD, str(base), operation, str(seed), at]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -9), done.stderr
    return int(done.stdout) if done.returncode == 0 else None


def lose_power(folder: Path, before: Path, shadow: Path) -> None:
    """Keep in `folder` the names and contents that were made durable, else those from before."""
    listed = shadow / f"d{folder.stat().st_ino}"
    now = {entry.name: entry for entry in folder.iterdir()}
    if listed.exists():
        lines = listed.read_text().splitlines()
        names = {name: int(inode) for inode, name in (line.split(" ", 1) for line in lines)}
    else:
        old = {entry.name for entry in before.iterdir()} if before.is_dir() else set()
        names = {name: entry.stat().st_ino for name, entry in now.items() if name in old}
    for name, entry in now.items():
        if entry.is_dir():
            lose_power(entry, before / name, shadow)
        elif name not in names:
            entry.unlink()
        else:
            kept = shadow / f"f{entry.stat().st_ino}"
            if kept.exists():
                shutil.copyfile(kept, entry)
            elif (before / name).exists():
                shutil.copyfile(before / name, entry)
            else:
                entry.write_bytes(b"")
    for name in names.keys() - now.keys():
        if (before / name).exists():
            shutil.copyfile(before / name, folder / name)


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "at"), CASES)
def test_power_loss(
    operation: str,
    at: str,
    shim: Path,
    template: Path,
    tmp_path: Path,
    note: Note,
) -> None:
    runs = RUNS // 4
    for seed in range(runs):
        base, shadow = tmp_path / f"run{seed}", tmp_path / f"shadow{seed}"
        shutil.copytree(template, base)
        shadow.mkdir()
        before = scenario.versions(base)
        first = scenario.collection(base).info().generation
        finished = run(shim, base, shadow, operation, seed, at)
        lose_power(base / "index", template / "index", shadow)
        complete = tmp_path / f"finished{seed}"
        shutil.copytree(base / "docs", complete / "docs")
        Collection.open(complete / "index" / "default").ingest([complete / "docs"])
        after = scenario.versions(complete)
        scenario.assert_whole(base, before, after)
        generation = scenario.collection(base).info().generation
        assert generation >= first
        if finished is not None:
            assert generation == finished, "a finished run was lost"
        scenario.assert_healed(base, tmp_path / "scratch")
    note(f"{runs} losses")


def test_a_new_collection_survives_power_loss(shim: Path, tmp_path: Path) -> None:
    base, shadow = tmp_path / "new", tmp_path / "shadow"
    shadow.mkdir()
    scenario.write(base / "docs", "a.txt", seed=1)
    (base / "index").mkdir()
    finished = run(shim, base, shadow, "ingest_only", 1, "never")
    lose_power(base / "index", tmp_path / "nothing", shadow)
    assert scenario.collection(base).info().generation == finished
    scenario.assert_healed(base, tmp_path / "scratch")
