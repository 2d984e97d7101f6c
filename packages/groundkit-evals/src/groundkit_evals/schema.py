"""What an evaluation writes: values of each query, from which every table is computed.

Fields are only ever added, with a default, as long as no artifact outlives the code that reads
it: `evals/results/` is ignored by git.
"""

from typing import Literal, Self

from groundkit_core.config import MAX_TOP_K, ChunkingConfig
from groundkit_core.contracts import Contract, Span
from pydantic import Field, model_validator

__all__ = [
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
]

Stage = Literal["bm25", "dense", "fusion", "rerank"]
Kind = Literal["normal", "ambiguous", "no_answer", "adversarial"]
Outcome = Literal["answered", "abstained", "rejected"]


class RunConfig(Contract):
    """The retrieval settings in effect; `depth` passages are asked for."""

    chunking: ChunkingConfig = ChunkingConfig()
    language: str = "english"
    depth: int = Field(default=MAX_TOP_K, ge=1, le=MAX_TOP_K)
    min_similarity: float | None = Field(default=None, ge=-1, le=1)
    rerank_depth: int = Field(default=50, ge=1, le=MAX_TOP_K)


class DatasetInfo(Contract):
    """What was measured on; two runs with the same hashes can be compared."""

    name: str
    corpus_hash: str
    judgments_hash: str
    documents: int
    passages: int


class Expected(Contract):
    """Something that a query should find; `unit` is the name under which metrics count it."""

    unit: str
    source: str
    gain: float = 1.0
    span: Span | None = None
    excerpt: str = ""


class QueryRecord(Contract):
    """A query and everything that it should find."""

    id: str
    text: str
    kind: Kind = "normal"
    expected: tuple[Expected, ...] = ()


class Found(Contract):
    """A passage that a stage returned, and the expected units that it was the first to hold."""

    score: float
    source: str
    span: Span
    excerpt: str
    holds: tuple[str, ...] = ()


class QueryResult(Contract):
    """What a stage did with a query: the best passages, and the rank of each unit it found.

    `components` of the metrics are those of `groundkit_evals.scoring.scores`.
    """

    query: str
    seconds: float
    found: tuple[Found, ...]
    ranks: dict[str, int]
    metrics: dict[str, float]


class StageResult(Contract):
    """One ranking of every query; `input` is the stage whose result it worked on."""

    stage: Stage
    input: Stage | None = None
    model: str | None = None
    results: tuple[QueryResult, ...]


class ModelIdentity(Contract):
    """Who answered or judged, and a hash of how it was asked."""

    provider: str
    model_name: str
    prompt_hash: str


class Verdict(Contract):
    """What a judge said of one answer."""

    faithful: bool
    unsupported_claims: tuple[str, ...]
    reasoning: str


class SynthesisOutcome(Contract):
    """What came of one query; `cited` are ranks of passages, `reason` says why it was rejected.

    `left_out` passages stood no longer or did not fit the context. With a judge there is a
    verdict, or the reason why there is none.
    """

    query: str
    outcome: Outcome
    passages: int
    left_out: int = 0
    answer: str | None = None
    cited: tuple[int, ...] = ()
    reason: str | None = None
    verdict: Verdict | None = None
    judge_error: str | None = None


class SynthesisReport(Contract):
    """What a model made of every query's passages; counts of verdicts are no measure of quality."""

    input_stage: Stage
    top_k: int
    synthesis: ModelIdentity
    judge: ModelIdentity | None = None
    redacted: bool
    n_total: int
    answered: int
    abstained: int
    rejected: int
    n_judged: int = 0
    faithful: int = 0
    unfaithful: int = 0
    judge_errors: int = 0
    outcomes: tuple[SynthesisOutcome, ...]

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        verdicts = [each.verdict.faithful for each in self.outcomes if each.verdict]
        outcomes = [each.outcome for each in self.outcomes]
        counted = (
            len(outcomes),
            outcomes.count("answered"),
            outcomes.count("abstained"),
            outcomes.count("rejected"),
            len(verdicts),
            verdicts.count(True),
            verdicts.count(False),
            sum(each.judge_error is not None for each in self.outcomes),
        )
        said = (
            self.n_total,
            self.answered,
            self.abstained,
            self.rejected,
            self.n_judged,
            self.faithful,
            self.unfaithful,
            self.judge_errors,
        )
        if said != counted:
            raise ValueError("the counts do not add up")
        return self


class EvalReport(Contract):
    """One run of every stage over a labelled set."""

    schema_version: Literal[1] = 1
    created: str
    groundkit: str
    dataset: DatasetInfo
    config: RunConfig
    warnings: tuple[str, ...] = ()
    queries: tuple[QueryRecord, ...]
    stages: tuple[StageResult, ...]
    synthesis: SynthesisReport | None = None

    @model_validator(mode="after")
    def _results_are_of_these_queries(self) -> Self:
        known = {query.id for query in self.queries}
        if any(result.query not in known for stage in self.stages for result in stage.results):
            raise ValueError("a result is of a query that is not listed")
        return self
