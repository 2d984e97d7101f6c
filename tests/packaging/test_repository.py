import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ELSEWHERE = re.compile(
    r'(^|[^A-Za-z0-9.])/(work|farm|root)/|https?://[^ "]+/(simple|packages)/', re.MULTILINE
)
LOCK = re.compile(r"\.lock$|-lock\.\w+$|^pylock.*\.toml$")


def files() -> list[Path]:
    """The files that are, or with the next commit would be, in the repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_path_of_one_machine_or_a_registry() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0].strip()}"
        for path in files()
        for match in ELSEWHERE.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


def test_no_lock_file_is_tracked() -> None:
    assert [path.name for path in files() if LOCK.search(path.name)] == []


@pytest.mark.parametrize("package", sorted(ROOT.glob("packages/*")), ids=lambda path: path.name)
def test_each_package_carries_the_licence(package: Path) -> None:
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_contributing_stays_short() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 80
