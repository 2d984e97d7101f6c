"""`grk answer` over real documents and a real model: what it cites stands and holds the fact."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from scripts.servers import token_count
from tests.cli.shell import Shell
from tests.e2e.asking import Asked, Protocol, ask
from tests.e2e.recorder import Recorder
from tests.note import Note
from tests.shared_data import shared

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(2400)]

MOST_CALLS = 12
MOST_TOKENS = 120


class Question(NamedTuple):
    text: str
    fact: str
    protocol: Protocol


QUESTIONS = (
    Question(
        "What is the minimum size in bytes that GZipMiddleware will compress?",
        "Defaults to `500`",
        "openai_compatible",
    ),
    Question(
        "What is the compresslevel range used during GZip compression?", "from 1 to 9", "ollama"
    ),
    Question("What range of numbers can an i8 store in Rust?", "−128 to 127", "openai_compatible"),
    Question("What is the atomic reference counting type called?", "`Arc<T>`", "ollama"),
    Question(
        "Which status code is used for a resource that was created?", "`201`", "openai_compatible"
    ),
    Question(
        "What package must be installed to receive uploaded files?", "`python-multipart`", "ollama"
    ),
    Question("How often does Rust release a new stable version?", "six weeks", "openai_compatible"),
    Question(
        "Which password hashing algorithm does pwdlib recommend?", '"Argon2"', "openai_compatible"
    ),
)
UNANSWERABLE = "What salary does the author of the guessing game earn?"
SMALL_TALK = "What is the difference between `Rc<T>` and `Arc<T>`?"


@dataclass
class Run:
    """All that was asked, and what it took."""

    answers: list[Asked] = field(default_factory=list)
    others: list[Asked] = field(default_factory=list)
    reached: set[tuple[Protocol, str]] = field(default_factory=set)
    calls: int = 0
    seconds: float = 0.0


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell beside an index of the Rust book and of FastAPI's English pages."""
    book = shared("data", "docs_rust_book", "src")
    fastapi = shared("data", "docs_fastapi", "docs", "en", "docs")
    shell = Shell(tmp_path_factory.mktemp("answers"))
    shell(
        "ingest", "--chunk-unit", "characters", "--chunk-size", "340",
        "--root", f"book={book}", "--root", f"fastapi={fastapi}", book, fastapi,
    )  # fmt: skip
    return shell


@pytest.fixture(scope="module")
def run(shell: Shell, qwen: Recorder, ollama: Recorder) -> Run:
    """Every question asked once, with a rewrite and a verdict over both protocols."""
    run, begin, before = Run(), time.monotonic(), qwen.connections
    # A flag is given again until the model was asked for its step: the answer may be rejected.
    pending = {"openai_compatible": ["--rewrite", "--judge"], "ollama": ["--judge"]}
    servers = {"openai_compatible": (qwen, "qwen"), "ollama": (ollama, "local/qwen")}
    for text, _, protocol in QUESTIONS:
        flags = pending[protocol][:1]
        asked = ask(shell, text, *servers[protocol], protocol, "--top-k", "3", *flags)
        run.answers.append(asked)
        if flags and (flags == ["--rewrite"] or asked.report or asked.error == "JudgeError"):
            run.reached.add((protocol, pending[protocol].pop(0)))
    run.others.append(ask(shell, UNANSWERABLE, qwen, "qwen", "openai_compatible", "--top-k", "3"))
    run.calls = len(qwen.requests(before))
    before = ollama.connections
    flags = ["--top-k", "3", "--rewrite"]
    run.others.append(ask(shell, SMALL_TALK, ollama, "small/smollm2", "ollama", *flags))
    if ollama.requests(before):
        run.reached.add(("ollama", "--rewrite"))
    run.seconds = time.monotonic() - begin
    return run


def test_every_citation_verifies(shell: Shell, run: Run) -> None:
    reports = [asked for asked in (*run.answers, *run.others) if asked.report]
    for asked in reports:
        assert asked.report
        cited = len(asked.report.citations)
        checked = shell("verify", "--strict", "--json", asked.file).json
        assert checked["counts"] | {"verified": cited} == checked["counts"], asked.question
    assert reports


def test_six_of_eight_answers_cite_a_passage_that_holds_the_fact(run: Run) -> None:
    held = [asked.cites(fact) for asked, (_, fact, _) in zip(run.answers, QUESTIONS, strict=True)]
    outcomes = [(asked.question, asked.outcome) for asked in run.answers]
    assert sum(held) >= 6, list(zip(held, outcomes, strict=True))


def test_the_model_rewrites_and_judges_over_both_protocols(run: Run) -> None:
    assert run.reached == {
        (protocol, flag)
        for protocol in ("openai_compatible", "ollama")
        for flag in ("--rewrite", "--judge")
    }


def test_passages_and_calls_are_few(run: Run, qwen: Recorder) -> None:
    sizes = [
        token_count(qwen.url, result.content)
        for asked in run.answers
        for result in (asked.report.results if asked.report else ())
    ]
    assert max(sizes) <= MOST_TOKENS
    assert run.calls <= MOST_CALLS


def test_summary(run: Run, note: Note) -> None:
    """Counts of what happened, which no other test decides by."""
    facts = [fact for _, fact, _ in QUESTIONS]
    held = sum(asked.cites(fact) for asked, fact in zip(run.answers, facts, strict=True))
    outcomes = Counter(asked.outcome for asked in run.answers)
    note(f"{len(QUESTIONS)} answerable: {dict(outcomes)}, fact in a cited passage: {held}")
    unanswerable, small = (asked.outcome for asked in run.others)
    note(f"unanswerable: {unanswerable}; rewrite by a small model: {small}")
    note(f"{run.calls} calls to Qwen; {run.seconds:.0f} s in all")
