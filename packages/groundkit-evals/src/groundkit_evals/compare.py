"""Two runs side by side, if they measured the same thing."""

from dataclasses import dataclass

from groundkit_core.errors import ConfigurationError, EvalError

from groundkit_evals.metrics import Difference, paired_difference
from groundkit_evals.schema import EvalReport, Stage
from groundkit_evals.summary import metrics_of, values_of

__all__ = ["Compared", "compare", "refusals", "settings_changed"]


@dataclass(frozen=True, slots=True)
class Compared:
    """A metric of one stage in both runs; `difference` is the second less the first."""

    stage: Stage
    metric: str
    first: float
    second: float
    difference: Difference


def compare(first: EvalReport, second: EvalReport) -> list[Compared]:
    """Every metric of every stage that both runs have; runs on other data are refused."""
    if reasons := refusals(first, second):
        raise ConfigurationError(f"the runs cannot be compared: {'; '.join(reasons)}")
    common = [stage.stage for stage in first.stages if stage.stage in _stages(second)]
    return [
        _compared(first, second, stage, metric)
        for stage in common
        for metric in metrics_of(first)
        if values_of(first, stage, metric)
    ]


def refusals(first: EvalReport, second: EvalReport) -> list[str]:
    """Why two runs cannot be compared; nothing where they can."""
    reasons = []
    if first.dataset.corpus_hash != second.dataset.corpus_hash:
        reasons.append(f"their documents differ ({first.dataset.name}, {second.dataset.name})")
    if first.dataset.judgments_hash != second.dataset.judgments_hash:
        reasons.append("their queries or judgments differ")
    if not reasons and not set(_stages(first)) & set(_stages(second)):
        reasons.append("they have no stage in common")
    if not reasons and metrics_of(first) != metrics_of(second):
        reasons.append("their metrics differ")
    return reasons


def settings_changed(first: EvalReport, second: EvalReport) -> list[str]:
    """What differs in settings, models and versions, one sentence each."""
    before, after = (run.config.model_dump(mode="json") for run in (first, second))
    keys = [key for key in before if before[key] != after[key]]
    changed = [f"{key}: {before[key]} -> {after[key]}" for key in keys]
    if first.groundkit != second.groundkit:
        changed.append(f"version: {first.groundkit} -> {second.groundkit}")
    models = {stage.stage: stage.model for stage in second.stages}
    changed += [
        f"model of {stage.stage}: {stage.model} -> {models[stage.stage]}"
        for stage in first.stages
        if stage.stage in models and models[stage.stage] != stage.model
    ]
    return changed


def _compared(first: EvalReport, second: EvalReport, stage: Stage, metric: str) -> Compared:
    before, after = (values_of(run, stage, metric) for run in (first, second))
    if before.keys() != after.keys():
        raise EvalError(f"stage {stage} has {metric} for other queries in one run")
    values = [after[query] for query in before]
    return Compared(
        stage=stage,
        metric=metric,
        first=sum(before.values()) / len(before),
        second=sum(values) / len(values),
        difference=paired_difference(values, list(before.values())),
    )


def _stages(report: EvalReport) -> list[Stage]:
    return [stage.stage for stage in report.stages]
