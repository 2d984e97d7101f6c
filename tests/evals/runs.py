"""A run made by hand: two queries with an answer, two without, three stages, a model's answers."""

from collections.abc import Collection
from typing import Any

from groundkit_core.contracts import Span
from groundkit_evals.schema import (
    EvalReport,
    Expected,
    Found,
    ModelIdentity,
    StageResult,
    SynthesisOutcome,
    SynthesisReport,
    Verdict,
)

from tests.evals.sets import query, report, result


def passage(source: str, score: float, *holds: str, excerpt: str = "words") -> Found:
    return Found(
        score=score, source=source, span=Span(start=1, end=6), excerpt=excerpt, holds=holds
    )


def unit(source: str, gain: float = 1.0) -> Expected:
    return Expected(unit=f"u-{source}", source=source, gain=gain, excerpt=f"gold of {source}")


QUERIES = (
    query("q1", "easy pump", unit("a.md"), unit("z.md", 0)),
    query("q2", "nothing at all", kind="no_answer"),
    query("q3", "hard valve", unit("b.md"), unit("c.md"), kind="ambiguous"),
    query("q4", "silent void", kind="no_answer"),
)
BM25 = StageResult(
    stage="bm25",
    results=(
        result("q1", passage("a.md", 3.5, "u-a.md"), ranks={"u-a.md": 1}, seconds=0.001, ndcg_10=1),
        result("q2", passage("x.md", 1.25), seconds=0.002, abstention=0),
        result("q3", passage("c.md", 2.5, "u-c.md"), ranks={"u-c.md": 1}, seconds=0.003, ndcg_10=0),
        result("q4", seconds=0.004, abstention=1),
    ),
)
DENSE = StageResult(
    stage="dense",
    model="static m (8 dimensions)",
    results=(
        result(
            "q1",
            passage("z.md", 0.875),
            passage("a.md", 0.5, "u-a.md"),
            ranks={"u-a.md": 2},
            seconds=0.01,
            ndcg_10=0.5,
        ),
        result("q2", passage("x.md", 0.25), seconds=0.02, abstention=0),
        result("q3", passage("b.md", 0.75, "u-b.md"), ranks={"u-b.md": 1}, seconds=0.03, ndcg_10=1),
        result("q4", passage("y.md", 0.125), seconds=0.04, abstention=0),
    ),
)
RERANK = StageResult(
    stage="rerank",
    input="bm25",
    model="cross-encoder",
    results=tuple(each.model_copy(update={"seconds": 0.1}) for each in BM25.results),
)
SYNTHESIS = SynthesisReport(
    input_stage="rerank",
    top_k=5,
    synthesis=ModelIdentity(provider="ollama", model_name="small", prompt_hash="5" * 64),
    judge=ModelIdentity(provider="other", model_name="large", prompt_hash="7" * 64),
    redacted=True,
    n_total=4,
    answered=2,
    abstained=1,
    rejected=1,
    n_judged=1,
    unfaithful=1,
    judge_errors=1,
    outcomes=(
        SynthesisOutcome(
            query="q1",
            outcome="answered",
            passages=5,
            answer="It is easy [2].",
            cited=(2,),
            verdict=Verdict(
                faithful=False, unsupported_claims=("easy",), reasoning="no source says so"
            ),
        ),
        SynthesisOutcome(query="q2", outcome="rejected", passages=5, reason="cites [9]"),
        SynthesisOutcome(
            query="q3", outcome="answered", passages=5, answer="Hard.", judge_error="no JSON"
        ),
        SynthesisOutcome(query="q4", outcome="abstained", passages=5, answer="No source says."),
    ),
)


def run(*stages: StageResult, queries: Collection[str] = (), **changed: Any) -> EvalReport:
    """A run of these stages, with some of the queries or all."""
    kept = [query for query in QUERIES if not queries or query.id in queries]
    ids = {query.id for query in kept}
    cut = [
        stage.model_copy(
            update={"results": tuple(each for each in stage.results if each.query in ids)}
        )
        for stage in stages
    ]
    return report(kept, *cut).model_copy(update=changed)
