"""The plots of a run, as SVG that takes its colours from the page around it."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from groundkit_evals.metrics import Difference
from groundkit_evals.schema import EvalReport, Stage
from groundkit_evals.summary import BASELINE, abstention_curve, latency, recall_curve

__all__ = ["Gaps", "Plot", "label_of", "plots_of"]

Gaps = Mapping[tuple[str, Stage, Stage], Difference]
"""Differences by metric, stage, and the stage that it is compared with; a metric's are in a row."""

# Nothing else in a plot has these colours, so each can become a variable of the page.
INK, MUTED, RULE, PAPER = "#010101", "#010102", "#010103", "#010104"
LOOKS: dict[Stage, dict[str, Any]] = {
    "bm25": {"color": "#020201", "linestyle": "-", "marker": "o"},
    "dense": {"color": "#020202", "linestyle": "--", "marker": "s"},
    "fusion": {"color": "#020203", "linestyle": "-.", "marker": "^"},
    "rerank": {"color": "#020204", "linestyle": ":", "marker": "D"},
}
VARIABLES = {INK: "ink", MUTED: "muted", RULE: "rule", PAPER: "paper"} | {
    look["color"]: stage for stage, look in LOOKS.items()
}
STYLE = {
    **dict.fromkeys(("axes.edgecolor", "grid.color", "xtick.color", "ytick.color"), RULE),
    **dict.fromkeys(("axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), MUTED),
    **dict.fromkeys(("axes.facecolor", "figure.facecolor"), "none"),
    **dict.fromkeys(("axes.spines.right", "axes.spines.top", "legend.frameon"), False),
    **dict.fromkeys(("axes.grid", "figure.constrained_layout.use"), True),
    "font.size": 11.5,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "text.color": INK,
}
WIDTH, HEIGHT, ROW = 5.6, 3.7, 0.26
STEPS = [float(f"{digit}e{power}") for power in range(-4, 8) for digit in (1, 2, 5)]
NAMES = {"ndcg": "nDCG", "mrr": "MRR", "span_iou": "span IoU"}
# The prologue, comments, fonts, and the names of groups, which every plot would have.
_NEEDLESS = re.compile(
    r'<\?.*?\?>|<!--.*?-->|<!.*?>|(?<=<g) id="[^"]*"|font-family: [^;"]*;? ?', re.DOTALL
)
_ROOT = re.compile(r'<svg .*?(viewBox="[^"]*").*?</defs>', re.DOTALL)

_styled = style.context(["default", STYLE])


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure, and its key figures for whoever does not see it."""

    name: str
    alt: str
    figure: Figure

    def svg(self) -> str:
        """An element for a page that has the variables; the same figure gives the same text."""
        written = io.StringIO()
        none = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with style.context(["default", STYLE, {"svg.hashsalt": f"groundkit {self.name}"}]):
            self.figure.savefig(written, format="svg", metadata=none)
        text = _NEEDLESS.sub("", written.getvalue()).strip()
        for colour, variable in VARIABLES.items():
            text = text.replace(colour, f"var(--{variable})")
        named = f'<svg role="img" aria-label="{escape(self.alt)}"'
        return _ROOT.sub(lambda root: f"{named} {root[1]}>", text, count=1)


def plots_of(report: EvalReport, gaps: Gaps) -> list[Plot]:
    """Every plot that has sense for a run."""
    answerable = any(query.expected for query in report.queries)
    drawn = [
        forest(gaps) if gaps else None,
        recall(report) if answerable else None,
        abstention(report),
        latencies(report),
    ]
    return [plot for plot in drawn if plot is not None]


def label_of(metric: str) -> str:
    """How a metric is written on the page."""
    name, at, cutoff = metric.partition("@")
    return NAMES.get(name, name.replace("_", " ")) + at + cutoff


@_styled
def forest(gaps: Gaps) -> Plot:
    """Each stage less BM25 by each metric, with its interval; hollow where that is not clear."""
    rows = [(key, gap) for key, gap in gaps.items() if key[2] == BASELINE]
    figure = Figure(figsize=(WIDTH, 0.7 + ROW * (len(rows) + len({key[0] for key, _ in rows}))))
    axes = figure.add_subplot(xlabel="difference from BM25")
    axes.axvline(0, color=MUTED, linewidth=1)
    names, alts = list[str](), list[str]()
    for metric, of_metric in groupby(rows, lambda row: row[0][0]):
        names.append(label_of(metric))
        alts.append(label_of(metric))
        for (_, stage, _), gap in of_metric:
            at, look = len(names), LOOKS[stage]
            face = look["color"] if gap.is_clear else PAPER
            axes.plot([gap.low, gap.high], [at, at], color=look["color"])
            axes.plot([gap.mean], [at], **look, markerfacecolor=face, markersize=7)
            names.append(stage)
            alts[-1] += f", {stage} {gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"
    axes.set_yticks(range(len(names)), names)
    for text in axes.get_yticklabels():
        text.set_fontweight("normal" if text.get_text() in LOOKS else "bold")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    return Plot("forest", f"Difference from BM25. {'; '.join(alts)}.", figure)


@_styled
def recall(report: EvalReport) -> Plot:
    """Mean recall of each stage by cutoff."""
    depth = report.config.depth
    cutoffs = [round(step) for step in STEPS if 1 <= step <= depth]
    figure, axes = _axes("the first k", "recall@k")
    alts = []
    for stage in (each.stage for each in report.stages):
        curve = recall_curve(report, stage, depth)
        marked = [cutoff - 1 for cutoff in cutoffs]
        axes.plot(range(1, depth + 1), curve, **LOOKS[stage], markevery=marked, label=stage)
        alts.append(f"{stage} " + ", ".join(f"{curve[k - 1]:.3f} at {k}" for k in cutoffs))
    _finish(figure, axes, cutoffs)
    return Plot("recall", f"Recall by cutoff. {'; '.join(alts)}.", figure)


@_styled
def latencies(report: EvalReport) -> Plot:
    """The share of queries that each stage has answered within a time, by percentiles."""
    figure, axes = _axes("milliseconds", "share of queries")
    seen, alts = [], []
    shares = [percent / 100 for percent in range(101)]
    for each in report.stages:
        times = [1000 * latency(each, percent) for percent in range(101)]
        axes.plot(times, shares, **LOOKS[each.stage], markevery=[50, 95], label=each.stage)
        seen += times
        alts.append(f"{each.stage} {times[50]:.3g} and {times[95]:.3g}")
    _finish(figure, axes, round_steps(min(seen), max(seen)) if any(seen) else ())
    return Plot("latency", f"Milliseconds, median and 95 %. {'; '.join(alts)}.", figure)


@_styled
def abstention(report: EvalReport) -> Plot | None:
    """What each least similarity would do; nothing where that has no sense."""
    points = abstention_curve(report)
    if not points:
        return None
    figure, axes = _axes("least similarity", "share of queries")
    levels = [each.similarity for each in points]
    axes.plot(levels, [each.silent for each in points], color=INK, label="silent")
    axes.plot(levels, [each.kept for each in points], **LOOKS["dense"], markevery=10, label="kept")
    if report.config.min_similarity is not None:
        axes.axvline(report.config.min_similarity, color=MUTED, linestyle=":", label="as set")
    _finish(figure, axes)
    best = max(points, key=lambda each: each.silent + each.kept)
    alt = "Both together are highest at a least similarity of {:.3f}: silent {:.3f}, kept {:.3f}."
    return Plot("abstention", alt.format(best.similarity, best.silent, best.kept), figure)


def round_steps(low: float, high: float) -> list[float]:
    """Round numbers for a logarithmic axis, from below `low` to above `high`."""
    below = [step for step in STEPS if step <= low][-1:]
    above = [step for step in STEPS if step >= high and step > low][:1]
    found = [*below, *(step for step in STEPS if low < step < high), *above]
    return found if len(found) < 9 else [step for step in found if f"{step:e}"[0] == "1"]


def _axes(x: str, y: str) -> tuple[Figure, Axes]:
    """Empty axes for shares, from 0 to 1."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    return figure, figure.add_subplot(xlabel=x, ylabel=y, ylim=(0, 1.03))


def _finish(figure: Figure, axes: Axes, steps: Sequence[float] = ()) -> None:
    """Add the legend and, where there are steps, make the axis logarithmic."""
    figure.legend(loc="outside upper left", ncols=4, handlelength=3)
    if steps:
        axes.set_xscale("log")
        axes.set_xticks(steps, [f"{step:g}" for step in steps])
        axes.minorticks_off()
