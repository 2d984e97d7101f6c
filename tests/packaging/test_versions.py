import shutil
import tomllib
from itertools import chain
from pathlib import Path

from scripts.bump import bump

ROOT = Path(__file__).parents[2]
NAMES = ["groundkit-cli", "groundkit-core", "groundkit-evals", "groundkit-providers"]


def versions(root: Path) -> dict[str, str]:
    """Each package's version, and each pin between packages, by name."""
    found = {}
    for path in sorted(root.glob("packages/*/pyproject.toml")):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        found[project["name"]] = project["version"]
        extras = project.get("optional-dependencies", {}).values()
        for requirement in chain(project["dependencies"], *extras):
            if requirement.startswith("groundkit-"):
                name, _, version = requirement.partition("==")
                found[f"{project['name']} needs {name}"] = version
    return found


def test_there_are_four_packages() -> None:
    assert [path.parent.name for path in sorted(ROOT.glob("packages/*/pyproject.toml"))] == NAMES


def test_versions_and_pins_agree() -> None:
    found = versions(ROOT)
    assert len(set(found.values())) == 1, found


def test_bump_sets_every_version_and_pin(tmp_path: Path) -> None:
    for path in ROOT.glob("packages/*/pyproject.toml"):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True)
        shutil.copy(path, target)
    bump(tmp_path, "7.8.9")
    assert versions(tmp_path) == dict.fromkeys(versions(ROOT), "7.8.9")
