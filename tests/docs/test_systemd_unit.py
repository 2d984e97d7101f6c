import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.shell import GRK
from tests.docs.blocks import blocks


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit of the page, for the `grk` that is installed here."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing; install it with: apt-get install systemd")
    (text,) = [
        block.body
        for block in blocks("how-to/reverse-proxy.md")
        if block.title == "groundkit.service"
    ]
    installed = "/opt/groundkit/bin/grk"
    assert installed in text
    path = tmp_path / "groundkit.service"
    path.write_text(text.replace(installed, str(GRK)), encoding="utf-8")
    return path


def analyzed(*words: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        ["systemd-analyze", *words], capture_output=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stderr


def test_systemd_finds_nothing_wrong_with_the_unit(unit: Path) -> None:
    assert analyzed("verify", "--man=no", unit) == (0, "")


def test_systemd_counts_the_unit_as_little_exposed(unit: Path) -> None:
    # In tenths of its scale from 0 to 10; a service without any of these settings has 9.6.
    assert analyzed("security", "--offline=yes", "--threshold=20", unit) == (0, "")
    assert analyzed("security", "--offline=yes", "--threshold=5", unit)[0] != 0
