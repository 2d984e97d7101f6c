"""`--json`: one document on stdout, whatever happens and whatever the locale."""

import json
from typing import Any

import pytest
import typer
from groundkit_cli.app import app
from groundkit_cli.documents import CollectionList, Deleted, Findings, VerifyReport
from groundkit_core.contracts import CollectionInfo, IngestReport, PassageWindow, SearchResponse
from groundkit_providers.answer import AnswerReport
from pydantic import BaseModel

from tests.cli.shell import Shell

COMMANDS: dict[str, tuple[tuple[str, ...], type[BaseModel]]] = {
    "ingest": (("ingest", "docs"), IngestReport),
    "search": (("search", "厨房 valve"), SearchResponse),
    "answer": (
        ("answer", "厨房 valve", "--chat-provider", "scripted", "--chat-script", "replies.json"),
        AnswerReport,
    ),
    "verify": (("verify",), VerifyReport),
    "doctor": (("doctor",), Findings),
    "collections list": (("collections", "list"), CollectionList),
    "collections show": (("collections", "show"), CollectionInfo),
    "collections reindex": (("collections", "reindex"), CollectionInfo),
    "collections compact": (("collections", "compact"), CollectionInfo),
    "show": (("show", "016f858eb3359bd939f1aa96cd6152df", "--after", "1"), PassageWindow),
    "collections delete": (("collections", "delete", "default", "--yes"), Deleted),
}
ENCODINGS = ("ascii", "cp1252", "utf-16")


def names(command: Any, path: tuple[str, ...] = ()) -> list[str]:
    below = getattr(command, "commands", None)
    if below is None:
        return [" ".join(path)]
    return [name for key, value in below.items() for name in names(value, (*path, key))]


def test_every_command_is_covered_here() -> None:
    # Evaluations have pages of tests of their own; servers print no document.
    elsewhere = {"eval calibrate", "serve", "serve-mcp"}
    assert set(names(typer.main.get_command(app))) == {*COMMANDS, *elsewhere}


@pytest.mark.parametrize(("args", "model"), COMMANDS.values(), ids=COMMANDS.keys())
def test_one_document_of_its_model_in_utf8_and_no_note_without_need(
    indexed: Shell, args: tuple[str, ...], model: type[BaseModel]
) -> None:
    indexed.write("docs/kitchen →.txt", "→ 厨房\n")
    indexed.write("replies.json", '["→ [1]"]')
    if args[0] in ("search", "answer"):
        indexed("ingest", "docs")
    ran = indexed(*args, "--json", env={"PYTHONIOENCODING": "cp1252"})
    assert args[0] == "answer" or ran.err == ""
    assert model.model_validate_json(ran.out).model_dump(mode="json") == ran.json
    if args[0] in ("ingest", "search", "answer"):
        assert "→" in ran.out


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_a_terminal_cannot_show_is_escaped(grk: Shell, encoding: str) -> None:
    grk.write("docs/kitchen →.md", "# → 厨房\n\n→ 厨房\n")
    env = {"PYTHONIOENCODING": encoding}
    with grk.start("ingest", "docs", env=env) as process:
        process.communicate()
    assert process.returncode == 0
    with grk.start("search", "厨房", env=env) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    shown = out.decode(encoding)
    if encoding == "utf-16":
        assert "kitchen →.md:1-3  → 厨房  [verified" in shown
    else:
        assert r"kitchen \u2192.md:1-3  \u2192 \u53a8\u623f  [verified" in shown


def test_progress_on_a_terminal_does_not_disturb_the_document(indexed: Shell) -> None:
    ran = indexed.terminal("ingest", "docs", "--rehash", "--json", stream="stderr")
    assert ran.json["unchanged"] == 2
    assert ran.err


def test_a_document_on_a_terminal_is_plain_json(indexed: Shell) -> None:
    ran = indexed.terminal("search", "valve", "--json")
    assert "\x1b" not in ran.out
    assert len(ran.json["results"]) == 2


def test_the_same_search_gives_the_same_bytes(indexed: Shell) -> None:
    first, second = (indexed("search", "the valve", "--json").out for _ in range(2))
    assert first == second
    assert json.loads(first)["results"]
