"""A run as one HTML document that asks no host for anything."""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from groundkit_core.contracts import Span
from groundkit_core.errors import ConfigurationError

from groundkit_evals import summary
from groundkit_evals.metrics import wilson_interval
from groundkit_evals.schema import EvalReport, Kind, QueryRecord, QueryResult, Stage
from groundkit_evals.summary import BASELINE, HEADLINE

if TYPE_CHECKING:
    from jinja2 import Environment

    from groundkit_evals.plots import Gaps, Plot

__all__ = ["render_page"]

COMPARED = (HEADLINE, "recall@10", "recall@100", "span_iou@5")
PIPELINE: tuple[Stage, ...] = ("dense", "bm25", "fusion", "rerank")
WHOLE = 1000
"""How many queries are shown with the passages that were found for them."""

# Control characters, and the marks that reorder what stands around them.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage, with its rank, its score and whether it is wanted at each stage that has it."""

    source: str
    span: Span
    excerpt: str
    places: dict[Stage, tuple[int, float, bool]]

    @property
    def wanted(self) -> bool:
        """Whether it holds something that the query should find."""
        return any(wanted for *_, wanted in self.places.values())


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with its results by stage; `value` is its nDCG@10, or its abstention."""

    number: int
    query: QueryRecord
    results: dict[Stage, QueryResult]
    value: float

    def passages(self) -> list[Passage]:
        """Everything found, each passage once, in the order of the last stage that has it."""
        merged: dict[tuple[str, Span], Passage] = {}
        for stage, result in reversed(self.results.items()):
            for rank, found in enumerate(result.found, start=1):
                key = found.source, found.span
                passage = merged.setdefault(key, Passage(*key, found.excerpt, {}))
                passage.places[stage] = rank, found.score, bool(found.holds)
        return list(merged.values())


def render_page(report: EvalReport) -> str:
    """The page of a run; the same report gives the same text."""
    environment, plots_of = _tools()
    gaps = _gaps(report)
    script = (files("groundkit_evals") / "templates" / "page.js").read_text("utf-8")
    kinds = {query.id: query.kind for query in report.queries}
    outcomes = report.synthesis.outcomes if report.synthesis else ()
    return environment.get_template("page.html.j2").render(
        report=report,
        headline=HEADLINE,
        last=_last(report),
        lead=summary.headline(report),
        counts={name: _count(report, name) for name in summary.metrics_of(report)},
        kinds=summary.kinds_of(report),
        by_kind=_by_kind(report),
        values=partial(summary.values_of, report),
        mean=partial(summary.mean_of, report),
        latency=summary.latency,
        gaps=gaps,
        plots=plots_of(report, gaps),
        asked=_asked(report),
        whole=WHOLE,
        numbers={query.id: number for number, query in enumerate(report.queries)},
        outcomes=Counter((kinds[each.query], each.outcome) for each in outcomes),
        answered={each.query for each in outcomes},
        model_silent=summary.answer_abstention(report),
        script=script,
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _tools() -> "tuple[Environment, Callable[[EvalReport, Gaps], list[Plot]]]":
    """Templates that escape every value, and what draws the plots."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        from groundkit_evals.plots import label_of, plots_of
    except ImportError:
        raise ConfigurationError("the page needs: pip install 'groundkit-evals[report]'") from None
    environment = Environment(
        loader=PackageLoader("groundkit_evals", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "label": label_of,
        "share": _share,
        "value": "{:.3f}".format,
        "signed": "{:+.3f}".format,
        "p": lambda p: "< 0.001" if p < 0.001 else f"{p:.3f}",
        "ms": lambda seconds: f"{1000 * seconds:.3g}",
        "score": "{:.3g}".format,
        "count": "{:,}".format,
    }
    return environment, plots_of


def _printable(value: object) -> object:
    """A text with what is no character to read as its escape; what is markup as it is."""
    if type(value) is not str:
        return value
    return _UNPRINTABLE.sub(lambda match: ascii(match.group())[1:-1], value)


def _count(report: EvalReport, metric: str, kind: Kind | None = None) -> int:
    return len(summary.values_of(report, BASELINE, metric, kind))


def _by_kind(report: EvalReport) -> list[tuple[Kind, str, int]]:
    """For each kind what is shown of it, and the number of its queries that have that."""
    return [
        (kind, metric, n)
        for kind in summary.kinds_of(report)
        for metric in (HEADLINE, "abstention")
        if (n := _count(report, metric, kind))
    ]


def _share(values: dict[str, float]) -> str:
    """How many of how many, and the 95 % interval of the share."""
    hits = sum(value == 1 for value in values.values())
    low, high = wilson_interval(hits, len(values))
    return f"{hits} of {len(values)} (95\u00a0% {low:.3f} to {high:.3f})"


def _gaps(report: EvalReport) -> "Gaps":
    return {
        (metric, each.stage, other): summary.difference(report, each.stage, other, metric)
        for metric in COMPARED
        if _count(report, metric)
        for each in report.stages
        for other in summary.against(each)
    }


def _asked(report: EvalReport) -> list[Asked]:
    """Every query, the worst first; of equals, those that something answers."""
    by_stage = {each.stage: {of.query: of for of in each.results} for each in report.stages}
    last = by_stage[_last(report)]
    asked = [
        Asked(number, query, {stage: of[query.id] for stage, of in by_stage.items()}, value)
        for number, query in enumerate(report.queries)
        for value in [_value(last[query.id].metrics)]
    ]
    return sorted(asked, key=lambda each: (each.value, not each.query.expected))


def _last(report: EvalReport) -> Stage:
    """The stage whose result a user would be given."""
    return max((each.stage for each in report.stages), key=PIPELINE.index)


def _value(metrics: dict[str, float]) -> float:
    return metrics.get(HEADLINE, metrics.get("abstention", 0.0))
