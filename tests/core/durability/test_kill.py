"""A process killed at any step of the write path leaves a whole collection."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_core.errors import CollectionNotFoundError
from groundkit_core.failpoints import FAILPOINTS

from tests.core.durability import scenario
from tests.note import Note

pytestmark = pytest.mark.usefixtures("unmeasured")

KILLS = 20
OPERATIONS: dict[str, Callable[[Path, int], None]] = {
    "states.noted": scenario.touch,
    "merge.written": scenario.compact,
    "merge.swapped": scenario.compact,
    "sweep.file": scenario.compact,
    "reindex.segment": scenario.reindex,
    "reindex.swapped": scenario.reindex,
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("template")
    scenario.build(base)
    return base


def copy(template: Path, tmp_path: Path, seed: int) -> Path:
    base = tmp_path / f"run{seed}"
    shutil.copytree(template, base)
    return base


@pytest.mark.parametrize("at", [name for name in FAILPOINTS if name != "delete.begun"])
def test_kill_at_every_step_heals(at: str, template: Path, tmp_path: Path, note: Note) -> None:
    operation = OPERATIONS.get(at, scenario.ingest)
    kills = 0
    for seed in range(3 * KILLS):
        base = copy(template, tmp_path, seed)
        before = scenario.versions(base)
        if not scenario.killed(operation, base, seed, at, n=1 + seed % 3 if seed % 4 else 1):
            continue
        kills += 1
        with scenario.rebuilt(base, tmp_path / "scratch") as fresh:
            scenario.assert_whole(base, before, scenario.passages_of(fresh))
            scenario.assert_healed_as(base, fresh)
        shutil.rmtree(base)
        if kills == KILLS:
            break
    note(f"killed {kills} times")
    assert kills == KILLS


def test_kill_while_a_collection_is_made(tmp_path: Path) -> None:
    for seed in range(KILLS):
        base = tmp_path / f"new{seed}"
        scenario.write(base / "docs", "a.txt", seed)
        at = FAILPOINTS[seed % 12]
        scenario.killed(scenario.ingest_only, base, seed, at, n=1)
        scenario.assert_healed(base, tmp_path / "scratch")


def test_kill_in_delete_leaves_no_collection(template: Path, tmp_path: Path) -> None:
    for seed in range(KILLS):
        base = copy(template, tmp_path, seed)
        assert scenario.killed(scenario.delete, base, seed, "delete.begun", n=1)
        with pytest.raises(CollectionNotFoundError):
            scenario.collection(base).search("word1")
        scenario.assert_healed(base, tmp_path / "scratch")
        shutil.rmtree(base)
