"""Fresh environments that hold built wheels."""

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["CLOSURE", "fresh", "run"]

DIST = Path(__file__).parents[3] / "dist"
CLOSURE = {
    "core": ["core"],
    "providers": ["providers", "core"],
    "evals": ["evals", "core"],
    "cli": ["cli", "evals", "providers", "core"],
}
BIN = "Scripts" if sys.platform == "win32" else "bin"


def wheel(name: str) -> str:
    """The one built wheel of a package."""
    (path,) = DIST.glob(f"groundkit_{name}-*.whl")
    return str(path)


def fresh(folder: Path, parts: list[str], extra: str = "") -> Path:
    """The scripts folder of a fresh environment with some packages, the first with an extra."""
    venv = folder / "venv"
    uv = os.environ["HATCH_UV"]
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, venv], check=True)
    wheels = [wheel(part) for part in parts]
    wheels[0] += extra
    python = venv / BIN / "python"
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *wheels], check=True)
    return venv / BIN


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints, run where no source tree is in reach."""
    result = subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True)
    return result.stdout
