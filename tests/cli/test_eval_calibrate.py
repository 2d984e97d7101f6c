"""`grk eval calibrate`: a judge against labels, which decides nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from groundkit_cli.documents import Failure
from groundkit_evals.artifacts import read_artifact, write_artifact
from groundkit_evals.calibration import CalibrationReport, VerdictRun
from groundkit_evals.labels import Label, LabelSet, Preregistration, Threshold, file_hash
from groundkit_evals.runner import STRUCTURAL
from groundkit_evals.synthesis import judge_identity
from groundkit_providers.testing import ScriptedChatProvider

from tests.cli.answering_helpers import answered, openai
from tests.cli.conftest import Invoke
from tests.cli.shell import Ran, Shell, tree
from tests.cli.test_escaping import KINDS, forbidden
from tests.evals.test_labels import commit
from tests.providers.faulty_server import FaultyServer
from tests.providers.test_judge import FAITHFUL, INVALID, UNFAITHFUL

CANARY = "canary-7319"
JUDGE = judge_identity(ScriptedChatProvider(()))
TRUTH = (True, True, True, False, False)
SAID = (FAITHFUL, INVALID["junk"], FAITHFUL, UNFAITHFUL, FAITHFUL)
LOW = Threshold(agreement=0.5, unfaithful_precision=1, unfaithful_recall=0.5)
HIGH = Threshold(agreement=0.9, unfaithful_precision=0.9, unfaithful_recall=0.9)
FILES = ("--labels", "labels.json", "--preregistered", "fixed.json")
SCRIPTED = ("--chat-provider", "scripted", "--chat-script", "replies.json")
VERDICTS, REPORT = "calibration-verdicts.json", "calibration-latest.json"
COMMAND = ("eval", "calibrate", *FILES, "--results", "results")


def prepare(shell: Shell, **fields: Any) -> None:
    """Labels, a pre-registration of them that is committed, and a script."""
    labels = tuple(
        Label(id=f"a{n}", answer=f"{CANARY} {n}.", sources=(f"{CANARY} s{n}.",), faithful=faithful)
        for n, faithful in enumerate(TRUTH)
    )
    rubric = fields.get("rubric", JUDGE.prompt_hash)
    path = shell.folder / "labels.json"
    write_artifact(path, LabelSet(rubric_hash=rubric, origin="for a test", labels=labels))
    fixed = Preregistration(
        labels_hash=file_hash(path),
        judge=fields.get("judge", JUDGE),
        threshold=fields.get("threshold", LOW),
    )
    write_artifact(shell.folder / "fixed.json", fixed)
    commit(shell.folder / "fixed.json")
    shell.write("replies.json", json.dumps(SAID))


@pytest.fixture
def fixed(tmp_path: Path) -> Shell:
    """A shell in a repository with labels, a committed pre-registration and a script."""
    shell = Shell(tmp_path)
    prepare(shell)
    return shell


def report_of(shell: Shell) -> CalibrationReport:
    return read_artifact(shell.folder / "results" / REPORT, CalibrationReport)


def cells(ran: Ran, name: str) -> list[str]:
    """The cells of a row of the table, without its name."""
    (line,) = (line for line in ran.lines if line.startswith(f"{name} "))
    return line.removeprefix(name).split()


def test_figures_are_shown_with_their_intervals_and_thresholds(fixed: Shell) -> None:
    ran = fixed(*COMMAND, *SCRIPTED)
    assert ran.lines[0] == "scripted scripted: 4 of 5 answers judged, 1 verdicts not valid"
    assert cells(ran, "agreement") == ["0.60", "0.23", "to", "0.88", "3", "/", "5", "0.50"]
    assert cells(ran, "precision, unfaithful")[0] == "1.00"
    assert cells(ran, "precision, unfaithful")[-4:] == ["1", "/", "1", "1.00"]
    assert cells(ran, "recall, unfaithful")[-4:] == ["1", "/", "2", "0.50"]
    assert cells(ran, "precision, faithful")[-3:] == ["2", "/", "3"]
    assert cells(ran, "recall, faithful")[-3:] == ["2", "/", "3"]
    by_chance = (3 * 3 + 2 * 1) / 5**2
    assert cells(ran, "Cohen's kappa")[0] == f"{(0.6 - by_chance) / (1 - by_chance):.2f}"
    assert "the pre-registered threshold is met" in ran.lines
    warning, line = ran.err.splitlines()
    assert warning == f"warning: {STRUCTURAL['scripted']}"
    assert line == f"written to results: {REPORT}, {VERDICTS}"


def test_report_and_verdicts_are_written_and_nothing_else(fixed: Shell) -> None:
    fixed(*COMMAND, *SCRIPTED)
    assert {path.name for path in (fixed.folder / "results").iterdir()} == {REPORT, VERDICTS}
    run = read_artifact(fixed.folder / "results" / VERDICTS, VerdictRun)
    assert run.preregistration_hash == file_hash(fixed.folder / "fixed.json")
    assert [each.id for each in run.verdicts] == ["a0", "a1", "a2", "a3", "a4"]
    report = report_of(fixed)
    assert [each.id for each in report.disagreements] == ["a1", "a4"]
    assert report.warnings == (STRUCTURAL["scripted"],)


@pytest.mark.parametrize("threshold", [LOW, HIGH], ids=["met", "not met"])
@pytest.mark.parametrize("rubric", [JUDGE.prompt_hash, "another"], ids=["the judge's", "another"])
def test_whatever_comes_of_it_the_command_succeeds_and_says_that_nothing_follows(
    fixed: Shell, threshold: Threshold, rubric: str
) -> None:
    prepare(fixed, threshold=threshold, rubric=rubric)
    ran = fixed(*COMMAND, *SCRIPTED)
    advisory = [line for line in ran.lines if line.startswith("advisory: ")]
    met = "met" if threshold == LOW else "not met"
    assert f"the pre-registered threshold is {met}" in ran.lines
    assert "gating on a verdict needs a decision" in advisory[-1]
    assert ["another rubric" in line for line in advisory] == (
        [False] if rubric == JUDGE.prompt_hash else [True, False]
    )


def test_json_is_the_report_and_nothing_else(fixed: Shell) -> None:
    ran = fixed(*COMMAND, *SCRIPTED, "--json")
    assert CalibrationReport.model_validate_json(ran.out) == report_of(fixed)
    assert ran.json["figures"]["agreement"]["value"] == 0.6
    (line,) = ran.err.splitlines()
    assert line.startswith("written to results: ")


def test_verdicts_are_measured_again_without_a_model(fixed: Shell) -> None:
    first = fixed(*COMMAND, *SCRIPTED)
    before = (fixed.folder / "results" / VERDICTS).read_bytes()
    fixed.write("kept.json", before)
    again = fixed(*COMMAND[:-2], "--results", "other", "--verdicts", "kept.json")
    assert again.out == first.out
    assert again.err.splitlines()[-1] == f"written to other: {REPORT}"
    assert [path.name for path in (fixed.folder / "other").iterdir()] == [REPORT]
    assert (fixed.folder / "kept.json").read_bytes() == before


@pytest.mark.parametrize(
    "flag",
    [
        ("--chat-provider", "scripted"),
        ("--chat-model", "m"),
        ("--chat-script", "replies.json"),
        ("--chat-timeout", "9"),
        ("--chat-allow-private-endpoint",),
        ("--redact",),
        ("--redact-name", "Ada"),
        ("--redact-pattern", "BADGE=B[0-9]+"),
        ("--detect-names",),
    ],
    ids=lambda flag: flag[0],
)
def test_a_flag_for_a_model_beside_verdicts_is_refused(
    fixed: Shell, invoke: Invoke, flag: tuple[str, ...]
) -> None:
    before = tree(fixed.folder)
    ran = invoke(*COMMAND, "--verdicts", "kept.json", *flag)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "--verdicts asks no model" in ran.stderr
    assert tree(fixed.folder) == before


@pytest.mark.parametrize("missing", ["--labels", "--preregistered"])
def test_both_files_have_to_be_named(fixed: Shell, invoke: Invoke, missing: str) -> None:
    at = FILES.index(missing)
    ran = invoke("eval", "calibrate", *FILES[:at], *FILES[at + 2 :], *SCRIPTED)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"'{missing}'" in ran.stderr
    assert not (fixed.folder / "evals").exists()


def uncommitted(shell: Shell) -> None:
    """Take the repository away."""
    (shell.folder / ".git").rename(shell.folder / "old")


def changed(shell: Shell) -> None:
    path = shell.folder / "fixed.json"
    path.write_text(path.read_text("utf-8").replace("0.5", "0.1"), "utf-8")


def relabelled(shell: Shell) -> None:
    path = shell.folder / "labels.json"
    path.write_text(path.read_text("utf-8").replace("true", "false", 1), "utf-8")


def other_model(shell: Shell) -> None:
    prepare(shell, judge=JUDGE.model_copy(update={"model_name": "another"}))


def other_prompt(shell: Shell) -> None:
    prepare(shell, judge=JUDGE.model_copy(update={"prompt_hash": "0" * 64}))


def no_labels(shell: Shell) -> None:
    (shell.folder / "labels.json").unlink()


def no_json(shell: Shell) -> None:
    shell.write("labels.json", f'{{"{CANARY}')


def labels_instead(shell: Shell) -> None:
    (shell.folder / "labels.json").replace(shell.folder / "fixed.json")
    commit(shell.folder / "fixed.json")


Spoil = Callable[[Shell], None]
REFUSED: list[tuple[Spoil, int, str]] = [
    (uncommitted, 2, "fixed.json: it is not committed"),
    (changed, 2, "fixed.json: it was changed since it was committed"),
    (relabelled, 2, "labels.json: these are not the labels of the pre-registration"),
    (other_model, 2, "fixed.json: it is about scripted another"),
    (other_prompt, 2, "fixed.json: it is about scripted scripted (prompt 000000000000)"),
    (no_labels, 3, "labels.json: No such file or directory"),
    (no_json, 3, "labels.json: it is no LabelSet: Invalid JSON"),
    (labels_instead, 3, "fixed.json: it is no Preregistration"),
]


@pytest.mark.parametrize(("spoil", "code", "said"), REFUSED)
def test_what_may_not_be_measured_is_refused_in_one_line_and_no_model_is_asked(
    fixed: Shell, invoke: Invoke, spoil: Spoil, code: int, said: str
) -> None:
    spoil(fixed)
    fixed.write("replies.json", "[]")  # asked for one, it would be the script that ends
    before = tree(fixed.folder)
    ran = invoke(*COMMAND, *SCRIPTED)
    assert (ran.exit_code, ran.stdout) == (code, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"grk: {said}")
    assert CANARY not in line
    assert tree(fixed.folder) == before


def test_a_refusal_beside_json_is_one_document(fixed: Shell) -> None:
    uncommitted(fixed)
    ran = fixed(*COMMAND, *SCRIPTED, "--json", code=2)
    assert Failure.model_validate_json(ran.out).error.type == "ConfigurationError"
    assert ran.err == ""


def other_preregistration(shell: Shell) -> None:
    prepare(shell, threshold=HIGH)


def of_another_version(shell: Shell) -> None:
    raw = json.loads((shell.folder / "kept.json").read_bytes())
    shell.write("kept.json", json.dumps(raw | {"schema_version": 2}))


def of_another_kind(shell: Shell) -> None:
    shell.write("kept.json", (shell.folder / "labels.json").read_bytes())


def cut_off(shell: Shell) -> None:
    path = shell.folder / "kept.json"
    path.write_bytes(path.read_bytes()[:-10])


def one_less(shell: Shell) -> None:
    raw = json.loads((shell.folder / "kept.json").read_bytes())
    shell.write("kept.json", json.dumps(raw | {"verdicts": raw["verdicts"][:-1]}))


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        (uncommitted, 2, "fixed.json: it is not committed"),
        (changed, 2, "fixed.json: it was changed since it was committed"),
        (relabelled, 2, "labels.json: these are not the labels of the pre-registration"),
        (other_preregistration, 2, "the verdicts were made under another pre-registration"),
        (one_less, 3, "the verdicts are not on the labels' answers"),
        (of_another_version, 3, "kept.json: it is no VerdictRun: schema_version"),
        (of_another_kind, 3, "kept.json: it is no VerdictRun"),
        (cut_off, 3, "kept.json: it is no VerdictRun: Invalid JSON"),
    ],
)
def test_verdicts_that_may_not_be_measured_are_refused(
    fixed: Shell, invoke: Invoke, spoil: Spoil, code: int, said: str
) -> None:
    assert invoke(*COMMAND, *SCRIPTED).exit_code == 0
    (fixed.folder / "results" / VERDICTS).rename(fixed.folder / "kept.json")
    spoil(fixed)
    before = tree(fixed.folder)
    ran = invoke(*COMMAND, "--verdicts", "kept.json")
    assert (ran.exit_code, ran.stdout) == (code, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"grk: {said}")
    assert tree(fixed.folder) == before


def test_a_model_that_fails_leaves_earlier_results_and_the_next_run_goes_on(fixed: Shell) -> None:
    fixed(*COMMAND, *SCRIPTED)
    before = {name: (fixed.folder / "results" / name).read_bytes() for name in (REPORT, VERDICTS)}
    fixed.write("replies.json", json.dumps(SAID[:3]))
    ran = fixed(*COMMAND, *SCRIPTED, code=4)
    assert (ran.out, ran.err) == (
        "",
        "grk: the script holds 3 replies and one more was asked for\n",
    )
    assert {name: (fixed.folder / "results" / name).read_bytes() for name in before} == before
    fixed.write("replies.json", json.dumps(SAID[3:]))
    fixed(*COMMAND, *SCRIPTED)
    assert report_of(fixed).figures.agreement.hits == 3
    assert {path.name for path in (fixed.folder / "results").iterdir()} == set(before)


def test_a_model_on_a_server_is_asked_about_each_answer_with_its_texts_redacted(
    fixed: Shell,
) -> None:
    judge = JUDGE.model_copy(update={"provider": "openai_compatible", "model_name": "some-model"})
    prepare(fixed, judge=judge)
    with FaultyServer(answered(FAITHFUL, "openai")) as server:
        fixed(*COMMAND, *openai(server), "--redact-name", CANARY)
    assert len(server.requests) == len(TRUTH)
    assert not any(CANARY.encode() in request.body for request in server.requests)
    assert read_artifact(fixed.folder / "results" / VERDICTS, VerdictRun).redacted
    assert report_of(fixed).warnings == ()


@pytest.mark.parametrize("place", ["results", f"results/{VERDICTS}", f"results/{REPORT}"])
def test_what_stands_in_the_way_is_named_in_one_line(fixed: Shell, place: str) -> None:
    if place == "results":
        fixed.write(place, "something else")
    else:
        (fixed.folder / place).mkdir(parents=True)
    ran = fixed(*COMMAND, *SCRIPTED, code=3)
    assert ran.out == ""
    assert CANARY not in ran.err
    assert "Traceback" not in ran.err
    assert ran.err.splitlines()[-1].startswith("grk: ")


def test_control_characters_are_escaped_on_a_terminal(fixed: Shell) -> None:
    evil = "".join(KINDS.values())
    prepare(fixed, judge=JUDGE.model_copy(update={"model_name": evil}))
    ran = fixed(*COMMAND, *SCRIPTED, code=2)
    assert forbidden(ran.err) == []
    assert len(ran.err.splitlines()) == 1
    with FaultyServer(answered(FAITHFUL, "openai")) as server:
        named = JUDGE.model_copy(update={"provider": "openai_compatible", "model_name": evil})
        prepare(fixed, judge=named)
        ran = fixed(*COMMAND, *openai(server), "--chat-model", evil)
    assert forbidden(ran.out + ran.err) == []
    raw = json.loads((fixed.folder / "results" / VERDICTS).read_bytes())
    for each in raw["verdicts"]:
        each |= {"verdict": None, "judge_error": evil}
    fixed.write("kept.json", json.dumps(raw))
    ran = fixed.terminal(*COMMAND, "--verdicts", "kept.json")
    assert forbidden(ran.out + ran.err) == []
    assert CANARY not in ran.out + ran.err
