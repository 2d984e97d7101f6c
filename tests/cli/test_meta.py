"""`grk ingest --meta` and what `grk collections show` says of it."""

import json
from typing import Any

import pytest
from groundkit_cli.where import parse_meta
from groundkit_core.metadata import normalised

from tests.cli.conftest import Invoke
from tests.cli.shell import Shell

GIVEN: dict[tuple[str, ...], dict[str, Any]] = {
    (): {},
    ("year=2020",): {"year": 2020},
    ("year = 2020 ",): {"year": 2020},
    ("size=-2.5e3",): {"size": -2500.0},
    ("code=007",): {"code": "007"},
    ('code="7"',): {"code": "7"},
    ("draft=true", "old=false"): {"draft": True, "old": False},
    ("tag=a", "tag=b", "tag=a"): {"tag": ("a", "b")},
    ("tag=a,b",): {"tag": "a,b"},
    ("tag=a=b",): {"tag": "a=b"},
    ("tag=1", "tag=true", "tag=one"): {"tag": (1, True, "one")},
    ("project.owner=me",): {"project.owner": "me"},
    ("my key=a value",): {"my key": "a value"},
    ('name=""',): {"name": ""},
    ('name="a\\n\\u8336"',): {"name": "a\n茶"},
    ("schlüssel=茶",): {"schlüssel": "茶"},
    ("name=null",): {"name": "null"},
    ("when=2020-05-01",): {"when": "2020-05-01"},
    ("source=own",): {"source": "own"},
}


@pytest.mark.parametrize(("options", "expected"), GIVEN.items(), ids=str)
def test_values_are_what_they_look_like(options: tuple[str, ...], expected: dict[str, Any]) -> None:
    found = normalised(parse_meta(list(options)))
    assert found == expected
    assert repr(found) == repr(expected)


def test_an_empty_value_ends_a_key() -> None:
    assert parse_meta(["year=", "tag= ", "a=1"]) == {"year": None, "tag": None, "a": [1]}


UNFIT = [
    ["year"],
    ["=2020"],
    [" =2020"],
    [""],
    ["year=", "year=2020"],
    ["year=2020", "year="],
    ['year="\\x"'],
]


@pytest.mark.parametrize("options", UNFIT, ids=str)
def test_what_is_no_key_and_value_is_one_line_and_a_usage_error(
    options: list[str], invoke: Invoke
) -> None:
    ran = invoke("ingest", "docs", *(part for each in options for part in ("--meta", each)))
    assert ran.exit_code == 2, ran.output
    assert isinstance(ran.exception, SystemExit)
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stderr.startswith("grk: ")


@pytest.mark.parametrize(
    "option",
    ["year=9223372036854775808", "year=1e999", "k" * 101 + "=1", "year=" + "9" * 5000],
    ids=["big", "infinite", "long key", "many digits"],
)
def test_a_value_that_cannot_be_stored_is_a_usage_error(option: str, invoke: Invoke) -> None:
    ran = invoke("ingest", "docs", "--meta", option)
    assert (ran.exit_code, type(ran.exception)) == (2, SystemExit)
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("written", ['"my key"', '"a=b"', '"in"'])
def test_a_key_is_quoted_as_in_where(written: str) -> None:
    assert parse_meta([f"{written}=x"]) == {json.loads(written): ["x"]}


@pytest.mark.parametrize("bad", [["a=1", "b"], ["a=\udcff"]], ids=["no value", "half a pair"])
def test_what_is_refused_makes_no_collection(bad: list[str], grk: Shell) -> None:
    options = [part for each in bad for part in ("--meta", each)]
    ran = grk("ingest", "docs", *options, code=(2, 3))
    assert len(ran.err.splitlines()) == 1
    assert not (grk.folder / ".groundkit").exists()


def test_it_holds_for_later_runs_and_is_searched_by(grk: Shell) -> None:
    grk("ingest", "docs", "--meta", "lang=en", "--meta", "tag=a", "--meta", "tag=b")
    grk.write("docs/new.txt", "A new valve.\n")
    ran = grk("ingest", "docs", "--json")
    assert [each["source"] for each in ran.json["files"]] == ["docs/new.txt"]
    ran = grk("search", "valve", "--where", "lang=en", "--where", "tag=b", "--json")
    assert {str(each["metadata"]) for each in ran.json["results"]} == {
        str({"lang": "en", "tag": ["a", "b"]})
    }
    assert "docs/new.txt" in [each["citation"]["source"] for each in ran.json["results"]]


def test_it_ends_with_an_empty_value(grk: Shell) -> None:
    grk("ingest", "docs", "--meta", "lang=en", "--meta", "n=1")
    ran = grk("ingest", "docs", "--meta", "lang=")
    assert ran.lines[0].startswith("0 indexed · 0 unchanged · 2 changed")
    assert ran.lines[1].startswith("passages: 0 added, 0 dropped")
    assert grk("search", "valve", "--where", "lang=en", code=2).err.startswith("grk: no document")
    assert len(grk("search", "valve", "--where", "n=1", "--json").json["results"]) == 2


def test_show_lists_the_keys_there_are_and_what_paths_are_given(grk: Shell) -> None:
    grk.write("docs/sub/a.md", '---\nyear: 2020\nodd: "x\\u0007"\n---\n\nThe hose.\n')
    grk("ingest", "docs", "--meta", "lang=en", "--meta", "tag=a b", "--meta", "tag=1")
    grk("ingest", "docs/sub", "--meta", "lang=true")
    lines = grk("collections", "show").lines
    assert [line for line in lines if line.startswith("metadata")] == [
        "metadata      lang: boolean and text in 3 documents",
        "metadata      odd: text in 1 document",
        "metadata      tag: number and text in 3 documents",
        "metadata      year: number in 1 document",
    ]
    assert [line for line in lines if line.startswith("given")] == [
        'given         docs: lang="en" tag="a b" tag=1',
        "given         docs/sub: lang=true",
    ]
    shown = grk("collections", "show", "--json").json
    assert shown["metadata"] == {
        "lang": {"documents": 3, "kinds": ["boolean", "text"]},
        "odd": {"documents": 1, "kinds": ["text"]},
        "tag": {"documents": 3, "kinds": ["number", "text"]},
        "year": {"documents": 1, "kinds": ["number"]},
    }
    assert shown["given"] == {
        "docs": {"lang": "en", "tag": ["a b", 1]},
        "docs/sub": {"lang": True},
    }


def test_what_show_prints_can_be_given_again(grk: Shell) -> None:
    options = ["lang=en", 'code="007"', "n=-0.5", 'odd="a \\" \\\\ b"', 'line="a\\nb"', "flag=true"]
    given = [part for each in options for part in ("--meta", each)]
    grk("ingest", "docs", *given)
    shown = grk("collections", "show", "--json").json["given"]["docs"]
    (line,) = [each for each in grk("collections", "show").lines if each.startswith("given")]
    printed = line.partition("docs: ")[2]
    assert json.loads(printed.partition("line=")[2].split(" n=")[0]) == "a\nb"
    assert shown == normalised(parse_meta(options))


def test_control_characters_of_metadata_do_not_reach_the_terminal(grk: Shell) -> None:
    grk.write("docs/a.md", '---\n"k\\u202ek": 1\n---\n\nThe hose.\n')
    grk("ingest", "docs", "--meta", 'k="\\u001b[31m\\u202e"', code=(0, 1))
    shown = grk("collections", "show").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
