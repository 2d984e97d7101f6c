"""The plots draw what the summary computes, and take their colours from the page."""

import re
from typing import Any

import pytest
from groundkit_evals.metrics import Difference
from groundkit_evals.schema import EvalReport, RunConfig
from groundkit_evals.summary import abstention_curve, latency, recall_curve

from tests.evals.pages import parsed
from tests.evals.runs import BM25, DENSE, RERANK, run
from tests.evals.sets import report, result

matplotlib = pytest.importorskip("matplotlib", reason="plots need groundkit-evals[report]")
plots = pytest.importorskip("groundkit_evals.plots", reason="plots need groundkit-evals[report]")

RUN = run(BM25, DENSE, RERANK)
BETTER = Difference(mean=0.125, low=0.0625, high=0.25, p=0.001, n=9)
UNCLEAR = Difference(mean=-0.5, low=-0.75, high=0.25, p=0.4, n=9)
UNLIKELY = Difference(mean=0.25, low=0.125, high=0.5, p=0.2, n=3)
GAPS = {
    ("ndcg@10", "dense", "bm25"): UNCLEAR,
    ("ndcg@10", "fusion", "bm25"): BETTER,
    ("ndcg@10", "fusion", "dense"): BETTER,
    ("span_iou@5", "dense", "bm25"): UNLIKELY,
}


def lines(plot: Any) -> dict[str, Any]:
    """The lines of a plot that the legend names."""
    (axes,) = plot.figure.axes
    found = {line.get_label(): line for line in axes.lines}
    return {name: line for name, line in found.items() if not name.startswith("_")}


def data(line: Any) -> tuple[list[float], list[float]]:
    return [float(x) for x in line.get_xdata()], [float(y) for y in line.get_ydata()]


def test_each_difference_is_a_mark_on_its_interval() -> None:
    (axes,) = plots.forest(GAPS).figure.axes
    zero, *drawn = axes.lines
    assert zero.get_xdata() == [0, 0]
    assert [data(line) for line in drawn] == [
        ([UNCLEAR.low, UNCLEAR.high], [1, 1]),
        ([UNCLEAR.mean], [1]),
        ([BETTER.low, BETTER.high], [2, 2]),
        ([BETTER.mean], [2]),
        ([UNLIKELY.low, UNLIKELY.high], [4, 4]),
        ([UNLIKELY.mean], [4]),
    ]
    labels = [(each.get_text(), each.get_fontweight()) for each in axes.get_yticklabels()]
    assert labels == [
        ("nDCG@10", "bold"),
        ("dense", "normal"),
        ("fusion", "normal"),
        ("span IoU@5", "bold"),
        ("dense", "normal"),
    ]
    assert [int(tick) for tick in axes.get_yticks()] == [0, 1, 2, 3, 4]
    top, bottom = sorted(axes.get_ylim())
    assert top < 0
    assert bottom > 4


def test_a_difference_that_is_not_clear_is_a_hollow_mark() -> None:
    (axes,) = plots.forest(GAPS).figure.axes
    marks = [line for line in axes.lines if line.get_marker() != "None"]
    hollow = [line.get_markerfacecolor() == plots.PAPER for line in marks]
    assert hollow == [True, False, True]
    assert marks[1].get_markerfacecolor() == plots.LOOKS["fusion"]["color"]


def test_recall_is_drawn_at_every_cutoff() -> None:
    drawn = lines(plots.recall(RUN))
    assert list(drawn) == ["bm25", "dense", "rerank"]
    for each in RUN.stages:
        curve = recall_curve(RUN, each.stage, 100)
        assert data(drawn[each.stage]) == (list(range(1, 101)), curve)


def test_latency_is_drawn_by_percentiles_and_marked_at_two() -> None:
    drawn = lines(plots.latencies(RUN))
    for each in RUN.stages:
        times = [1000 * latency(each, percent) for percent in range(101)]
        assert data(drawn[each.stage]) == (times, [percent / 100 for percent in range(101)])
        assert drawn[each.stage].get_markevery() == [50, 95]


def test_the_trade_of_silence_for_answers_is_drawn() -> None:
    points = abstention_curve(RUN)
    drawn = lines(plots.abstention(RUN))
    assert list(drawn) == ["silent", "kept"]
    levels = [point.similarity for point in points]
    assert data(drawn["silent"]) == (levels, [point.silent for point in points])
    assert data(drawn["kept"]) == (levels, [point.kept for point in points])


def test_the_least_similarity_in_effect_is_shown() -> None:
    made = RUN.model_copy(update={"config": RunConfig(min_similarity=0.25)})
    assert lines(plots.abstention(made))["as set"].get_xdata() == [0.25, 0.25]


@pytest.mark.parametrize("made", [run(BM25), run(BM25, DENSE, queries=["q1", "q3"])])
def test_without_vectors_or_unanswerable_queries_there_is_no_trade(made: EvalReport) -> None:
    assert plots.abstention(made) is None


