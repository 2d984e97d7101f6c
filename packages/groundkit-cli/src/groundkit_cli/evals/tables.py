"""An evaluation as tables on a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundkit_cli.output import emit, in_line, note

if TYPE_CHECKING:
    from groundkit_evals.calibration import CalibrationReport, Share
    from groundkit_evals.compare import Compared
    from groundkit_evals.echo import EchoReport
    from groundkit_evals.metrics import Difference
    from groundkit_evals.schema import EvalReport

__all__ = ["show_calibration", "show_comparison", "show_echo", "show_report"]

_WIDTH = 250
_DIFFERENCES = ("ndcg@10", "recall@5", "span_recall@5")


def show_report(report: "EvalReport") -> None:
    """Means by stage, differences with their intervals, and what a model made of it."""
    from groundkit_evals.summary import headline, metrics_of

    data = report.dataset
    emit(
        f"{in_line(data.name)}: {data.documents} documents, {data.passages} passages, "
        f"{len(report.queries)} queries"
    )
    metrics = metrics_of(report)
    _stages(report, metrics)
    if len(report.stages) > 1:
        _differences(report, [metric for metric in _DIFFERENCES if metric in metrics])
    _kinds(report)
    emit(headline(report))
    if report.synthesis:
        _synthesis(report)


def _stages(report: "EvalReport", metrics: Sequence[str]) -> None:
    from groundkit_evals.summary import latency, mean_of

    stages = report.stages
    for stage in stages:
        if stage.model:
            emit(f"{stage.stage}: {in_line(stage.model)}")
    rows = [
        (metric, *(f"{mean_of(report, stage.stage, metric):.3f}" for stage in stages))
        for metric in metrics
    ]
    for percent in (50, 95):
        taken = (f"{1000 * latency(stage, percent):.1f}" for stage in stages)
        rows.append((f"p{percent}, ms", *taken))
    _table(("mean", *(stage.stage for stage in stages)), rows)


def _differences(report: "EvalReport", metrics: Sequence[str]) -> None:
    from groundkit_evals.summary import against, difference

    rows = [
        (f"{stage.stage} - {other}", metric, *_figures(found))
        for stage in report.stages
        for other in against(stage)
        for metric in metrics
        for found in [difference(report, stage.stage, other, metric)]
    ]
    _table(("stages", "metric", "difference", "95 % interval", "p"), rows)


def _kinds(report: "EvalReport") -> None:
    from groundkit_evals.summary import kinds_of, mean_of

    kinds = kinds_of(report)
    if len(kinds) < 2:
        return
    rows = []
    for kind, count in kinds.items():
        metric = "abstention" if kind == "no_answer" else "ndcg@10"
        means = [f"{mean_of(report, stage.stage, metric, kind):.3f}" for stage in report.stages]
        rows.append((kind.replace("_", " "), str(count), metric, *means))
    _table(("kind", "queries", "metric", *(stage.stage for stage in report.stages)), rows)


def _synthesis(report: "EvalReport") -> None:
    from groundkit_evals.summary import answer_abstention

    made = report.synthesis
    if made is None:
        return
    emit()
    emit(
        f"answers from {made.input_stage} by {in_line(made.synthesis.model_name)}: {made.answered} "
        f"answered, {made.abstained} abstained, {made.rejected} rejected of {made.n_total}"
    )
    if silent := answer_abstention(report):
        emit(
            f"of {len(silent)} queries that nothing answers, {sum(silent.values()):.0f} were left "
            "without an answer"
        )
    if made.judge:
        emit(
            f"judge (a second opinion, not calibrated): {made.n_judged} of {made.n_total} judged, "
            f"{made.faithful} found faithful, {made.unfaithful} not, {made.judge_errors} verdicts "
            "not valid"
        )


def show_echo(echo: "EchoReport") -> None:
    """How many cases came out how."""
    outcomes = dict.fromkeys(case.outcome for case in echo.cases)
    counts = ", ".join(f"{echo.count(each)} {each.replace('_', ' ')}" for each in outcomes)
    emit(f"planted markers, {len(echo.cases)} cases: {counts}")


def show_comparison(rows: Sequence["Compared"], changed: Sequence[str]) -> None:
    """Every metric of two runs and how far they are apart."""
    for each in changed:
        emit(f"changed: {in_line(each)}")
    _table(
        ("stage", "metric", "first", "second", "second - first", "95 % interval", "p"),
        [
            (
                row.stage,
                in_line(row.metric),
                f"{row.first:.3f}",
                f"{row.second:.3f}",
                *_figures(row.difference),
            )
            for row in rows
        ],
    )


def show_calibration(report: "CalibrationReport") -> None:
    """Agreement with the labels, whether the threshold is met, and that it decides nothing."""
    for warning in report.warnings:
        note(f"warning: {warning}")
    figures, least = report.figures, report.threshold
    judge = report.judge
    emit(
        f"{in_line(judge.provider)} {in_line(judge.model_name)}: {report.n_judged} of "
        f"{report.n_total} answers judged, {report.judge_errors} verdicts not valid"
    )
    shares = (
        ("agreement", figures.agreement, least.agreement),
        ("precision, unfaithful", figures.unfaithful_precision, least.unfaithful_precision),
        ("recall, unfaithful", figures.unfaithful_recall, least.unfaithful_recall),
        ("precision, faithful", figures.faithful_precision, None),
        ("recall, faithful", figures.faithful_recall, None),
    )
    rows = [
        (name, *_share(share), "" if wanted is None else f"{wanted:.2f}")
        for name, share, wanted in shares
    ]
    if figures.kappa is not None and figures.kappa_interval is not None:
        low, high = figures.kappa_interval
        rows.append(("Cohen's kappa", f"{figures.kappa:.2f}", f"{low:.2f} to {high:.2f}", "", ""))
    _table(("", "value", "95 % interval", "of", "threshold"), rows)
    emit(f"the pre-registered threshold is {'met' if report.threshold_met else 'not met'}")
    for reason in report.advisory:
        emit(f"advisory: {reason}")


def _share(share: "Share") -> tuple[str, str, str]:
    value = "none" if share.value is None else f"{share.value:.2f}"
    return value, f"{share.low:.2f} to {share.high:.2f}", f"{share.hits} / {share.n}"


def _figures(difference: "Difference") -> tuple[str, str, str]:
    """Mean, interval and p; a star where the interval leaves out zero."""
    interval = f"{difference.low:+.3f} to {difference.high:+.3f}"
    clear = "*" if difference.is_clear else " "
    p = "< 0.001" if difference.p < 0.001 else f"{difference.p:.3f}"
    return f"{difference.mean:+.3f} {clear}", interval, p


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from io import StringIO

    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, name in enumerate(head):
        table.add_column(name, justify="left" if place == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    text = StringIO()
    Console(file=text, width=_WIDTH, color_system=None, markup=False).print(table)
    emit()
    for line in text.getvalue().rstrip("\n").split("\n"):
        emit(line.rstrip())
