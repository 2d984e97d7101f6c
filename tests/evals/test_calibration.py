"""How far a judge agrees with labels, and what may not be measured."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("groundkit_providers", reason="calibration asks a model (groundkit-evals[llm])")

from groundkit_core.errors import ChatError, ConfigurationError, EvalError, GroundkitError
from groundkit_evals.artifacts import read_artifact, write_artifact
from groundkit_evals.calibration import (
    CalibrationReport,
    Disagreement,
    LabelVerdict,
    Share,
    VerdictRun,
    calibrate,
    judge_labels,
)
from groundkit_evals.labels import Label, LabelSet, Preregistration, Threshold, file_hash
from groundkit_evals.metrics import kappa_interval, wilson_interval
from groundkit_evals.runner import STRUCTURAL
from groundkit_evals.schema import ModelIdentity, Verdict
from groundkit_evals.synthesis import judge_identity
from groundkit_providers.judge import JUDGE_SYSTEM
from groundkit_providers.llm import RedactingChat
from groundkit_providers.protocols import ChatProtocol

from tests.evals.test_labels import commit
from tests.providers.answering_helpers import CANARY, context_of, run, scripted
from tests.providers.test_judge import FAITHFUL, INVALID, UNFAITHFUL

JUDGE = judge_identity(scripted())
TRUTH = "FFFFFFUUUU"
SAID = "FFFFUxUUFx"
"""A letter a label or verdict: faithful, unfaithful, or x for none that is valid.

            said F  said U  said x
    truly F      4       1       1     of 6
    truly U      1       2       1     of 4
"""
EXACT = Threshold(agreement=6 / 10, unfaithful_precision=2 / 3, unfaithful_recall=2 / 4)
NONE = Threshold(agreement=0, unfaithful_precision=0, unfaithful_recall=0)
DECISION = "gating on a verdict needs a decision that allows it"


class Fixed:
    """A file of labels and a committed pre-registration about them."""

    def __init__(self, folder: Path) -> None:
        self.labels, self.preregistered = folder / "labels.json", folder / "fixed.json"
        self.journal = folder / "journal.jsonl"

    def write(
        self,
        truth: str = TRUTH,
        *,
        rubric: str = JUDGE.prompt_hash,
        threshold: Threshold = EXACT,
        judge: ModelIdentity = JUDGE,
    ) -> None:
        """Write both and commit the pre-registration."""
        labels = tuple(
            Label(id=f"a{n}", question=f"Q{n}?", answer=f"A{n}.", sources=(f"S{n}.", "T."),
                  faithful=letter == "F")
            for n, letter in enumerate(truth)
        )  # fmt: skip
        write_artifact(
            self.labels, LabelSet(rubric_hash=rubric, origin="made for a test", labels=labels)
        )
        fixed = Preregistration(
            labels_hash=file_hash(self.labels), judge=judge, threshold=threshold
        )
        write_artifact(self.preregistered, fixed)
        commit(self.preregistered)

    def judged(self, chat: ChatProtocol) -> VerdictRun:
        """The verdicts of a model."""
        return run(judge_labels(self.labels, self.preregistered, chat, self.journal))

    def report(self, said: str = SAID) -> CalibrationReport:
        """The figures of a judge that says this."""
        self.journal.unlink(missing_ok=True)
        verdicts = self.judged(scripted(*map(spelt, said)))
        return calibrate(self.labels, self.preregistered, verdicts)


def spelt(letter: str) -> str:
    """A judge's reply."""
    return {"F": FAITHFUL, "U": UNFAITHFUL, "x": INVALID["a trailing comma"]}[letter]


def share(hits: int, n: int) -> Share:
    low, high = wilson_interval(hits, n)
    return Share(hits=hits, n=n, value=hits / n if n else None, low=low, high=high)


@pytest.fixture
def fixed(tmp_path: Path) -> Fixed:
    made = Fixed(tmp_path)
    made.write()
    return made


def test_figures_are_those_of_the_table(fixed: Fixed) -> None:
    report = fixed.report()
    figures = report.figures
    assert figures.agreement == share(4 + 2, 10)
    assert figures.faithful_precision == share(4, 4 + 1)
    assert figures.faithful_recall == share(4, 6)
    assert figures.unfaithful_precision == share(2, 1 + 2)
    assert figures.unfaithful_recall == share(2, 4)
    by_chance = (6 * 5 + 4 * 3 + 0 * 2) / 100
    assert figures.kappa == pytest.approx((0.6 - by_chance) / (1 - by_chance), abs=1e-12)
    classes = {"F": True, "U": False, "x": None}
    truth, said = ([classes[letter] for letter in letters] for letters in (TRUTH, SAID))
    assert figures.kappa_interval == kappa_interval(truth, said)
    assert (report.n_total, report.n_judged, report.judge_errors) == (10, 8, 2)


