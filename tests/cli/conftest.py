import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_cli.app import app
from typer.testing import CliRunner, Result

from tests.cli.shell import Shell

PUMP = """# Pump manual

## Start

Open the valve slowly. Wait for five bar.

## Stop

Close the valve. The pump stops in ten seconds.
"""
Invoke = Callable[..., Result]
NOTES = "Keep the cellar dry.\n\nThe ledger is in the safe.\n"


@pytest.fixture
def grk(tmp_path: Path) -> Shell:
    """A shell in a folder with `docs/pump.md` and `docs/notes.txt`, nothing indexed."""
    shell = Shell(tmp_path)
    shell.write("docs/pump.md", PUMP)
    shell.write("docs/notes.txt", NOTES)
    return shell


@pytest.fixture(scope="session")
def _ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ingested")
    shell = Shell(folder)
    shell.write("docs/pump.md", PUMP)
    shell.write("docs/notes.txt", NOTES)
    shell("ingest", "docs")
    shell.write("saved.json", shell("search", "the", "--json").out)
    return folder


@pytest.fixture
def indexed(_ingested: Path, tmp_path: Path) -> Shell:
    """A shell in a folder whose `docs` are indexed in `.groundkit/default`.

    `saved.json` is a search response with all three passages.
    """
    shutil.copytree(_ingested, tmp_path, dirs_exist_ok=True)
    return Shell(tmp_path)


@pytest.fixture
def invoke(grk: Shell, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Runs a command in this process: for what ends before a collection is opened."""
    monkeypatch.chdir(grk.folder)
    for name in set(os.environ) - set(grk.env):
        monkeypatch.delenv(name)

    def run(*args: str, **env: str) -> Result:
        return CliRunner().invoke(app, args, env={**grk.env, **env})

    return run
