"""Exit codes, and the one line or JSON document that goes with them."""

import pytest
from groundkit_cli.documents import Failure

from tests.cli.conftest import Invoke
from tests.cli.shell import Shell

INDEX_TROUBLE = {
    "a path that is not there": ("ingest", "nowhere"),
    "a collection that is not there": ("search", "x", "--collection", "no"),
    "an index directory that is not there": ("search", "x", "--index-dir", "no"),
    "an index directory that is a file": ("search", "x", "--index-dir", "docs/pump.md"),
    "an index directory below a file": ("ingest", "docs", "--index-dir", "docs/pump.md/x"),
    "an index directory that cannot be made": ("ingest", "docs", "--index-dir", "/proc/no"),
    "an index directory with an endless name": ("search", "x", "--index-dir", "a" * 5000),
    "a saved response that is not there": ("verify", "no.json"),
}
CONTRADICTIONS = {
    "nothing to ingest": ("ingest",),
    "a query that is no Unicode": ("search", b"\xff\xfe"),
    "another chunking than the collection's": ("ingest", "docs", "--chunk-size", "7"),
    "another language than the collection's": ("ingest", "docs", "--language", "german"),
    "an unknown label": ("search", "x", "--root", "no=docs"),
}
WRONG_USE = {
    "no results asked for": ("search", "x", "-k", "0"),
    "fewer than none": ("search", "x", "-k", "-1"),
    "too many results": ("search", "x", "--top-k", "101"),
    "an empty query": ("search", ""),
    "a blank query": ("search", " \t\n"),
    "an endless query": ("search", "x" * 5000),
    "no collection name": ("search", "x", "--collection", "No Name"),
    "a collection name with a slash": ("search", "x", "--collection", "a/b"),
    "a collection above the index": ("search", "x", "--collection", ".."),
    "an unknown language": ("ingest", "docs", "--language", "klingon"),
    "an unknown chunking": ("ingest", "docs", "--chunking", "random"),
    "an overlap as large as the size": (
        *("ingest", "docs"),
        *("--chunk-size", "5", "--chunk-overlap", "5"),
    ),
    "keep missing and allow removal": ("ingest", "docs", "--keep-missing", "--allow-removal"),
    "a root without a label": ("ingest", "docs", "--root", "docs"),
    "a root with an empty label": ("ingest", "docs", "--root", "=docs"),
    "a root with an empty path": ("ingest", "docs", "--root", "docs="),
    "a label with a slash": ("ingest", "docs", "--root", "a/b=docs"),
    "a URL with credentials": ("ingest", "https://a:b@example.org/"),
    "HTML of no kind": ("ingest", "docs", "--html", "none"),
    "a permitted host without a URL": ("ingest", "docs", "--allow-host", "localhost"),
    "a folder's option for a URL": ("ingest", "https://example.org/", "--rehash"),
    "an id of JSON lines without their text": ("ingest", "docs", "--jsonl-id", "x"),
    "a label given twice": ("ingest", "docs", "--root", "a=docs", "--root", "a=docs"),
}
WRONG_SYNTAX = {
    "an unknown flag": ("search", "x", "--nope"),
    "an unknown flag of the program": ("--nope",),
    "an unknown command": ("find", "x"),
    "an unknown subcommand": ("collections", "rename"),
    "no query": ("search",),
    "a number that is none": ("search", "x", "-k", "ten"),
    "a flag without its value": ("search", "x", "--collection"),
    "no name to delete": ("collections", "delete"),
}


ERRORS = [
    *(pytest.param(args, 3, id=name) for name, args in INDEX_TROUBLE.items()),
    *(pytest.param(args, 2, id=name) for name, args in CONTRADICTIONS.items()),
]


@pytest.mark.parametrize(("args", "code"), ERRORS)
def test_an_error_beside_json_is_one_json_document(
    indexed: Shell, args: tuple[str | bytes, ...], code: int
) -> None:
    ran = indexed(*args, "--json", code=code)
    assert ran.err == ""
    assert Failure.model_validate_json(ran.out).error.exit_code == code


@pytest.mark.parametrize(("args", "code"), ERRORS[::3])
def test_an_error_is_one_line_on_stderr(
    indexed: Shell, args: tuple[str | bytes, ...], code: int
) -> None:
    ran = indexed(*args, code=code)
    assert ran.out == ""
    assert ran.err.startswith("grk: ")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("args", WRONG_USE.values(), ids=WRONG_USE.keys())
def test_wrong_use_is_told_before_any_work(invoke: Invoke, args: tuple[str, ...]) -> None:
    ran = invoke(*args, "--json")
    assert (ran.exit_code, ran.stderr) == (2, "")
    assert Failure.model_validate_json(ran.stdout).error.exit_code == 2
    ran = invoke(*args)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("grk: ")
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("args", WRONG_SYNTAX.values(), ids=WRONG_SYNTAX.keys())
def test_wrong_syntax_is_said_on_stderr(grk: Shell, args: tuple[str, ...]) -> None:
    ran = grk(*args, code=2)
    assert ran.out == ""
    assert ran.err.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    "args",
    [
        ("search", "x", "--json", "--nope"),
        ("search", "x", "--json", "-k", "ten"),
    ],
    ids=" ".join,
)
def test_wrong_syntax_beside_json_is_a_json_error(grk: Shell, args: tuple[str, ...]) -> None:
    ran = grk(*args, code=2)
    assert ran.json["error"]["exit_code"] == 2


def test_bare_commands_show_their_help_and_fail(grk: Shell) -> None:
    for args in ((), ("collections",)):
        ran = grk(*args, code=2)
        assert "Commands:" in ran.out + ran.err


BREAKS = """
import groundkit_core.index.collection as module
def broken(*args, **kwargs):
    raise RuntimeError("it broke\\n\\x1b[31mhere →")
module.Collection.search = broken
"""


def test_a_defect_of_ours_is_one_line_and_70(indexed: Shell) -> None:
    ran = indexed("search", "valve", code=70, env=indexed.at_startup(BREAKS))
    assert ran.out == ""
    assert ran.err.startswith("grk: internal error: RuntimeError: it broke")
    assert "GROUNDKIT_DEBUG" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert "\x1b" not in ran.err


def test_a_defect_of_ours_is_a_json_error_beside_json(indexed: Shell) -> None:
    ran = indexed("search", "valve", "--json", code=70, env=indexed.at_startup(BREAKS))
    assert ran.json["error"]["exit_code"] == 70


def test_a_traceback_is_shown_only_with_the_debug_variable(indexed: Shell) -> None:
    env = {**indexed.at_startup(BREAKS), "GROUNDKIT_DEBUG": "1"}
    ran = indexed("search", "valve", code=1, env=env)
    assert ran.err.startswith("Traceback ")
    assert "RuntimeError: it broke" in ran.err


def test_a_message_never_repeats_the_query(indexed: Shell) -> None:
    canary = "canary-7319"
    for args in ((canary + "x" * 5000,), (canary, "-k", "0"), (canary, "--collection", "no")):
        with indexed.start("search", *args, "--json") as process:
            out, err = process.communicate()
        assert process.returncode in (2, 3)
        assert canary.encode() not in out + err