def test_the_report_says_what_it_is_about(fixed: Fixed) -> None:
    report = fixed.report()
    assert report.judge == JUDGE
    assert report.origin == "made for a test"
    assert report.labels_hash == file_hash(fixed.labels)
    assert report.preregistration_hash == file_hash(fixed.preregistered)
    assert report.threshold == EXACT
    assert report.warnings == (STRUCTURAL["scripted"],)
    write_artifact(fixed.journal, report)
    assert read_artifact(fixed.journal, CalibrationReport) == report


def test_disagreements_are_listed_with_what_was_said_and_errors_among_them(fixed: Fixed) -> None:
    report = fixed.report()
    assert [(each.id, each.faithful) for each in report.disagreements] == [
        *(("a4", True), ("a5", True)),
        *(("a8", False), ("a9", False)),
    ]
    wrong, error, *_ = report.disagreements
    assert wrong == Disagreement(
        id="a4",
        faithful=True,
        verdict=Verdict(faithful=False, unsupported_claims=("it is red",), reasoning="No."),
    )
    assert error.verdict is None
    assert "the verdict is not valid" in (error.judge_error or "")
    assert fixed.report(TRUTH).disagreements == ()


@pytest.mark.parametrize("name", ["agreement", "unfaithful_precision", "unfaithful_recall"])
def test_a_threshold_is_met_only_if_each_figure_reaches_it(tmp_path: Path, name: str) -> None:
    for number, more in enumerate((0.0, 1e-9)):
        (tmp_path / str(number)).mkdir()
        made = Fixed(tmp_path / str(number))
        least = EXACT.model_copy(update={name: getattr(EXACT, name) + more})
        made.write(threshold=least)
        assert made.report().threshold_met is (more == 0.0)


@pytest.mark.parametrize(
    ("truth", "said", "unfaithful"),
    [
        ("FFFF", "FFFF", (share(0, 0), share(0, 0))),
        ("FFUU", "FFFF", (share(0, 0), share(0, 2))),
        ("FFFF", "FFFU", (share(0, 1), share(0, 0))),
        ("FFUU", "xxxx", (share(0, 0), share(0, 2))),
    ],
)
def test_a_figure_without_a_value_reaches_nothing(
    fixed: Fixed, truth: str, said: str, unfaithful: tuple[Share, Share]
) -> None:
    fixed.write(truth, threshold=NONE)
    report = fixed.report(said)
    figures = report.figures
    assert (figures.unfaithful_precision, figures.unfaithful_recall) == unfaithful
    assert not report.threshold_met
    text = report.model_dump_json()
    assert "NaN" not in text
    assert CalibrationReport.model_validate_json(text) == report


def test_kappa_has_no_value_where_chance_agrees_always(fixed: Fixed) -> None:
    fixed.write("FFFF")
    figures = fixed.report("FFFF").figures
    assert (figures.agreement.value, figures.kappa, figures.kappa_interval) == (1.0, None, None)


@pytest.mark.parametrize("said", ["FFFFFFUUUU", SAID], ids=["met", "not met"])
def test_labels_of_another_rubric_are_reported_as_advisory_whatever_the_figures(
    fixed: Fixed, said: str
) -> None:
    strict = Threshold(agreement=1, unfaithful_precision=1, unfaithful_recall=1)
    fixed.write(rubric="another", threshold=strict)
    report = fixed.report(said)
    assert report.threshold_met is (said == TRUTH)
    assert not report.rubric_is_the_judges
    rubric, gating = report.advisory
    assert "another rubric" in rubric
    assert DECISION in gating


def test_labels_of_the_judges_rubric_still_need_a_decision(fixed: Fixed) -> None:
    report = fixed.report(TRUTH)
    assert report.threshold_met
    assert report.rubric_is_the_judges
    (gating,) = report.advisory
    assert DECISION in gating


