"""How far a judge agrees with people. It never decides anything.

That a threshold is met gates nothing either: that would need a decision of its own.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from groundkit_core.contracts import Contract
from groundkit_core.errors import ChatReplyError, ConfigurationError, EvalError, JudgeError
from groundkit_providers.judge import FaithfulnessJudge
from groundkit_providers.llm import RedactingChat
from groundkit_providers.protocols import ChatProtocol
from pydantic import model_validator

from groundkit_evals.artifacts import read_artifact
from groundkit_evals.journal import Journal
from groundkit_evals.labels import LabelSet, Preregistration, Threshold, file_hash, preregistration
from groundkit_evals.metrics import (
    agreement,
    class_precision,
    class_recall,
    cohen_kappa,
    kappa_interval,
    wilson_interval,
)
from groundkit_evals.runner import STRUCTURAL, Progress
from groundkit_evals.schema import ModelIdentity, Verdict
from groundkit_evals.synthesis import judge_identity

__all__ = [
    "CalibrationReport",
    "Disagreement",
    "LabelVerdict",
    "Share",
    "VerdictRun",
    "calibrate",
    "judge_labels",
]

GATING = "whatever the figures are, gating on a verdict needs a decision that allows it"


class LabelVerdict(Contract):
    """What the judge said of a labelled answer, or why it said nothing valid."""

    id: str
    verdict: Verdict | None = None
    judge_error: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.verdict is None) == (self.judge_error is None):
            raise ValueError("there must be a verdict, or the reason why there is none")
        return self


class VerdictRun(Contract):
    """Verdicts on labelled answers; `preregistration_hash` was recorded before the first."""

    schema_version: Literal[1] = 1
    started: str
    preregistration_hash: str
    labels_hash: str
    judge: ModelIdentity
    redacted: bool
    verdicts: tuple[LabelVerdict, ...]


class Share(Contract):
    """`hits` out of `n`, with the 95 % interval of the share; no value where n is 0."""

    hits: int
    n: int
    value: float | None
    low: float
    high: float


class Figures(Contract):
    """Agreement over all labels, and how each class fares; kappa with its 95 % interval."""

    agreement: Share
    kappa: float | None
    kappa_interval: tuple[float, float] | None
    faithful_precision: Share
    faithful_recall: Share
    unfaithful_precision: Share
    unfaithful_recall: Share


class Disagreement(Contract):
    """A labelled answer on which judge and label differ; no verdict is a difference."""

    id: str
    faithful: bool
    verdict: Verdict | None = None
    judge_error: str | None = None


class CalibrationReport(Contract):
    """Agreement of a judge with labels; an answer without a valid verdict agrees with nothing."""

    schema_version: Literal[1] = 1
    created: str
    preregistration_hash: str
    labels_hash: str
    origin: str
    judge: ModelIdentity
    rubric_is_the_judges: bool
    advisory: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    n_total: int
    n_judged: int
    judge_errors: int
    figures: Figures
    threshold: Threshold
    threshold_met: bool
    disagreements: tuple[Disagreement, ...]


async def judge_labels(
    labels_file: Path,
    preregistered: Path,
    chat: ChatProtocol,
    journal: Path,
    progress: Progress | None = None,
    *,
    settings: str = "",
) -> VerdictRun:
    """Judge every labelled answer; what a killed run had finished is kept in `journal`."""
    fixed = preregistration(preregistered)
    labels, labels_hash = _labels(labels_file, fixed)
    judge = judge_identity(chat)
    if judge != fixed.judge:
        raise ConfigurationError(
            f"{preregistered}: it is about {_named(fixed.judge)}, the judge is {_named(judge)}; "
            "another judge or prompt is another instrument and needs a pre-registration of its own"
        )
    fixed_hash = file_hash(preregistered)
    redacted = isinstance(chat, RedactingChat)
    header = {"preregistration": fixed_hash, "redacted": redacted, "settings": settings}
    kept = Journal(journal, LabelVerdict, header)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    for number, label in enumerate(labels.labels):
        if progress:
            progress("judge", number, len(labels.labels))
        if label.id in kept.done:
            continue
        try:
            said = await FaithfulnessJudge(chat).judge(
                query=label.question, answer=label.answer, sources=label.sources
            )
            found = LabelVerdict(id=label.id, verdict=Verdict(**said.model_dump()))
        except (JudgeError, ChatReplyError) as error:
            found = LabelVerdict(id=label.id, judge_error=str(error))
        kept.add(label.id, found)
    if progress:
        progress("judge", len(labels.labels), len(labels.labels))
    return VerdictRun(
        started=started,
        preregistration_hash=fixed_hash,
        labels_hash=labels_hash,
        judge=judge,
        redacted=redacted,
        verdicts=tuple(kept.done[label.id] for label in labels.labels),
    )


def calibrate(labels_file: Path, preregistered: Path, run: VerdictRun) -> CalibrationReport:
    """The figures of a verdict run; the judge's prompt is its rubric."""
    fixed = preregistration(preregistered)
    labels, labels_hash = _labels(labels_file, fixed)
    fixed_hash = file_hash(preregistered)
    if run.preregistration_hash != fixed_hash:
        raise ConfigurationError(
            f"the verdicts were made under another pre-registration than {preregistered}"
        )
    if run.labels_hash != labels_hash or run.judge != fixed.judge:
        raise ConfigurationError("the verdicts are on other labels or by another judge")
    by_id = {each.id: each for each in run.verdicts}
    if len(by_id) < len(run.verdicts) or by_id.keys() != {label.id for label in labels.labels}:
        raise EvalError("the verdicts are not on the labels' answers")
    truth = [label.faithful for label in labels.labels]
    found = [by_id[label.id] for label in labels.labels]
    said = [each.verdict.faithful if each.verdict else None for each in found]
    figures = _figures(truth, said)
    same_rubric = labels.rubric_hash == run.judge.prompt_hash
    structural = STRUCTURAL.get(run.judge.provider)
    return CalibrationReport(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        preregistration_hash=fixed_hash,
        labels_hash=labels_hash,
        origin=labels.origin,
        judge=run.judge,
        rubric_is_the_judges=same_rubric,
        advisory=_advisory(same_rubric),
        warnings=(structural,) if structural else (),
        n_total=len(truth),
        n_judged=sum(verdict is not None for verdict in said),
        judge_errors=sum(verdict is None for verdict in said),
        figures=figures,
        threshold=fixed.threshold,
        threshold_met=_met(figures, fixed.threshold),
        disagreements=tuple(
            Disagreement(
                id=label.id,
                faithful=label.faithful,
                verdict=each.verdict,
                judge_error=each.judge_error,
            )
            for label, each, verdict in zip(labels.labels, found, said, strict=True)
            if verdict != label.faithful
        ),
    )