def test_stages_are_told_apart_by_more_than_colour() -> None:
    for feature in ("color", "linestyle", "marker"):
        assert len({look[feature] for look in plots.LOOKS.values()}) == 4
    drawn = lines(plots.recall(RUN))
    for stage, line in drawn.items():
        look = {"color": line.get_color(), "linestyle": line.get_linestyle()}
        assert {**look, "marker": line.get_marker()} == plots.LOOKS[stage]


def test_a_plot_has_the_colours_of_its_page() -> None:
    for plot in plots.plots_of(RUN, GAPS):
        svg = plot.svg()
        assert not re.search(r"#[0-9a-f]{6}\b", svg)
        used = set(re.findall(r"var\(--([\w-]+)\)", svg))
        assert used <= {"ink", "muted", "rule", "paper", "bm25", "dense", "fusion", "rerank"}
        assert {"muted", "rule"} <= used


def test_a_plot_says_its_key_figures() -> None:
    said = {plot.name: plot.alt for plot in plots.plots_of(RUN, GAPS)}
    assert said["forest"] == (
        "Difference from BM25. nDCG@10, dense -0.500 (-0.750 to +0.250), "
        "fusion +0.125 (+0.062 to +0.250); span IoU@5, dense +0.250 (+0.125 to +0.500)."
    )
    at = ", ".join(f"0.750 at {cutoff}" for cutoff in (1, 2, 5, 10, 20, 50, 100))
    assert f"bm25 {at};" in said["recall"]
    assert "dense 25 and 38.5;" in said["latency"]
    level = next(point.similarity for point in abstention_curve(RUN) if point.silent == 1)
    assert said["abstention"] == (
        f"Both together are highest at a least similarity of {level:.3f}: silent 1.000, kept 1.000."
    )
    for plot in plots.plots_of(RUN, GAPS):
        (svg,) = parsed(plot.svg()).all("svg")
        assert svg.attributes["role"] == "img"
        assert svg.attributes["aria-label"] == plot.alt


def test_what_an_alternative_text_says_is_escaped() -> None:
    plot = plots.recall(RUN)
    named = type(plot)(plot.name, '"><b>\\1 & x', plot.figure)
    (svg,) = parsed(named.svg()).all("svg")
    assert svg.attributes["aria-label"] == '"><b>\\1 & x'


def test_plots_of_one_page_share_no_names() -> None:
    ids = [
        name
        for plot in plots.plots_of(RUN, GAPS)
        for name in re.findall(r' id="([^"]+)"', plot.svg())
    ]
    assert ids
    assert len(set(ids)) == len(ids)


def test_text_is_text_in_the_font_of_the_page() -> None:
    svg = plots.recall(RUN).svg()
    (root,) = parsed(svg).all("svg")
    texts = [each.text for each in root.all("text")]
    assert {"bm25", "dense", "rerank", "recall@k", "the first k", "1", "100"} <= set(texts)
    assert "font-family" not in svg


def test_a_plot_is_the_same_whatever_the_user_has_set() -> None:
    before = [plot.svg() for plot in plots.plots_of(RUN, GAPS)]
    with matplotlib.rc_context({"lines.markersize": 20, "axes.linewidth": 5, "font.size": 30}):
        assert [plot.svg() for plot in plots.plots_of(RUN, GAPS)] == before


def timed(*seconds: float) -> EvalReport:
    results = tuple(result(f"q{n}", seconds=each) for n, each in enumerate(seconds, start=1))
    stage = BM25.model_copy(update={"results": results})
    return report(RUN.queries[: len(seconds)], stage)


@pytest.mark.parametrize(
    "made",
    [
        run(BM25, queries=["q1"]),
        run(BM25, DENSE, config=RunConfig(depth=1)),
        run(BM25, DENSE, config=RunConfig(depth=30)),
        timed(0.0, 0.0),
        timed(0.0, 0.5),
        timed(0.001),
        timed(1e-9, 1e9),
    ],
    ids=["one query", "one rank", "thirty", "no time", "some time", "a round time", "any time"],
)
def test_nothing_is_too_small_or_too_large_to_draw(made: EvalReport) -> None:
    assert all(plot.svg() for plot in plots.plots_of(made, {}))


@pytest.mark.parametrize(
    ("low", "high", "steps"),
    [
        (2.1, 2.9, [2, 5]),
        (1, 1, [1, 2]),
        (0.3, 4, [0.2, 0.5, 1, 2, 5]),
        (0.3, 400, [1, 10, 100]),
        (0, 0.0003, [0.0001, 0.0002, 0.0005]),
    ],
)
def test_a_time_axis_has_round_steps(low: float, high: float, steps: list[float]) -> None:
    assert plots.round_steps(low, high) == steps


@pytest.mark.parametrize(
    ("metric", "label"),
    [("ndcg@10", "nDCG@10"), ("mrr", "MRR"), ("span_recall@5", "span recall@5"), ("x", "x")],
)
def test_a_metric_is_written_as_people_write_it(metric: str, label: str) -> None:
    assert plots.label_of(metric) == label
