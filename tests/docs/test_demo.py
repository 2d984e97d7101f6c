import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("unmeasured")

ROOT = Path(__file__).parents[2]


def test_the_demo_shows_verified_drifted_and_moved() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "demo.py"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[1:]) == (0, [])
    commands = re.findall(r"^\$ grk (\w+).*?^\[exit (\d)\]$", done.stdout, re.M | re.S)
    searched = [("search", "0"), ("search", "0"), ("verify", "0")]
    assert commands == [
        ("ingest", "0"),
        *searched * 3,
        ("verify", "0"),
        ("verify", "1"),
        ("verify", "0"),
    ]
    assert "\ndrifted groundkit/" in done.stdout
    assert "\nmoved groundkit/" in done.stdout


def test_the_demo_fails_when_drift_does_not_fail(tmp_path: Path) -> None:
    grk = tmp_path / "grk"
    real = Path(sys.executable).with_name("grk")
    grk.write_text(f'#!/bin/sh\n"{real}" "$@"\nexit 0\n', encoding="utf-8")
    grk.chmod(0o755)
    code = (
        "import sys, pathlib, scripts.demo as demo\n"
        f"demo.GRK = pathlib.Path({str(grk)!r})\n"
        "sys.exit(demo.main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    failure = "demo: not as claimed: grk verify exits 1, not 0"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, failure)