def _labels(path: Path, fixed: Preregistration) -> tuple[LabelSet, str]:
    labels, found = read_artifact(path, LabelSet), file_hash(path)
    if found != fixed.labels_hash:
        raise ConfigurationError(
            f"{path}: these are not the labels of the pre-registration ({found[:12]}, not "
            f"{fixed.labels_hash[:12]}); labels may not change once a threshold is fixed"
        )
    return labels, found


def _figures(truth: Sequence[bool], said: Sequence[bool | None]) -> Figures:
    agreed = sum(label == verdict for label, verdict in zip(truth, said, strict=True))
    return Figures(
        agreement=_share(agreed, len(truth), agreement(truth, said)),
        kappa=cohen_kappa(truth, said),
        kappa_interval=kappa_interval(truth, said),
        faithful_precision=_precision(truth, said, True),
        faithful_recall=_recall(truth, said, True),
        unfaithful_precision=_precision(truth, said, False),
        unfaithful_recall=_recall(truth, said, False),
    )


def _precision(truth: Sequence[bool], said: Sequence[bool | None], of: bool) -> Share:
    return _share(_both(truth, said, of), said.count(of), class_precision(truth, said, of))


def _recall(truth: Sequence[bool], said: Sequence[bool | None], of: bool) -> Share:
    return _share(_both(truth, said, of), truth.count(of), class_recall(truth, said, of))


def _both(truth: Sequence[bool], said: Sequence[bool | None], of: bool) -> int:
    return sum(label is of and verdict is of for label, verdict in zip(truth, said, strict=True))


def _share(hits: int, n: int, value: float | None) -> Share:
    low, high = wilson_interval(hits, n)
    return Share(hits=hits, n=n, value=value, low=low, high=high)


def _met(figures: Figures, threshold: Threshold) -> bool:
    """Whether every figure reaches what was fixed for it; one without a value does not."""
    return all(
        share.value is not None and share.value >= least
        for share, least in (
            (figures.agreement, threshold.agreement),
            (figures.unfaithful_precision, threshold.unfaithful_precision),
            (figures.unfaithful_recall, threshold.unfaithful_recall),
        )
    )


def _advisory(same_rubric: bool) -> tuple[str, ...]:
    if same_rubric:
        return (GATING,)
    return ("the labels were made by another rubric than the judge's", GATING)


def _named(judge: ModelIdentity) -> str:
    return f"{judge.provider} {judge.model_name} (prompt {judge.prompt_hash[:12]})"
