"""What a model makes of every query's passages is counted, never repaired and never gated on."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("groundkit_providers", reason="synthesis asks a model (groundkit-evals[llm])")

from groundkit_core.errors import ChatError
from groundkit_evals import synthesis
from groundkit_evals.dataset import hash_of
from groundkit_evals.schema import (
    EvalReport,
    ModelIdentity,
    SynthesisOutcome,
    SynthesisReport,
    Verdict,
)
from groundkit_evals.summary import answer_abstention
from groundkit_evals.synthesis import judge_identity, synthesis_identity
from groundkit_providers.budget import estimate_tokens
from groundkit_providers.framing import framed
from groundkit_providers.judge import DEFAULT_JUDGE_TEMPLATE, JUDGE_SYSTEM
from groundkit_providers.llm import RedactingChat
from groundkit_providers.protocols import ChatProtocol
from groundkit_providers.synthesis import DEFAULT_SYNTHESIS_TEMPLATE, SYNTHESIS_SYSTEM
from groundkit_providers.testing import RecordingChat, ScriptedChatProvider
from pydantic import ValidationError

from tests.evals.answering import (
    CORPUS,
    INJECTED,
    QUESTIONS,
    Replying,
    SmallSet,
    small_set,
    sources_in,
)
from tests.providers.answering_helpers import CANARY, context_of, scripted
from tests.providers.answering_helpers import run as result_of
from tests.providers.dialects import DIALECTS, Dialect, recorded
from tests.providers.faulty_server import FaultyServer, reply, unused_port
from tests.providers.test_judge import FAITHFUL, INVALID, UNFAITHFUL

BAR, GATE, SILENT = "It starts at 40 bar [1].", "It opens at nine [1].", "The sources do not say."
REPLIES = (BAR, GATE, SILENT)
NOTHING = "there is no passage to answer from"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallSet]:
    with small_set(tmp_path_factory.mktemp("synthesis")) as found:
        yield found


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


class Named(ScriptedChatProvider):
    """A script that another model reads out."""

    provider = "elsewhere"
    model_name = "some-model"


def test_each_query_is_answered_abstained_from_or_rejected(small: SmallSet, journal: Path) -> None:
    chat = scripted("It starts at 40 bar [1]. The valve is slow [2].", GATE, SILENT)
    made = small.synthesis(chat, journal)
    assert made == SynthesisReport(
        input_stage="bm25",
        top_k=5,
        synthesis=synthesis_identity(chat),
        redacted=False,
        n_total=4,
        answered=2,
        abstained=1,
        rejected=1,
        outcomes=(
            SynthesisOutcome(
                query="bar",
                outcome="answered",
                passages=2,
                answer="It starts at 40 bar [1]. The valve is slow [2].",
                cited=(1, 2),
            ),
            SynthesisOutcome(query="gate", outcome="answered", passages=1, answer=GATE, cited=(1,)),
            SynthesisOutcome(query="colour", outcome="abstained", passages=1, answer=SILENT),
            SynthesisOutcome(query="cup", outcome="rejected", passages=0, reason=NOTHING),
        ),
    )
    assert len(chat.calls) == 3


def test_every_model_is_asked_about_the_best_passages_in_their_order(
    small: SmallSet, journal: Path
) -> None:
    chat = scripted(*REPLIES)
    small.synthesis(chat, journal)
    for question, (prompt, system) in zip(QUESTIONS.values(), chat.calls, strict=False):
        found = small.collection.search(question, top_k=5).results
        sources = framed([result.content for result in found])
        assert context_of(prompt) == sources
        assert f"Question: {question}\n" in prompt
        assert system == SYNTHESIS_SYSTEM


def test_a_citation_out_of_range_is_rejected_and_the_next_query_is_asked(
    small: SmallSet, journal: Path
) -> None:
    made = small.synthesis(scripted(f"{CANARY} [3].", GATE, SILENT), journal)
    assert made.outcomes[0] == SynthesisOutcome(
        query="bar",
        outcome="rejected",
        passages=2,
        reason="the answer cites [3], but it had 2 sources",
    )
    assert (made.answered, made.abstained, made.rejected) == (1, 1, 2)


@pytest.mark.parametrize("incomplete", ["", " \n", "<think>It may be 40 bar [1].</think>"])
def test_a_reply_without_an_answer_is_rejected_once(
    small: SmallSet, journal: Path, incomplete: str
) -> None:
    chat = scripted(incomplete, GATE, SILENT)
    first, *_ = small.synthesis(chat, journal).outcomes
    assert (first.outcome, first.answer) == ("rejected", None)
    assert "no answer text" in (first.reason or "")
    assert len(chat.calls) == 3


@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_a_truncated_reply_is_rejected(small: SmallSet, journal: Path, dialect: Dialect) -> None:
    cut = reply(recorded(dialect.name, "length")[1])
    with FaultyServer(cut, reply(dialect.answer(SILENT))) as server:
        made = small.synthesis(dialect.chat(server.url), journal)
    assert made.outcomes[0].outcome == "rejected"
    assert "truncated" in (made.outcomes[0].reason or "")
    assert (made.abstained, made.rejected) == (2, 2)


def test_a_model_that_cannot_be_reached_ends_the_run(small: SmallSet, journal: Path) -> None:
    with pytest.raises(ChatError):
        small.synthesis(DIALECTS[0].chat(f"http://127.0.0.1:{unused_port()}"), journal)
    chat = DIALECTS[0].chat
    with FaultyServer(reply(DIALECTS[0].answer(SILENT))) as server:
        made = small.synthesis(chat(server.url), journal)
        assert len(server.requests) == 3
    assert made.abstained == 3


@pytest.mark.parametrize("finished", [0, 1, 2])
def test_what_was_finished_is_not_asked_again(
    small: SmallSet, tmp_path: Path, finished: int
) -> None:
    first, second = scripted(*REPLIES[:finished]), scripted(*REPLIES[finished:])
    with pytest.raises(ChatError, match="one more was asked for"):
        small.synthesis(first, tmp_path / "stopped.jsonl")
    resumed = small.synthesis(second, tmp_path / "stopped.jsonl")
    assert len(second.calls) == 3 - finished
    assert resumed == small.synthesis(scripted(*REPLIES), tmp_path / "whole.jsonl")


def test_an_answer_whose_verdict_is_outstanding_is_not_finished(
    small: SmallSet, journal: Path
) -> None:
    with pytest.raises(ChatError):
        small.synthesis(scripted(BAR), journal, judge=True)
    again = scripted(BAR, FAITHFUL, GATE, UNFAITHFUL, SILENT, FAITHFUL)
    assert small.synthesis(again, journal, judge=True).n_judged == 3


def test_verdicts_are_counted_and_stand_beside_their_answers(
    small: SmallSet, journal: Path
) -> None:
    chat = scripted(BAR, FAITHFUL, GATE, UNFAITHFUL, SILENT, "I think so.")
    made = small.synthesis(chat, journal, judge=True)
    assert made.judge == judge_identity(chat)
    assert (made.n_judged, made.n_total) == (2, 4)
    assert (made.faithful, made.unfaithful, made.judge_errors) == (1, 1, 1)
    faithful, unfaithful, wrong, rejected = made.outcomes
    assert faithful.verdict == Verdict(
        faithful=True, unsupported_claims=(), reasoning="Source 1 says so."
    )
    assert unfaithful.verdict == Verdict(
        faithful=False, unsupported_claims=("it is red",), reasoning="No."
    )
    assert (wrong.outcome, wrong.verdict) == ("abstained", None)
    assert "the verdict is not valid" in (wrong.judge_error or "")
    assert (rejected.verdict, rejected.judge_error) == (None, None)


def test_the_judge_sees_what_the_model_saw_and_what_it_said(small: SmallSet, journal: Path) -> None:
    chat = scripted(BAR, FAITHFUL, f"{CANARY} [9]", SILENT, FAITHFUL)
    small.synthesis(chat, journal, judge=True)
    asked, judged, _, _, _ = chat.calls
    assert context_of(judged[0]) == context_of(asked[0])
    assert f"<answer>\n{BAR}\n</answer>" in judged[0]
    assert f"Question: {QUESTIONS['bar']}\n" in judged[0]
    assert [system for _, system in chat.calls] == [
        *(SYNTHESIS_SYSTEM, JUDGE_SYSTEM),
        SYNTHESIS_SYSTEM,  # rejected, so there is nothing to judge
        *(SYNTHESIS_SYSTEM, JUDGE_SYSTEM),
    ]


@pytest.mark.parametrize("bad", [*INVALID.values(), " "], ids=[*INVALID, "blank"])
def test_a_malformed_verdict_is_counted_and_never_repaired(
    small: SmallSet, journal: Path, bad: str
) -> None:
    chat = scripted(BAR, bad, GATE, UNFAITHFUL, SILENT, bad)
    made = small.synthesis(chat, journal, judge=True)
    assert len(chat.calls) == 6
    assert (made.n_judged, made.faithful, made.unfaithful, made.judge_errors) == (1, 0, 1, 2)
    first = made.outcomes[0]
    assert (first.outcome, first.answer, first.verdict) == ("answered", BAR, None)
    assert first.judge_error
    assert CANARY not in first.judge_error


def no_constant(name: str) -> None:
    raise AssertionError(name)


def test_without_a_single_verdict_every_figure_is_a_number(small: SmallSet, journal: Path) -> None:
    made = small.synthesis(scripted(BAR, "?", GATE, "?", SILENT, "?"), journal, judge=True)
    assert (made.n_judged, made.n_total, made.judge_errors) == (0, 4, 3)
    report = small.report.model_copy(update={"synthesis": made})
    text = report.model_dump_json()
    found = json.loads(text, parse_constant=no_constant)["synthesis"]
    counts = ("n_total", "n_judged", "faithful", "unfaithful", "judge_errors", "rejected")
    assert [type(found[name]) for name in counts] == [int] * len(counts)
    assert EvalReport.model_validate_json(text) == report


def test_a_report_is_the_same_contract_with_and_without_synthesis(
    small: SmallSet, journal: Path
) -> None:
    made = small.synthesis(scripted(*REPLIES), journal)
    for found in (None, made):
        report = small.report.model_copy(update={"synthesis": found})
        assert report.schema_version == 1
        assert EvalReport.model_validate_json(report.model_dump_json()) == report
    assert "synthesis" not in type(small.report.config).model_fields
    assert {stage.stage for stage in small.report.stages} == {"bm25"}


@pytest.mark.parametrize(
    "lie",
    [
        {"n_total": 5},
        {"answered": 3},
        {"abstained": 0},
        {"rejected": 2},
        {"answered": 3, "n_total": 5},
        {"n_judged": 2},
        {"faithful": 0},
        {"unfaithful": 1},
        {"outcomes": ()},
    ],
    ids=str,
)
def test_a_report_whose_counts_lie_is_refused(
    small: SmallSet, journal: Path, lie: dict[str, object]
) -> None:
    made = small.synthesis(scripted(BAR, FAITHFUL, GATE, "?", SILENT, "?"), journal, judge=True)
    fields = dict(made)
    assert SynthesisReport(**fields) == made
    with pytest.raises(ValidationError, match="do not add up"):
        SynthesisReport(**fields | lie)


def test_an_unanswerable_query_scores_1_where_the_model_abstains_and_0_where_it_answers(
    small: SmallSet, tmp_path: Path
) -> None:
    for number, (said, score) in enumerate({SILENT: 1.0, "Red [1].": 0.0, "Red [7].": 0.0}.items()):
        made = small.synthesis(scripted(BAR, GATE, said), tmp_path / f"{number}.jsonl")
        report = small.report.model_copy(update={"synthesis": made})
        # Nothing was shown for the cup, so nothing could be made up.
        assert answer_abstention(report) == {"colour": score, "cup": 1.0}


def test_prompt_hashes_change_with_the_prompts_and_with_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chats: list[ChatProtocol] = [scripted(), Named(()), RedactingChat(scripted("x"))]
    before = [(synthesis_identity(chat), judge_identity(chat)) for chat in chats]
    answers, judges = (
        hash_of([SYNTHESIS_SYSTEM, DEFAULT_SYNTHESIS_TEMPLATE]),
        hash_of([JUDGE_SYSTEM, DEFAULT_JUDGE_TEMPLATE]),
    )
    for chat, identities in zip(chats, before, strict=True):
        names = {"provider": chat.provider, "model_name": chat.model_name}
        assert identities == (
            ModelIdentity(**names, prompt_hash=answers),
            ModelIdentity(**names, prompt_hash=judges),
        )
    for name, place in (
        ("SYNTHESIS_SYSTEM", 0),
        ("DEFAULT_SYNTHESIS_TEMPLATE", 0),
        ("JUDGE_SYSTEM", 1),
        ("DEFAULT_JUDGE_TEMPLATE", 1),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(synthesis, name, f"{getattr(synthesis, name)} ")
            after = (synthesis_identity(chats[0]), judge_identity(chats[0]))
        assert [old != new for old, new in zip(before[0], after, strict=True)] == [
            place == 0,
            place == 1,
        ]


def test_redaction_is_told_exactly_where_it_happens(small: SmallSet, tmp_path: Path) -> None:
    bare = small.synthesis(scripted(*REPLIES), tmp_path / "bare.jsonl")
    hidden = small.synthesis(RedactingChat(scripted(*REPLIES)), tmp_path / "hidden.jsonl")
    assert (bare.redacted, hidden.redacted) == (False, True)
    assert hidden == bare.model_copy(update={"redacted": True})


def test_a_stopped_run_is_not_continued_with_another_redaction(
    small: SmallSet, journal: Path
) -> None:
    small.synthesis(scripted(*REPLIES), journal)
    inner = scripted(*REPLIES)
    assert small.synthesis(RedactingChat(inner), journal).redacted
    assert len(inner.calls) == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"top_k": 4},
        {"judge": True},
        {"context_tokens": 8000},
        {"reply_tokens": 1000},
        {"input_stage": "fusion"},
    ],
    ids=str,
)
def test_another_way_of_answering_begins_anew(
    small: SmallSet, journal: Path, settings: dict[str, Any]
) -> None:
    def anything(prompt: str) -> str:
        return FAITHFUL if "<answer>" in prompt else SILENT

    small.synthesis(Replying(anything), journal)
    chat = Replying(anything)
    answering = replace(small.answering(chat), **settings)
    for _ in range(2):
        result_of(synthesis.synthesize(small.report, answering, journal))
        assert len(chat.prompts) == (6 if answering.judge else 3)


def changed(report: EvalReport, what: str) -> EvalReport:
    """The run as it would be with one thing changed."""
    if what in ("corpus_hash", "judgments_hash"):
        return report.model_copy(
            update={"dataset": report.dataset.model_copy(update={what: "another"})}
        )
    if what == "config":
        return report.model_copy(
            update={"config": report.config.model_copy(update={"min_similarity": 0.5})}
        )
    (stage,) = report.stages
    return report.model_copy(update={"stages": (stage.model_copy(update={"model": "another"}),)})


@pytest.mark.parametrize("what", ["corpus_hash", "judgments_hash", "config", "stage's model"])
def test_another_run_of_retrieval_begins_anew(small: SmallSet, journal: Path, what: str) -> None:
    small.synthesis(scripted(*REPLIES), journal)
    chat = scripted(*REPLIES)
    result_of(synthesis.synthesize(changed(small.report, what), small.answering(chat), journal))
    assert len(chat.calls) == 3


def test_another_model_begins_anew_and_a_later_run_of_the_same_does_not(
    small: SmallSet, journal: Path
) -> None:
    small.synthesis(scripted(*REPLIES), journal)
    other = RecordingChat(Named(REPLIES))
    later = small.report.model_copy(update={"created": "2001-01-01", "groundkit": "9"})
    for _ in range(2):
        made = result_of(synthesis.synthesize(later, small.answering(other), journal))
        assert made.synthesis.model_name == "some-model"
        assert len(other.calls) == 3


def test_a_changed_prompt_begins_anew(
    small: SmallSet, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.synthesis(scripted(*REPLIES), journal)
    monkeypatch.setattr(synthesis, "SYNTHESIS_SYSTEM", "another")
    chat = scripted(*REPLIES)
    small.synthesis(chat, journal)
    assert len(chat.calls) == 3


def test_an_injected_passage_reaches_the_model_only_framed(small: SmallSet, journal: Path) -> None:
    chat = scripted(BAR, FAITHFUL, GATE, FAITHFUL, SILENT, FAITHFUL)
    small.synthesis(chat, journal, judge=True)
    (_, _, asked, judged, *_) = chat.calls
    framed_text = INJECTED.replace("[7]", "(7)")
    for prompt, system in (asked, judged):
        (source,) = sources_in(prompt)
        assert source == CORPUS["notice.txt"].strip().replace(INJECTED, framed_text).replace(
            "</source>", "‹/source>"
        )
        assert "Ignore" not in prompt.replace(context_of(prompt), "")
        assert "Ignore" not in (system or "")
    others = [prompt for prompt, _ in (*chat.calls[:2], *chat.calls[4:])]
    assert not any("Ignore" in prompt for prompt in others)


def test_passages_that_have_no_room_are_left_out_and_cannot_be_cited(
    small: SmallSet, tmp_path: Path
) -> None:
    question = QUESTIONS["bar"]
    contents = [found.content for found in small.collection.search(question).results]
    texts = (SYNTHESIS_SYSTEM, DEFAULT_SYNTHESIS_TEMPLATE, question, framed(contents))
    room = 100 + sum(map(estimate_tokens, texts))
    for tokens, passages in ((room, 2), (room - 1, 1)):
        chat = scripted("It is slow [2].", *REPLIES[1:])
        settings = {"context_tokens": tokens, "reply_tokens": 100}
        made = small.synthesis(chat, tmp_path / f"{tokens}.jsonl", **settings)
        first = made.outcomes[0]
        assert (first.passages, first.outcome) == (
            passages,
            "answered" if passages == 2 else "rejected",
        )


def test_only_as_many_passages_as_asked_for_are_shown(small: SmallSet, journal: Path) -> None:
    chat = scripted(*REPLIES)
    made = small.synthesis(chat, journal, top_k=1)
    assert (made.top_k, made.outcomes[0].passages) == (1, 1)
    assert len(sources_in(chat.calls[0][0])) == 1


def test_a_passage_that_is_gone_from_its_file_is_shown_to_nobody(tmp_path: Path) -> None:
    with small_set(tmp_path) as small:
        (small.corpus / "notice.txt").write_text("Another notice.\n", "utf-8")
        chat = scripted(BAR, SILENT)
        made = small.synthesis(chat, tmp_path / "journal.jsonl")
    assert made.outcomes[1] == SynthesisOutcome(
        query="gate", outcome="rejected", passages=0, left_out=1, reason=NOTHING
    )
    assert len(chat.calls) == 2


def test_progress_is_told_for_every_query(small: SmallSet, journal: Path) -> None:
    told: list[tuple[str, int, int]] = []
    result_of(
        synthesis.synthesize(
            small.report,
            small.answering(scripted(*REPLIES)),
            journal,
            lambda *step: told.append(step),
        )
    )
    assert told == [("synthesis", done, 4) for done in range(5)]
