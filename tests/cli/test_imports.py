"""What a command loads decides how fast it starts."""

import subprocess
import sys

import pytest

from tests.cli.shell import Shell

HEAVY = (
    *("asyncio", "bm25s", "chardet", "filelock", "groundkit_core", "groundkit_evals"),
    *("groundkit_providers", "markdown_it", "numpy", "pathspec", "pydantic", "regex", "rich"),
    *("sqlite3", "Stemmer"),
)
NOT_FOR_READING = (
    *("asyncio", "bm25s", "chardet", "filelock", "groundkit_evals", "groundkit_providers"),
    *("markdown_it", "pathspec", "rich"),
)
LOADED = """
import sys
before = set(sys.modules)
sys.argv[0] = "grk"
from groundkit_cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*{name.partition(".")[0] for name in set(sys.modules) - before}, file=sys.stderr)
"""


def loaded(shell: Shell, *args: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, *args],
        cwd=shell.folder,
        env=shell.env,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ran.stderr.split())


def test_help_loads_nothing_heavy(grk: Shell) -> None:
    assert loaded(grk, "--help").isdisjoint(HEAVY)


@pytest.mark.parametrize("command", ["search valve", "search valve --json", "verify"])
def test_reading_loads_nothing_that_only_writing_needs(indexed: Shell, command: str) -> None:
    found = loaded(indexed, *command.split())
    assert "numpy" in found
    assert found.isdisjoint(NOT_FOR_READING)


def test_ingest_loads_no_other_layer(grk: Shell) -> None:
    found = loaded(grk, "ingest", "docs")
    assert "bm25s" in found
    assert found.isdisjoint({"groundkit_evals", "groundkit_providers"})
