"""The weekly evaluation asks real models, and reads no verdict."""

from pathlib import Path

import pytest
from groundkit_evals.artifacts import ECHO, LATEST, write_artifact
from groundkit_evals.echo import EchoCase, EchoReport
from groundkit_evals.schema import (
    DatasetInfo,
    EvalReport,
    ModelIdentity,
    QueryRecord,
    RunConfig,
    StageResult,
    SynthesisReport,
)

from scripts.asked_real_models import problems

WORKFLOW = Path(__file__).parents[2] / ".github" / "workflows" / "eval-gated.yml"
REAL = ModelIdentity(provider="ollama", model_name="m", prompt_hash="h")
SCRIPT = ModelIdentity(provider="scripted", model_name="scripted", prompt_hash="h")


def made(model: ModelIdentity = REAL, judge: ModelIdentity | None = REAL) -> SynthesisReport:
    return SynthesisReport(
        input_stage="bm25",
        top_k=5,
        synthesis=model,
        judge=judge,
        redacted=False,
        n_total=0,
        answered=0,
        abstained=0,
        rejected=0,
        outcomes=(),
    )


def written(
    folder: Path,
    synthesis: SynthesisReport | None,
    *,
    embedder: str | None = "onnx m (4 dimensions)",
    chat: ModelIdentity = REAL,
    cases: int = 5,
) -> list[str]:
    """The problems of artifacts with these models."""
    stages = [StageResult(stage="bm25", results=())]
    if embedder is not None:
        stages.append(StageResult(stage="dense", model=embedder, results=()))
    report = EvalReport(
        created="",
        groundkit="",
        dataset=DatasetInfo(name="", corpus_hash="", judgments_hash="", documents=0, passages=0),
        config=RunConfig(),
        queries=(QueryRecord(id="q", text="q"),),
        stages=tuple(stages),
        synthesis=synthesis,
    )
    case = EchoCase(id="", question="", positive="", decoy="", absent="", outcome="leaked")
    echo = EchoReport(created="", groundkit="", chat=chat, redacted=False, cases=(case,) * cases)
    write_artifact(folder / LATEST, report)
    write_artifact(folder / ECHO, echo)
    return problems(folder)


def test_real_models_are_no_problem_whatever_they_said(tmp_path: Path) -> None:
    assert written(tmp_path, made()) == []


@pytest.mark.parametrize(
    ("synthesis", "settings", "problem"),
    [
        (None, {}, "latest.json: no model was asked"),
        (made(SCRIPT), {}, "latest.json: the model is a script"),
        (made(judge=SCRIPT), {}, "latest.json: the model is a script"),
        (made(judge=None), {}, "latest.json: no judge was asked"),
        (made(), {"embedder": None}, "latest.json: no real embedder was measured"),
        (made(), {"embedder": "inmemory x"}, "latest.json: no real embedder was measured"),
        (made(), {"chat": SCRIPT}, "echo-latest.json: the model is a script"),
        (made(), {"cases": 4}, "echo-latest.json: 4 cases, at least 5 are wanted"),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, synthesis: SynthesisReport | None, settings: dict[str, object], problem: str
) -> None:
    assert written(tmp_path, synthesis, **settings) == [problem]  # type: ignore[arg-type]


def test_the_workflow_asserts_models_and_reads_no_verdict() -> None:
    text = WORKFLOW.read_text("utf-8")
    assert "continue-on-error" not in text
    assert "cron:" in text
    assert "grk eval --dense" in text
    assert "--synthesis --judge" in text
    assert "scripts.asked_real_models evals/results" in text
    steps = text.partition("steps:")[2]
    assert not any(word in steps for word in ("faithful", "verdict", "jq "))


def test_nothing_that_is_checked_is_a_verdict() -> None:
    script = (WORKFLOW.parents[2] / "scripts" / "asked_real_models.py").read_text("utf-8")
    assert not any(word in script for word in ("faithful", "verdict", "outcome"))