def test_each_answer_is_judged_from_its_own_sources(fixed: Fixed) -> None:
    chat = scripted(*map(spelt, SAID))
    verdicts = fixed.judged(chat)
    assert [each.id for each in verdicts.verdicts] == [f"a{n}" for n in range(10)]
    assert verdicts.labels_hash == file_hash(fixed.labels)
    assert verdicts.preregistration_hash == file_hash(fixed.preregistered)
    assert not verdicts.redacted
    assert len(chat.calls) == 10
    for number, (prompt, system) in enumerate(chat.calls):
        assert system == JUDGE_SYSTEM
        assert f"\nS{number}.\n" in context_of(prompt)
        assert "\nT.\n" in context_of(prompt)
        assert f"Question: Q{number}?" in prompt
        assert f"<answer>\nA{number}.\n</answer>" in prompt


@pytest.mark.parametrize("bad", [*INVALID.values(), " ", "<think>True.</think>"])
def test_a_malformed_verdict_is_counted_and_not_asked_for_again(fixed: Fixed, bad: str) -> None:
    fixed.write("FU")
    chat = scripted(bad, UNFAITHFUL)
    first, second = fixed.judged(chat).verdicts
    assert len(chat.calls) == 2
    assert first.verdict is None
    assert first.judge_error
    assert CANARY not in first.judge_error
    assert (second.verdict is None, second.judge_error) == (False, None)


@pytest.mark.parametrize("finished", [0, 3, 9])
def test_a_run_that_was_ended_by_its_model_goes_on(fixed: Fixed, finished: int) -> None:
    replies = list(map(spelt, SAID))
    with pytest.raises(ChatError, match="one more was asked for"):
        fixed.judged(scripted(*replies[:finished]))
    rest = scripted(*replies[finished:])
    verdicts = fixed.judged(rest)
    assert len(rest.calls) == 10 - finished
    fixed.journal.unlink()
    assert verdicts.verdicts == fixed.judged(scripted(*replies)).verdicts


def test_a_run_under_another_preregistration_labels_or_redaction_begins_anew(
    fixed: Fixed,
) -> None:
    fixed.judged(scripted(*map(spelt, SAID)))
    chat = scripted(*map(spelt, SAID + SAID + SAID))
    assert fixed.judged(RedactingChat(chat)).redacted
    assert len(chat.calls) == 10
    lower = Threshold(agreement=0.1, unfaithful_precision=0.1, unfaithful_recall=0.1)
    fixed.write(threshold=lower)
    assert fixed.judged(RedactingChat(chat)).redacted
    assert len(chat.calls) == 20
    fixed.write(rubric="another", threshold=lower)
    assert fixed.judged(RedactingChat(chat)).redacted
    assert len(chat.calls) == 30


def test_progress_is_told_for_every_answer(fixed: Fixed) -> None:
    told: list[tuple[str, int, int]] = []
    run(
        judge_labels(
            fixed.labels,
            fixed.preregistered,
            scripted(*map(spelt, SAID)),
            fixed.journal,
            lambda *step: told.append(step),
        )
    )
    assert told == [("judge", done, 10) for done in range(11)]


