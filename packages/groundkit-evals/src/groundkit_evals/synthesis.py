"""What a model makes of every query's passages, counted and never gated on."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundkit_core.contracts import RetrievalResult, SearchResponse
from groundkit_core.errors import ChatReplyError, JudgeError, SynthesisError
from groundkit_providers.budget import estimate_tokens, within_budget
from groundkit_providers.judge import DEFAULT_JUDGE_TEMPLATE, JUDGE_SYSTEM, FaithfulnessJudge
from groundkit_providers.llm import RedactingChat
from groundkit_providers.markers import cited_numbers
from groundkit_providers.protocols import ChatProtocol
from groundkit_providers.synthesis import (
    DEFAULT_SYNTHESIS_TEMPLATE,
    SYNTHESIS_SYSTEM,
    SynthesizedAnswer,
    Synthesizer,
)

from groundkit_evals.dataset import hash_of
from groundkit_evals.journal import Journal
from groundkit_evals.runner import Progress
from groundkit_evals.schema import (
    EvalReport,
    ModelIdentity,
    QueryRecord,
    Stage,
    SynthesisOutcome,
    SynthesisReport,
    Verdict,
)

__all__ = ["Answering", "judge_identity", "synthesis_identity", "synthesize"]

CONTEXT_TOKENS = 8192
REPLY_TOKENS = 1024


@dataclass(frozen=True)
class Answering:
    """How queries are answered: `search` gives the best `top_k` passages of `input_stage`.

    `settings` are any others that answers depend on, for a stopped run to go on only under them.
    """

    search: Callable[[str], SearchResponse]
    input_stage: Stage
    chat: ChatProtocol
    top_k: int = 5
    judge: bool = False
    context_tokens: int = CONTEXT_TOKENS
    reply_tokens: int = REPLY_TOKENS
    settings: str = ""


async def synthesize(
    report: EvalReport, answering: Answering, journal: Path, progress: Progress | None = None
) -> SynthesisReport:
    """Ask a model every query of a run; what a killed run had finished is kept in `journal`.

    An answer or a verdict that is not valid is counted. A model that cannot be reached ends it.
    """
    identity = synthesis_identity(answering.chat)
    judge = judge_identity(answering.chat) if answering.judge else None
    header = {
        "corpus": report.dataset.corpus_hash,
        "judgments": report.dataset.judgments_hash,
        "config": report.config.model_dump(mode="json"),
        "models": [stage.model for stage in report.stages],
        "synthesis": identity.model_dump(),
        "judge": judge.model_dump() if judge else None,
        "redacted": isinstance(answering.chat, RedactingChat),
        "settings": [
            answering.input_stage,
            answering.top_k,
            answering.context_tokens,
            answering.reply_tokens,
            answering.settings,
        ],
    }
    kept = Journal(journal, SynthesisOutcome, header)
    for number, query in enumerate(report.queries):
        if progress:
            progress("synthesis", number, len(report.queries))
        if query.id not in kept.done:
            kept.add(query.id, await _outcome(query, answering))
    if progress:
        progress("synthesis", len(report.queries), len(report.queries))
    outcomes = tuple(kept.done[query.id] for query in report.queries)
    return _counted(outcomes, answering, identity, judge)


def synthesis_identity(chat: ChatProtocol) -> ModelIdentity:
    """Who answers, and the hash of the instructions and the template."""
    return _identity(chat, SYNTHESIS_SYSTEM, DEFAULT_SYNTHESIS_TEMPLATE)


def judge_identity(chat: ChatProtocol) -> ModelIdentity:
    """Who judges, and the hash of the instructions and the template, which are its rubric."""
    return _identity(chat, JUDGE_SYSTEM, DEFAULT_JUDGE_TEMPLATE)


def _identity(chat: ChatProtocol, system: str, template: str) -> ModelIdentity:
    return ModelIdentity(
        provider=chat.provider,
        model_name=chat.model_name,
        prompt_hash=hash_of([system, template]),
    )


async def _outcome(query: QueryRecord, answering: Answering) -> SynthesisOutcome:
    response = answering.search(query.text)
    overhead = answering.reply_tokens + sum(
        map(estimate_tokens, (SYNTHESIS_SYSTEM, DEFAULT_SYNTHESIS_TEMPLATE, query.text))
    )
    fitting, _ = within_budget(response, answering.context_tokens, overhead=overhead)
    results = fitting.results
    left_out = len(response.results) - len(results)
    try:
        made = await Synthesizer(answering.chat).synthesize(query.text, results)
    except (SynthesisError, ChatReplyError) as error:
        return SynthesisOutcome(
            query=query.id,
            outcome="rejected",
            passages=len(results),
            left_out=left_out,
            reason=str(error),
        )
    verdict, judge_error = None, None
    if answering.judge:
        verdict, judge_error = await _judged(query, made, results, answering.chat)
    return SynthesisOutcome(
        query=query.id,
        outcome="answered" if made.citations else "abstained",
        passages=len(results),
        left_out=left_out,
        answer=made.answer,
        cited=tuple(cited_numbers(made.answer, len(results))),
        verdict=verdict,
        judge_error=judge_error,
    )


async def _judged(
    query: QueryRecord,
    made: SynthesizedAnswer,
    results: Sequence[RetrievalResult],
    chat: ChatProtocol,
) -> tuple[Verdict | None, str | None]:
    """The verdict, or why there is none."""
    sources = [result.content for result in results]
    try:
        said = await FaithfulnessJudge(chat).judge(
            query=query.text, answer=made.answer, sources=sources
        )
    except (JudgeError, ChatReplyError) as error:
        return None, str(error)
    return Verdict(**said.model_dump()), None


def _counted(
    outcomes: tuple[SynthesisOutcome, ...],
    answering: Answering,
    identity: ModelIdentity,
    judge: ModelIdentity | None,
) -> SynthesisReport:
    by_outcome = Counter(each.outcome for each in outcomes)
    verdicts = [each.verdict for each in outcomes if each.verdict is not None]
    faithful = sum(verdict.faithful for verdict in verdicts)
    return SynthesisReport(
        input_stage=answering.input_stage,
        top_k=answering.top_k,
        synthesis=identity,
        judge=judge,
        redacted=isinstance(answering.chat, RedactingChat),
        n_total=len(outcomes),
        answered=by_outcome["answered"],
        abstained=by_outcome["abstained"],
        rejected=by_outcome["rejected"],
        n_judged=len(verdicts),
        faithful=faithful,
        unfaithful=len(verdicts) - faithful,
        judge_errors=sum(each.judge_error is not None for each in outcomes),
        outcomes=outcomes,
    )
