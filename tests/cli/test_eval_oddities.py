"""Sets and artifacts that are not quite as expected, and what `grk eval` makes of them."""

import json

import pytest
from groundkit_evals.artifacts import LATEST

from tests.cli.conftest import Invoke
from tests.cli.shell import Shell
from tests.cli.test_escaping import forbidden
from tests.cli.test_eval import (
    ECHOES,
    INMEMORY,
    SCRIPTED,
    SET,
    _measured,
    beir,
    golden,
    latest,
    limited,
    measured,
)

__all__ = ["_measured", "beir", "golden", "limited", "measured"]  # fixtures


def test_answers_are_made_from_a_set_in_beirs_form(beir: Shell) -> None:
    beir.write("replies.json", json.dumps(["It starts at 40 bar [1].", *ECHOES]))
    beir("eval", *SET, *SCRIPTED)
    made = latest(beir).synthesis
    assert made is not None
    assert (made.answered, made.rejected) == (1, 0)


def test_a_set_may_be_moved(golden: Shell) -> None:
    golden("eval", *SET)
    (golden.folder / "set").rename(golden.folder / "moved")
    golden("eval", "--dataset", "moved", "--results", "results")


@pytest.mark.parametrize(
    ("flag", "where"),
    [
        ("--chat-allow-private-endpoint", "without --synthesis"),
        ("--embed-allow-private-endpoint", "without --dense"),
    ],
)
def test_a_refused_flag_is_named_as_it_is_written(invoke: Invoke, flag: str, where: str) -> None:
    assert invoke("eval", flag).stderr == f"grk: {flag} has no use {where}\n"


def test_names_from_an_artifact_are_escaped(measured: Shell) -> None:
    raw = json.loads((measured.folder / "results" / LATEST).read_bytes())
    for result in raw["stages"][0]["results"]:
        result["metrics"] = {f"\x1b[31m{name}": value for name, value in result["metrics"].items()}
    measured.write("evil.json", json.dumps(raw))
    shown = measured.terminal("eval", "--compare", "evil.json", "evil.json").out
    assert "\\x1b[31m" in shown
    assert forbidden(shown) == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("foreign", "a result is of a query that is not listed"),
        ("lacking", "for other queries in one run"),
    ],
)
def test_an_artifact_that_contradicts_itself_is_refused(
    measured: Shell, spoil: str, said: str
) -> None:
    raw = json.loads((measured.folder / "results" / LATEST).read_bytes())
    results = raw["stages"][0]["results"]
    if spoil == "foreign":
        results[0]["query"] = "other"
    else:
        del results[2]
    measured.write("odd.json", json.dumps(raw))
    for pair in ((f"results/{LATEST}", "odd.json"), ("odd.json", f"results/{LATEST}")):
        assert said in measured("eval", "--compare", *pair, code=3).err


def test_runs_of_a_double_are_compared_under_its_warning(golden: Shell) -> None:
    pytest.importorskip("faiss", reason="groundkit-core[dense] is missing")
    golden("eval", *SET, *INMEMORY)
    assert "structural" in golden("eval", "--compare", *[f"results/{LATEST}"] * 2).err


def test_a_script_is_warned_of_beside_json(golden: Shell) -> None:
    assert "structural" in golden("eval", *SET, *SCRIPTED, "--json").err