OTHERS = {
    "another provider": {"provider": "ollama"},
    "another model": {"model_name": "another"},
    "another prompt": {"prompt_hash": "0" * 64},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_judge_that_was_not_preregistered_is_not_asked(
    fixed: Fixed, other: dict[str, str]
) -> None:
    fixed.write(judge=JUDGE.model_copy(update=other))
    chat = scripted(*map(spelt, SAID))
    with pytest.raises(ConfigurationError, match="needs a pre-registration of its own") as caught:
        fixed.judged(chat)
    assert chat.calls == []
    assert not fixed.journal.exists()
    assert next(iter(other.values()))[:12] in str(caught.value)


def uncommitted(fixed: Fixed) -> None:
    """Take the repository away."""
    (fixed.preregistered.parent / ".git").rename(fixed.preregistered.parent / "old")


def changed_since(fixed: Fixed) -> None:
    text = fixed.preregistered.read_text("utf-8")
    fixed.preregistered.write_text(text.replace("0.6", "0.1"), "utf-8")


def another_label(fixed: Fixed) -> None:
    text = fixed.labels.read_text("utf-8")
    fixed.labels.write_text(text.replace("true", "false", 1), "utf-8")


def one_more_line(fixed: Fixed) -> None:
    fixed.labels.write_text(fixed.labels.read_text("utf-8") + "\n", "utf-8")


def no_labels(fixed: Fixed) -> None:
    fixed.labels.write_text("{}", "utf-8")


@pytest.mark.parametrize(
    ("spoil", "kind", "said"),
    [
        (uncommitted, ConfigurationError, "it is not committed"),
        (changed_since, ConfigurationError, "changed since it was committed"),
        (another_label, ConfigurationError, "labels may not change once a threshold is fixed"),
        (one_more_line, ConfigurationError, "labels may not change once a threshold is fixed"),
        (no_labels, EvalError, "it is no LabelSet"),
    ],
)
def test_files_that_are_not_as_they_were_fixed_are_refused_before_and_after_judging(
    fixed: Fixed, spoil: Any, kind: type[GroundkitError], said: str
) -> None:
    verdicts = fixed.judged(scripted(*map(spelt, SAID)))
    fixed.journal.unlink()
    spoil(fixed)
    chat = scripted(*map(spelt, SAID))
    with pytest.raises(kind, match=said):
        fixed.judged(chat)
    assert chat.calls == []
    assert not fixed.journal.exists()
    with pytest.raises(kind, match=said):
        calibrate(fixed.labels, fixed.preregistered, verdicts)


WRONG_RUNS: dict[str, dict[str, Any]] = {
    "another pre-registration": {"preregistration_hash": "0" * 64},
    "other labels": {"labels_hash": "0" * 64},
    **{name: {"judge": JUDGE.model_copy(update=other)} for name, other in OTHERS.items()},
    "no verdicts": {"verdicts": ()},
    "an answer that is no label's": {
        "verdicts": (*(LabelVerdict(id=f"a{n}", judge_error="?") for n in range(10)),
                     LabelVerdict(id="b", judge_error="?"))
    },
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_RUNS.values(), ids=WRONG_RUNS)
def test_verdicts_that_were_not_made_under_the_preregistration_are_refused(
    fixed: Fixed, wrong: dict[str, Any]
) -> None:
    verdicts = fixed.judged(scripted(*map(spelt, SAID)))
    with pytest.raises((ConfigurationError, EvalError), match=r"the verdicts (are|were)"):
        calibrate(fixed.labels, fixed.preregistered, verdicts.model_copy(update=wrong))


def test_the_order_of_verdicts_is_of_no_importance(fixed: Fixed) -> None:
    verdicts = fixed.judged(scripted(*map(spelt, SAID)))
    turned = verdicts.model_copy(update={"verdicts": verdicts.verdicts[::-1]})
    reports = [calibrate(fixed.labels, fixed.preregistered, each) for each in (verdicts, turned)]
    assert reports[0].figures == reports[1].figures
    assert reports[0].disagreements == reports[1].disagreements


@pytest.mark.parametrize("name", ["labels", "preregistered"])
def test_a_file_of_another_kind_is_no_run_of_verdicts(fixed: Fixed, name: str) -> None:
    verdicts = fixed.judged(scripted(*map(spelt, SAID)))
    path = fixed.journal.with_name("verdicts.json")
    write_artifact(path, verdicts)
    assert read_artifact(path, VerdictRun) == verdicts
    with pytest.raises(EvalError, match="it is no VerdictRun"):
        read_artifact(getattr(fixed, name), VerdictRun)
    raw = json.loads(path.read_bytes())
    path.write_text(json.dumps(raw | {"schema_version": 2}), "utf-8")
    with pytest.raises(EvalError, match="schema_version"):
        read_artifact(path, VerdictRun)


def test_a_second_verdict_on_a_label_is_refused(fixed: Fixed) -> None:
    fixed.write()
    judged = fixed.judged(scripted(*map(spelt, SAID)))
    twice = judged.model_copy(update={"verdicts": (*judged.verdicts, judged.verdicts[0])})
    with pytest.raises(EvalError, match="not on the labels' answers"):
        calibrate(fixed.labels, fixed.preregistered, twice)


@pytest.mark.parametrize("both", [True, False])
def test_there_is_a_verdict_or_a_reason_why_there_is_none(both: bool) -> None:
    verdict = Verdict(faithful=True, unsupported_claims=(), reasoning="") if both else None
    with pytest.raises(ValueError, match="or the reason why there is none"):
        LabelVerdict(id="a", verdict=verdict, judge_error="x" if both else None)


def test_other_settings_begin_anew(fixed: Fixed) -> None:
    fixed.write()
    chat = scripted(*map(spelt, SAID[:4]))
    with pytest.raises(ChatError):
        fixed.judged(chat)
    again = scripted(*map(spelt, SAID))
    judging = judge_labels(
        fixed.labels, fixed.preregistered, again, fixed.journal, settings="temperature 1"
    )
    assert len(run(judging).verdicts) == len(again.calls) == len(SAID)
