"""Rewrite, search, synthesis and judgement in one report."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import pytest
from groundkit_core import Collection, Retriever
from groundkit_core.config import MAX_QUERY_LEN
from groundkit_core.errors import (
    ChatError,
    GroundkitError,
    JudgeError,
    QueryRewriteError,
    RetrievalError,
    SynthesisError,
)
from groundkit_providers.answer import AnswerPipeline, AnswerReport, SearchCallable
from groundkit_providers.judge import FaithfulnessJudge, FaithfulnessVerdict
from groundkit_providers.query_rewrite import QueryRewriter
from groundkit_providers.synthesis import Synthesizer
from groundkit_providers.testing import RecordingChat

from tests.providers.answering_helpers import (
    CANARY,
    RecordingSearch,
    context_of,
    response,
    run,
    scripted,
)

QUERY = "When does the pump stop?"
REWRITE = "pump stop seconds"
ANSWER = "In ten seconds [1]."
VERDICT = '{"faithful": false, "unsupported_claims": ["ten"], "reasoning": "It says nine."}'


def pipeline(search: SearchCallable, chat: RecordingChat) -> AnswerPipeline:
    """One with every part, all asking one model."""
    return AnswerPipeline(
        search, Synthesizer(chat), rewriter=QueryRewriter(chat), judge=FaithfulnessJudge(chat)
    )


def test_the_rewrite_is_searched_for_and_the_original_is_answered_and_judged() -> None:
    search, chat = RecordingSearch(response()), scripted(REWRITE, ANSWER, VERDICT)
    report = run(pipeline(search, chat).answer(QUERY))
    assert search.calls == [(REWRITE, None, "bm25")]
    rewriting, synthesis, judging = (prompt for prompt, _ in chat.calls)
    assert QUERY in rewriting
    for prompt in (synthesis, judging):
        assert QUERY in prompt
        assert REWRITE not in prompt
    found = response().results
    assert report == AnswerReport(
        query=QUERY,
        rewritten_query=REWRITE,
        answer=ANSWER,
        citations=(found[0].citation,),
        results=found,
        verdict=FaithfulnessVerdict(
            faithful=False, unsupported_claims=("ten",), reasoning="It says nine."
        ),
    )


def test_without_rewriter_and_judge_one_question_is_asked_and_both_fields_are_none() -> None:
    search, chat = RecordingSearch(response()), scripted(ANSWER)
    report = run(AnswerPipeline(search, Synthesizer(chat)).answer(QUERY, top_k=3, mode="dense"))
    assert search.calls == [(QUERY, 3, "dense")]
    assert len(chat.calls) == 1
    assert (report.query, report.rewritten_query, report.verdict) == (QUERY, None, None)


@pytest.mark.parametrize("answer", [ANSWER, "The sources do not say."])
def test_the_judge_sees_every_passage_also_of_an_abstained_answer(answer: str) -> None:
    chat = scripted(answer, VERDICT)
    judged = AnswerPipeline(
        RecordingSearch(response()), Synthesizer(chat), judge=FaithfulnessJudge(chat)
    )
    report = run(judged.answer(QUERY))
    (asked, _), (judging, _) = chat.calls
    assert context_of(judging) == context_of(asked)
    assert context_of(judging).count("<source ") == len(report.results) == 3
    assert answer in judging
    assert report.verdict is not None


def test_a_verdict_changes_nothing_but_itself() -> None:
    reports = []
    for verdict in (VERDICT, '{"faithful": true, "unsupported_claims": [], "reasoning": ""}'):
        chat = scripted(REWRITE, ANSWER, verdict)
        reports.append(run(pipeline(RecordingSearch(response()), chat).answer(QUERY)))
    first, second = (report.model_copy(update={"verdict": None}) for report in reports)
    assert first == second
    assert reports[0].verdict != reports[1].verdict


def test_an_abstention_is_a_report_without_citations() -> None:
    chat = scripted("The sources do not say.")
    report = run(AnswerPipeline(RecordingSearch(response()), Synthesizer(chat)).answer(QUERY))
    assert report.citations == ()
    assert report.results == response().results


@pytest.mark.parametrize("query", ["", " ", "\n\t\u00a0", "x" * (MAX_QUERY_LEN + 1), "\ud800"])
def test_a_query_that_cannot_be_searched_for_is_refused_before_anything_runs(query: str) -> None:
    search, chat = RecordingSearch(response()), scripted(REWRITE, ANSWER, VERDICT)
    with pytest.raises(RetrievalError):
        run(pipeline(search, chat).answer(query))
    assert (search.calls, chat.calls) == ([], [])


def test_no_passage_is_an_error_of_synthesis_and_the_model_is_asked_no_more() -> None:
    nothing = response().model_copy(update={"results": ()})
    chat = scripted(REWRITE, ANSWER, VERDICT)
    with pytest.raises(SynthesisError):
        run(pipeline(RecordingSearch(nothing), chat).answer(QUERY))
    assert len(chat.calls) == 1


class Failing:
    """A model whose n-th reply is this error."""

    provider = model_name = "failing"

    def __init__(self, error: GroundkitError, *replies: str) -> None:
        self.error = error
        self.replies = list(replies)

    async def complete(self, prompt: str, *, system: str | None = None) -> str:  # noqa: ARG002
        if not self.replies:
            raise self.error
        return self.replies.pop(0)


@pytest.mark.parametrize("replies", [(), (REWRITE,), (REWRITE, ANSWER)], ids=len)
def test_an_error_of_the_model_comes_through_as_it_is_at_every_step(
    replies: tuple[str, ...],
) -> None:
    error = ChatError("the model is away")
    search, chat = RecordingSearch(response()), RecordingChat(Failing(error, *replies))
    with pytest.raises(ChatError) as caught:
        run(pipeline(search, chat).answer(QUERY))
    assert caught.value is error
    assert (error.__cause__, error.__context__) == (None, None)
    assert len(chat.calls) == len(replies) + 1
    assert len(search.calls) == (1 if replies else 0)


@pytest.mark.parametrize(
    ("replies", "kind"),
    [
        (("x" * (MAX_QUERY_LEN + 1),), QueryRewriteError),
        ((REWRITE, f"{CANARY} [9]."), SynthesisError),
        ((REWRITE, ANSWER, CANARY), JudgeError),
    ],
)
def test_a_rejected_reply_ends_the_answer_and_nothing_stands_in_for_it(
    replies: tuple[str, ...], kind: type[GroundkitError]
) -> None:
    search, chat = RecordingSearch(response()), scripted(*replies, REWRITE, ANSWER, VERDICT)
    with pytest.raises(kind) as caught:
        run(pipeline(search, chat).answer(QUERY))
    assert CANARY not in str(caught.value)
    assert len(chat.calls) == len(replies)
    assert search.calls == ([] if kind is QueryRewriteError else [(REWRITE, None, "bm25")])


def test_an_error_of_the_search_comes_through_as_it_is() -> None:
    error = RetrievalError("top_k is 0")
    chat = scripted(ANSWER)
    with pytest.raises(RetrievalError) as caught:
        run(AnswerPipeline(RecordingSearch(error), Synthesizer(chat)).answer(QUERY, top_k=0))
    assert caught.value is error
    assert chat.calls == []


def shape(function: Callable[..., object]) -> dict[str, tuple[object, ...]]:
    """Kind, default and type of each parameter; names that only a type checker knows are left."""
    hints = get_type_hints(function, localns={"Filter": object})
    parameters = inspect.signature(function).parameters.values()
    taken = {p.name: (p.kind, p.default, hints.get(p.name)) for p in parameters}
    return {**taken, "return": (hints["return"],)}


def test_a_search_is_called_as_the_retriever_can_be() -> None:
    asked, taken = shape(SearchCallable.__call__), shape(Retriever.search)
    assert {name: taken.pop(name) for name in asked} == asked
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind, _, _ in taken.values())
    assert all(default is None for _, default, _ in taken.values())
    assert inspect.iscoroutinefunction(Retriever.search)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/pump.md").write_text("# Pump\n\nThe pump stops in ten seconds [2].\n")
    opened = Collection.open(tmp_path / "index")
    opened.ingest([tmp_path / "docs"])
    return opened


def test_a_retriever_is_a_search_and_the_report_survives_json(collection: Collection) -> None:
    search: SearchCallable = Retriever(collection, verify=True).search
    report = run(AnswerPipeline(search, Synthesizer(scripted(ANSWER))).answer("pump"))
    (result,) = report.results
    assert report.citations == (result.citation,)
    assert collection.verify(report.citations[0]).status == "verified"
    assert AnswerReport.model_validate_json(report.model_dump_json()) == report


def test_a_question_without_a_hit_is_not_asked(collection: Collection) -> None:
    chat = scripted("The cup went to Uruguay [1].")
    searched = AnswerPipeline(Retriever(collection).search, Synthesizer(chat))
    with pytest.raises(SynthesisError):
        run(searched.answer("Who won 1950 cup?"))
    assert chat.calls == []


def test_a_report_is_flat_and_holds_nothing_that_can_be_derived() -> None:
    assert list(AnswerReport.model_fields) == [
        "query",
        "rewritten_query",
        "answer",
        "citations",
        "results",
        "verdict",
    ]
