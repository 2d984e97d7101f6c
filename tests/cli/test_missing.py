"""Commands on a collection or index directory that does not exist."""

import pytest

from tests.cli.conftest import Invoke
from tests.cli.shell import Shell, tree

COMMANDS = (
    "search x",
    "verify",
    "doctor --collection default",
    "doctor",
    "collections list",
    "collections show",
    "collections reindex",
    "collections compact",
    "collections delete default",
    "collections delete default --yes",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_without_an_index_directory_a_command_fails_and_creates_nothing(
    grk: Shell, invoke: Invoke, command: str
) -> None:
    before = tree(grk.folder)
    ran = invoke(*command.split())
    assert (ran.exit_code, ran.stdout) == (3, "")
    assert ran.stderr.startswith("grk: ")
    assert ".groundkit" in ran.stderr
    assert tree(grk.folder) == before


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        *(("no folder", f"{command} --json") for command in COMMANDS if "delete" not in command),
        ("no folder", "collections delete default --yes --json"),
        *(("empty folder", f"{command} --json") for command in ("search x", "collections reindex")),
        *(
            ("empty database", f"{command} --json")
            for command in ("search x", "collections reindex")
        ),
    ],
)
def test_without_the_collection_a_command_fails_and_creates_nothing(
    grk: Shell, kind: str, command: str
) -> None:
    (grk.folder / ".groundkit").mkdir()
    if kind == "empty folder":
        (grk.folder / ".groundkit/default").mkdir()
    elif kind == "empty database":
        grk.write(".groundkit/default/collection.db", b"")
    before = tree(grk.folder)
    if command.split()[:2] in (["doctor", "--json"], ["collections", "list"]):
        grk(*command.split())
    else:
        ran = grk(*command.split(), code=3)
        assert ran.json["error"]["type"] == "CollectionNotFoundError"
    assert tree(grk.folder) == before


def test_the_message_says_how_to_make_a_collection(grk: Shell) -> None:
    assert "grk ingest" in grk("search", "x", code=3).err


def test_a_saved_response_cannot_be_checked_without_its_collection(indexed: Shell) -> None:
    before = tree(indexed.folder)
    indexed("verify", "saved.json", "--index-dir", "elsewhere", code=3)
    assert tree(indexed.folder) == before
