"""`grk eval` with a real model: who was asked is written, and no marker comes from nowhere."""

import json
from pathlib import Path

import pytest
from groundkit_evals.artifacts import ECHO, LATEST, read_artifact
from groundkit_evals.echo import EchoReport
from groundkit_evals.schema import EvalReport

from scripts.asked_real_models import problems
from tests.cli.shell import Shell
from tests.e2e.recorder import Recorder
from tests.note import Note

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

TEXTS = {
    "north.md": "# North station\n\nThe north station pumps 40 litres a second at night.\n",
    "south.md": "# South station\n\nThe south station is flushed on the first Monday of May.\n",
}
ROWS = [
    ("n1", "normal", "how much does the north station pump", "north.md", "40 litres a second"),
    ("n2", "normal", "when is the south station flushed", "south.md", "first Monday of May"),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, qwen: Recorder) -> Path:
    """The results of one run with a model that answers and judges."""
    shell = Shell(tmp_path_factory.mktemp("evaluated"))
    corpus = shell.folder / "set" / "corpus"
    corpus.mkdir(parents=True)
    for name, text in TEXTS.items():
        (corpus / name).write_text(text, "utf-8")
    rows = [
        {"id": id_, "kind": kind, "query": query, "gold": [{"source": source, "quote": quote}]}
        for id_, kind, query, source, quote in ROWS
    ]
    rows.append({"id": "x", "kind": "no_answer", "query": "who paints the station", "gold": []})
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (corpus.parent / "judgments.jsonl").write_text(lines, "utf-8")
    command = ["eval", "--dataset", "set", "--results", "results", "--dense", "--synthesis"]
    command += ["--judge", "--top-k", "2", "--chat-provider", "openai_compatible"]
    command += ["--chat-base-url", qwen.url, "--chat-model", "qwen", "--chat-api-key-env", ""]
    command += ["--chat-allow-private-endpoint", "--chat-timeout", "600"]
    with shell.start(*command) as process:
        _, err = process.communicate(timeout=1500)
    assert process.returncode == 0, err.decode()
    return shell.folder / "results"


def test_real_models_were_asked(results: Path) -> None:
    assert problems(results) == []


def test_every_query_has_an_outcome_and_every_answer_a_verdict_or_a_reason(results: Path) -> None:
    report = read_artifact(results / LATEST, EvalReport)
    assert report.synthesis is not None
    outcomes = report.synthesis.outcomes
    assert [each.query for each in outcomes] == ["n1", "n2", "x"]
    for each in outcomes:
        assert (each.answer is None) == (each.outcome == "rejected")
        judged = each.verdict is not None or each.judge_error is not None
        assert judged == (each.answer is not None)


def test_no_marker_comes_from_nowhere_and_most_answers_cite_the_text_that_answers(
    results: Path, note: Note
) -> None:
    echo = read_artifact(results / ECHO, EchoReport)
    outcomes = {case.id: case.outcome for case in echo.cases}
    note(f"planted markers: {outcomes}")
    assert len(echo.cases) >= 5
    assert not any(case.absent in (case.answer or "") for case in echo.cases)
    assert echo.count("unresolved") == 0
    assert echo.count("passed") >= 3, echo.cases
