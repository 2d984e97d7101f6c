import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import groundkit_evals
import pytest

SOURCE = Path(groundkit_evals.__file__).parent
SURFACE = {
    "groundkit_evals": [
        "Dataset",
        "Difference",
        "EvalReport",
        "RunConfig",
        "evaluate",
        "load_dataset",
        "mean",
        "paired_difference",
        "run",
        "scores",
    ],
    "groundkit_evals.artifacts": [
        "ECHO",
        "LATEST",
        "PAGE",
        "problem_of",
        "read_artifact",
        "write_artifact",
        "write_text",
    ],
    "groundkit_evals.beir": ["is_beir", "load_beir"],
    "groundkit_evals.dataset": ["Dataset", "hash_of"],
    "groundkit_evals.golden": [
        "INJECTION_MARKERS",
        "Judgment",
        "Quote",
        "is_golden",
        "judgments",
        "load_golden",
    ],
    "groundkit_evals.journal": ["Journal"],
    "groundkit_evals.load": ["load_dataset"],
    "groundkit_evals.metrics": [
        "Difference",
        "Span",
        "abstention",
        "agreement",
        "class_precision",
        "class_recall",
        "cohen_kappa",
        "kappa_interval",
        "ndcg",
        "paired_difference",
        "percentile",
        "precision",
        "recall",
        "reciprocal_rank",
        "span_iou",
        "span_precision",
        "span_recall",
        "wilson_interval",
    ],
    "groundkit_evals.metrics.abstention": ["abstention"],
    "groundkit_evals.metrics.agreement": ["agreement", "class_precision", "class_recall"],
    "groundkit_evals.metrics.difference": ["Difference", "paired_difference"],
    "groundkit_evals.metrics.kappa": ["cohen_kappa", "kappa_interval"],
    "groundkit_evals.metrics.latency": ["percentile"],
    "groundkit_evals.metrics.ndcg": ["ndcg"],
    "groundkit_evals.metrics.precision": ["precision"],
    "groundkit_evals.metrics.proportion": ["wilson_interval"],
    "groundkit_evals.metrics.recall": ["recall"],
    "groundkit_evals.metrics.reciprocal_rank": ["reciprocal_rank"],
    "groundkit_evals.metrics.spans": [
        "Span",
        "covered",
        "span_iou",
        "span_precision",
        "span_recall",
    ],
    "groundkit_evals.runner": ["STRUCTURAL", "Progress", "run", "search_at"],
    "groundkit_evals.schema": [
        "DatasetInfo",
        "EvalReport",
        "Expected",
        "Found",
        "Kind",
        "ModelIdentity",
        "QueryRecord",
        "QueryResult",
        "RunConfig",
        "Stage",
        "StageResult",
        "SynthesisOutcome",
        "SynthesisReport",
        "Verdict",
    ],
    "groundkit_evals.scoring": [
        "Places",
        "Scores",
        "evaluate",
        "gains_of",
        "held",
        "mean",
        "scored",
        "scores",
    ],
    "groundkit_evals.summary": [
        "BASELINE",
        "HEADLINE",
        "AbstentionPoint",
        "abstention_curve",
        "against",
        "answer_abstention",
        "difference",
        "headline",
        "kinds_of",
        "latency",
        "mean_of",
        "metrics_of",
        "recall_curve",
        "stage_of",
        "values_of",
    ],
    "groundkit_evals.compare": ["Compared", "compare", "refusals", "settings_changed"],
    "groundkit_evals.labels": [
        "Label",
        "LabelSet",
        "Preregistration",
        "Threshold",
        "file_hash",
        "preregistration",
    ],
    "groundkit_evals.lines": ["numbered"],
    "groundkit_evals.plants": ["PLANTS", "Plant"],
}
# Modules that need an extra are skipped where it is not installed.
WITH_EXTRAS: dict[str, list[str]] = {
    "groundkit_evals.calibration": [
        "CalibrationReport",
        "Disagreement",
        "LabelVerdict",
        "Share",
        "VerdictRun",
        "calibrate",
        "judge_labels",
    ],
    "groundkit_evals.echo": [
        "EchoCase",
        "EchoOutcome",
        "EchoReport",
        "check",
        "run_echo",
    ],
    "groundkit_evals.synthesis": [
        "Answering",
        "judge_identity",
        "synthesis_identity",
        "synthesize",
    ],
    "groundkit_evals.page": ["render_page"],
    "groundkit_evals.plots": ["Gaps", "Plot", "label_of", "plots_of"],
}
FROZEN = SURFACE | WITH_EXTRAS
MODULES = [found.name for found in pkgutil.walk_packages([str(SOURCE)], "groundkit_evals.")]


def module(name: str) -> ModuleType:
    if name in WITH_EXTRAS:
        loaded: ModuleType = pytest.importorskip(name, exc_type=ImportError)
        return loaded
    return importlib.import_module(name)


@pytest.mark.parametrize("name", FROZEN)
def test_the_public_names_are_these(name: str) -> None:
    assert module(name).__all__ == FROZEN[name]


@pytest.mark.parametrize("name", FROZEN)
def test_public_names_exist_once(name: str) -> None:
    loaded, names = module(name), FROZEN[name]
    assert [each for each in names if not hasattr(loaded, each)] == []
    assert len(set(names)) == len(names)


def borrowed() -> Iterator[tuple[str, str, str]]:
    """Each name that a module takes from another one of the package that is frozen here."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "") in FROZEN:
                for alias in node.names:
                    yield str(path.relative_to(SOURCE)), node.module or "", alias.name


def test_modules_take_only_public_names_from_one_another() -> None:
    found = list(borrowed())
    assert len(found) > 50
    private = [
        (user, name, each)
        for user, name, each in found
        if each not in FROZEN[name] and f"{name}.{each}" not in MODULES
    ]
    assert private == []


def documented(name: str) -> Iterator[tuple[str, object]]:
    """A module, its public classes and functions, and the methods of these classes."""
    loaded = module(name)
    yield name, loaded
    for each in FROZEN[name]:
        value = getattr(loaded, each)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        yield f"{name}.{each}", value
        members = vars(value).items() if inspect.isclass(value) else ()
        for member, found in members:
            is_method = isinstance(found, property | classmethod | staticmethod | FunctionType)
            if is_method and not member.startswith(("_", "model_")):
                yield f"{name}.{each}.{member}", found


@pytest.mark.parametrize("name", FROZEN)
def test_all_public_things_have_a_docstring(name: str) -> None:
    bare = [
        each
        for each, value in documented(name)
        if not (getattr(value, "__doc__", None) or "").strip()
    ]
    assert bare == []
