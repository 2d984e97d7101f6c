"""A disk that is full or cannot be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.durability import scenario

ROOT = Path(__file__).parents[3]
# In a mount namespace of its own, so that nothing outside sees the mounts.
UNSHARE = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
INGEST = """
import sys
from pathlib import Path
from groundkit_core import Collection, GroundkitError
from tests.core.durability import scenario
base, disk = Path(sys.argv[1]), Path(sys.argv[2])
collection = Collection.open(disk / "default")
before = collection.info()
big = base / "big"
for number in range(60):
    scenario.write(big, f"{number}.txt", number)
    path = big / f"{number}.txt"
    path.write_text(path.read_text() * 40)
try:
    collection.ingest([big])
except GroundkitError as error:
    print(type(error).__name__, error)
else:
    sys.exit("it fitted")
again = Collection.open(disk / "default")
assert again.check() == [], again.check()
assert again.info().generation == before.generation, again.info()
assert again.search("word1").results
(disk / "ballast").unlink()
collection.ingest([big])
assert again.check() == []
print(again.info().documents)
"""
READ = """
import sys
from groundkit_core import Collection
collection = Collection.open(sys.argv[1])
results = collection.search("word1", verify=True).results
assert {result.verification.status for result in results} == {"verified"}
print(len(results), collection.check())
"""


def in_namespace(script: str) -> "subprocess.CompletedProcess[str]":
    if shutil.which("unshare") is None:
        pytest.skip("mounting a small disk needs unshare")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    if "Operation not permitted" in done.stderr or "unshare failed" in done.stderr:
        pytest.skip(f"this system does not let us mount: {done.stderr.strip()}")
    return done


def test_full_disk_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    base, disk = tmp_path / "base", tmp_path / "disk"
    scenario.build(base)
    disk.mkdir()
    script = tmp_path / "ingest.py"
    script.write_text(INGEST)
    done = in_namespace(
        f"mount -t tmpfs -o size=40m tmpfs {disk} && cp -r {base}/index/default {disk} && "
        f"head -c 37500000 /dev/zero > {disk}/ballast && {sys.executable} {script} {base} {disk}"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    message, documents = done.stdout.splitlines()
    assert message.startswith("CollectionError")
    assert "full" in message or "No space left" in message
    assert int(documents) == 28 + 60


def test_search_works_on_a_read_only_mount(tmp_path: Path) -> None:
    base = tmp_path / "base"
    scenario.build(base)
    script = tmp_path / "read.py"
    script.write_text(READ)
    index = base / "index"
    done = in_namespace(
        f"mount --bind {index} {index} && mount -o remount,ro,bind {index} && "
        f"! touch {index}/x 2>/dev/null && {sys.executable} {script} {index}/default"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "10 []"
