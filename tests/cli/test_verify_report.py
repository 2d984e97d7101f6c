"""`grk verify` on what `grk answer --json` printed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.answering_helpers import ask
from tests.cli.conftest import Invoke
from tests.cli.shell import Shell

Report = dict[str, Any]
VERIFIED = "2 verified · 0 moved · 0 drifted · 0 unresolvable\n"


@pytest.fixture(scope="module")
def _reported(_ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reported") / "shell"
    shutil.copytree(_ingested, folder)
    shell = Shell(folder)
    ran = ask(
        shell, "It opens [3]. It stops [2]. It opens [3].", query="valve ledger", args=("--json",)
    )
    shell.write("report.json", ran.out)
    return folder


@pytest.fixture
def reported(_reported: Path, tmp_path: Path) -> Shell:
    """A shell whose `report.json` cites the third and the second of three passages."""
    shutil.copytree(_reported, tmp_path, dirs_exist_ok=True)
    return Shell(tmp_path)


def saved(shell: Shell) -> Report:
    report: Report = json.loads((shell.folder / "report.json").read_text())
    return report


def uncited(report: Report) -> Any:
    (result,) = [each for each in report["results"] if each["citation"] not in report["citations"]]
    return result


def test_every_citation_of_a_report_is_checked_again(reported: Shell) -> None:
    assert reported("verify", "report.json").out == VERIFIED
    assert reported("verify", "report.json", "--json").json == {
        "schema_version": 1,
        "collection": "default",
        "counts": {"verified": 2, "moved": 0, "drifted": 0, "unresolvable": 0},
        "not_verified": [],
    }


def test_no_module_that_reaches_the_network_is_needed(reported: Shell) -> None:
    env = reported.at_startup("import sys\nsys.modules['httpx'] = None\n")
    assert reported("verify", "report.json", env=env).out == VERIFIED


def test_what_the_answer_does_not_cite_is_not_checked(reported: Shell) -> None:
    report = saved(reported)
    source = uncited(report)["citation"]["source"]
    assert source not in {citation["source"] for citation in report["citations"]}
    (reported.folder / source).unlink()
    assert reported("verify", "report.json").out == VERIFIED


def test_a_cited_passage_that_drifted_fails(reported: Shell) -> None:
    source = reported.folder / saved(reported)["citations"][0]["source"]
    source.write_text(source.read_text().replace("valve", "hatch"))
    ran = reported("verify", "report.json", code=1)
    assert ran.lines[-1] == "0 verified · 0 moved · 2 drifted · 0 unresolvable"
    assert ran.lines[0].startswith("drifted ")


def test_a_cited_source_that_is_gone_fails(reported: Shell) -> None:
    for citation in saved(reported)["citations"]:
        (reported.folder / citation["source"]).unlink(missing_ok=True)
    ran = reported("verify", "report.json", code=1)
    assert ran.lines[-1] == "0 verified · 0 moved · 0 drifted · 2 unresolvable"


def test_a_cited_passage_that_moved_fails_only_when_strict(reported: Shell) -> None:
    source = reported.folder / saved(reported)["citations"][0]["source"]
    source.write_text(f"New.\n\n{source.read_text()}")
    moved = "0 verified · 2 moved · 0 drifted · 0 unresolvable"
    assert reported("verify", "report.json").lines[-1] == moved
    assert reported("verify", "report.json", "--strict", code=1).lines[-1] == moved


def test_an_abstention_has_nothing_to_check(reported: Shell) -> None:
    report = saved(reported) | {"answer": "The sources do not say.", "citations": []}
    reported.write("report.json", json.dumps(report))
    ran = reported("verify", "report.json")
    assert ran.out == "0 verified · 0 moved · 0 drifted · 0 unresolvable\n"


def swap(report: Report) -> None:
    report["citations"].reverse()


def replace(report: Report) -> None:
    report["citations"][0] = uncited(report)["citation"]


def remove(report: Report) -> None:
    report["citations"].pop()


def add(report: Report) -> None:
    report["citations"].append(uncited(report)["citation"])


def repeat(report: Report) -> None:
    report["citations"].append(report["citations"][0])


def shift(report: Report) -> None:
    report["citations"][0]["start"] += 1


def reorder(report: Report) -> None:
    report["results"].reverse()


def cut(report: Report) -> None:
    report["results"] = report["results"][:1]


def marker(old: str, new: str) -> Callable[[Report], None]:
    def change(report: Report) -> None:
        report["answer"] = report["answer"].replace(old, new)

    return change


def contradict(report: Report) -> None:
    report["verdict"] = {"faithful": True, "unsupported_claims": ["x"], "reasoning": ""}


TAMPERED: dict[str, Callable[[Report], object]] = {
    "citations in another order": swap,
    "another passage cited": replace,
    "a citation removed": remove,
    "a citation added": add,
    "a citation twice": repeat,
    "another span": shift,
    "results in another order": reorder,
    "results removed": cut,
    "a marker changed": marker("[2]", "[1]"),
    "a marker out of range": marker("[2]", "[9]"),
    "a marker removed": marker("[2]", ""),
    "a marker of another form": marker("[2]", "[1-2]"),
    "a marker turned into a link": marker("[2]", "[2](https://example.com)"),
    "every marker removed": lambda report: report.update(answer="It stops."),
    "an unknown field": lambda report: report.update(abstained=False),
    "a field missing": lambda report: report.pop("query"),
    "another type": lambda report: report.update(answer=["It stops [1]."]),
    "a verdict that contradicts itself": contradict,
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_report_that_disagrees_with_itself_is_refused(
    reported: Shell, invoke: Invoke, name: str
) -> None:
    report = saved(reported)
    TAMPERED[name](report)
    reported.write("report.json", json.dumps(report))
    ran = invoke("verify", "report.json")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("grk: report.json: ")
    assert len(ran.stderr.splitlines()) == 1
    assert "valve" not in ran.stderr


def test_a_passage_changed_in_the_report_does_not_verify(reported: Shell) -> None:
    report = saved(reported)
    for result in report["results"]:
        result["content"] = "The pump never stops."
    reported.write("report.json", json.dumps(report))
    ran = reported("verify", "report.json", code=1)
    assert ran.lines[-1] == "0 verified · 0 moved · 2 drifted · 0 unresolvable"
