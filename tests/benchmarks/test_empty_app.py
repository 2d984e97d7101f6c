import subprocess
import sys
from pathlib import Path

import pytest
from groundkit_cli.app import app

from benchmarks.empty_app import empty_app

GRK = Path(sys.executable).with_name("grk")


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="scripts are executables there")
@pytest.mark.parametrize("arguments", [["--help"], ["collections", "--help"]], ids=" ".join)
def test_the_empty_app_says_what_grk_says(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "empty_app.py").write_text(empty_app(app), "utf-8")
    script = tmp_path / "grk"
    script.write_text("from empty_app import main\nmain()\n", "utf-8")
    said = output(sys.executable, script, *arguments)
    # The peer has the commands and their help, not their options.
    grk = output(GRK, *arguments).splitlines()
    assert said.splitlines() == [line for line in grk if not line.startswith("  --version")]
    assert "search" in said or "reindex" in said
