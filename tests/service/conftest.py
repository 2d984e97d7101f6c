from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.service.support import Desk, desk, library

PUMP = """---
year: 2021
tags: [water, steel]
---

# Pump manual

## Start

Open the valve slowly. Wait for five bar.

## Stop

Close the valve. The pump stops in ten seconds.

## Store

Keep the pump dry and the valve open.
"""
BOILER = """---
year: 2024
tags: steel
---

# Boiler

Open the valve when the boiler is cold.

## Alarm

Call the plumber when the valve leaks.
"""
NOTES = "Keep the cellar dry.\n\nThe valve of the cellar is behind the stairs.\n"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three documents in `docs` and their collection in `index/default`."""
    found = tmp_path_factory.mktemp("served")
    library(found, {"pump.md": PUMP, "boiler.md": BOILER, "notes.txt": NOTES})
    return found


@pytest.fixture(scope="module")
def ask(folder: Path) -> Iterator[Desk]:
    """The service over that collection."""
    with desk(folder / "index") as asked:
        yield asked


@pytest.fixture
def grk(tmp_path: Path) -> Shell:
    """A shell in an empty folder."""
    return Shell(tmp_path)
