"""A run with a model that is stopped half-way leaves whole files and goes on where it was."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from groundkit_evals.artifacts import ECHO, LATEST, read_artifact
from groundkit_evals.calibration import VerdictRun
from groundkit_evals.echo import EchoReport
from groundkit_evals.plants import PLANTS
from groundkit_evals.schema import EvalReport
from groundkit_evals.synthesis import judge_identity
from groundkit_providers.llm import OpenAICompatChat

from tests.cli.answering_helpers import answered, openai
from tests.cli.shell import Shell
from tests.cli.test_eval import JUDGMENTS, SET, latest, write_set, written
from tests.cli.test_eval_calibrate import COMMAND, TRUTH, VERDICTS, prepare
from tests.providers.dialects import DIALECTS
from tests.providers.faulty_server import FaultyServer, silence
from tests.providers.test_judge import FAITHFUL

SILENT = "The sources do not say."
SAID = answered(SILENT, "openai")
FAITHFUL_SAID = answered(FAITHFUL, "openai")
QUERIES = [
    JUDGMENTS[0],
    *(
        {"id": f"q{n}", "kind": "no_answer", "query": f"Which colour has pump {n}?", "gold": []}
        for n in range(1, 4)
    ),
]
JOURNALS = {".synthesis.jsonl", ".echo.jsonl"}
DONE = len(QUERIES) + len(PLANTS)


def command(server: FaultyServer, *more: str) -> tuple[str, ...]:
    """A run that asks the server's model."""
    return ("eval", *SET, "--synthesis", *openai(server), *more)


@pytest.fixture
def asked(tmp_path: Path) -> Shell:
    """A shell in a folder with a set of four queries, for each of which passages are found."""
    shell = Shell(tmp_path)
    write_set(shell, judgments=QUERIES)
    return shell


def questions(server: FaultyServer) -> list[str]:
    """What the model was asked, in order."""
    prompts = [str(DIALECTS[1].asked(request)[0]) for request in server.requests]
    return [prompt.partition("Question: ")[2].splitlines()[0] for prompt in prompts]


ALL = [row["query"] for row in QUERIES] + [plant.question for plant in PLANTS]


def stopped(
    process: "subprocess.Popen[bytes]", server: FaultyServer, requests: int, by: signal.Signals
) -> tuple[int, str, str]:
    """What a process leaves that is stopped while the model thinks about this many requests."""
    deadline = time.monotonic() + 60
    while len(server.requests) < requests:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(by)
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


def contents(shell: Shell) -> dict[str, bytes]:
    """The artifacts that there are."""
    paths = (shell.folder / "results" / name for name in (LATEST, ECHO))
    return {path.name: path.read_bytes() for path in paths if path.exists()}


POINTS = {"first query": 1, "third query": 3, "first marker": 5, "last marker": DONE}


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_leaves_no_artifact_and_the_next_asks_only_what_was_missing(
    asked: Shell, point: str
) -> None:
    finished = POINTS[point] - 1
    with FaultyServer(*[SAID] * finished, silence) as server:
        process = asked.start(*command(server))
        code, out, _ = stopped(process, server, finished + 1, signal.SIGKILL)
    assert (code, out) == (-signal.SIGKILL, "")
    assert contents(asked) == {}
    assert written(asked) - {"index"} <= JOURNALS
    with FaultyServer(SAID) as server:
        asked(*command(server))
    assert questions(server) == ALL[finished:]
    made = latest(asked).synthesis
    assert made is not None
    assert (made.abstained, made.n_total) == (len(QUERIES), len(QUERIES))
    echo = read_artifact(asked.folder / "results" / ECHO, EchoReport)
    assert echo.count("abstained") == len(PLANTS)
    assert written(asked) == {LATEST, ECHO, "index"}


def test_a_killed_run_leaves_the_results_of_an_earlier_one_as_they_were(asked: Shell) -> None:
    with FaultyServer(SAID) as server:
        asked(*command(server))
    before = contents(asked)
    with FaultyServer(SAID, silence) as server:
        process = asked.start(*command(server, "--top-k", "1"))
        stopped(process, server, 2, signal.SIGKILL)
    assert contents(asked) == before
    EvalReport.model_validate_json(before[LATEST])
    EchoReport.model_validate_json(before[ECHO])


def test_what_a_killed_run_was_asked_otherwise_is_not_taken_over(asked: Shell) -> None:
    with FaultyServer(SAID, SAID, silence) as server:
        process = asked.start(*command(server))
        stopped(process, server, 3, signal.SIGKILL)
    with FaultyServer(SAID) as server:
        asked(*command(server, "--top-k", "1"))
    assert questions(server) == ALL


def test_an_interrupt_is_one_line_and_the_next_run_goes_on(asked: Shell) -> None:
    with FaultyServer(SAID, SAID, silence) as server:
        process = asked.start(*command(server))
        code, out, err = stopped(process, server, 3, signal.SIGINT)
    assert (code, out, err) == (130, "", "grk: interrupted\n")
    assert contents(asked) == {}
    with FaultyServer(SAID) as server:
        ran = asked(*command(server))
    assert questions(server) == ALL[2:]
    assert "going on from results/.synthesis.jsonl if it is the same run" in ran.err.splitlines()
    assert written(asked) == {LATEST, ECHO, "index"}


def test_an_answer_whose_verdict_was_outstanding_is_asked_for_again(asked: Shell) -> None:
    with FaultyServer(SAID, FAITHFUL_SAID, SAID, silence) as server:
        process = asked.start(*command(server, "--judge"))
        stopped(process, server, 4, signal.SIGKILL)
    rest = [SAID, FAITHFUL_SAID] * 3
    with FaultyServer(*rest, SAID) as server:
        asked(*command(server, "--judge"))
    assert len(server.requests) == len(rest) + len(PLANTS)
    made = latest(asked).synthesis
    assert made is not None
    assert (made.n_judged, made.judge_errors) == (len(QUERIES), 0)


KILLED_AT = """
import os, signal, sys
def _hook(event, args):
    if event == {event!r} and str(args[{place}]).endswith({name!r}):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(_hook)
"""


@pytest.mark.parametrize("name", [LATEST, ECHO])
def test_a_run_killed_while_it_writes_leaves_the_earlier_artifact(asked: Shell, name: str) -> None:
    with FaultyServer(SAID) as server:
        asked(*command(server))
        before = contents(asked)[name]
        env = asked.at_startup(KILLED_AT.format(event="os.rename", place=1, name=f"/{name}"))
        other = command(server, "--top-k", "1")
        asked(*other, env=env, code=-signal.SIGKILL)
        assert contents(asked)[name] == before
        requests = len(server.requests)
        asked(*other)
        assert len(server.requests) == requests
    made = latest(asked).synthesis
    assert made is not None
    assert made.top_k == 1
    assert not JOURNALS & written(asked)


def test_a_line_that_was_cut_off_is_asked_again(asked: Shell) -> None:
    with FaultyServer(SAID, SAID, silence) as server:
        process = asked.start(*command(server))
        stopped(process, server, 3, signal.SIGKILL)
    journal = asked.folder / "results/.synthesis.jsonl"
    journal.write_bytes(journal.read_bytes()[:-5])
    with FaultyServer(SAID) as server:
        asked(*command(server))
    assert questions(server) == ALL[1:]


def test_a_damaged_journal_is_named_and_deleting_it_begins_anew(asked: Shell) -> None:
    with FaultyServer(SAID, SAID, silence) as server:
        process = asked.start(*command(server))
        stopped(process, server, 3, signal.SIGKILL)
    journal = asked.folder / "results/.synthesis.jsonl"
    head, _, *rest = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join([head, b'["bar", "{}"]', *rest]))
    with FaultyServer(SAID) as server:
        ran = asked(*command(server), code=3)
        assert "results/.synthesis.jsonl: it is damaged; delete it" in ran.err.splitlines()[-1]
        assert server.requests == []
        journal.unlink()
        asked(*command(server))
    assert questions(server) == ALL


def test_a_killed_calibration_goes_on(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    chat = OpenAICompatChat(
        model_name="some-model", base_url="http://127.0.0.1:9", allow_private_endpoint=True
    )
    prepare(shell, judge=judge_identity(chat))
    with FaultyServer(FAITHFUL_SAID, FAITHFUL_SAID, silence) as server:
        process = shell.start(*COMMAND, *openai(server))
        stopped(process, server, 3, signal.SIGKILL)
    assert {path.name for path in (tmp_path / "results").iterdir()} == {".calibration.jsonl"}
    with FaultyServer(FAITHFUL_SAID, silence) as server:
        process = shell.start(*COMMAND, *openai(server))
        code, out, err = stopped(process, server, 2, signal.SIGINT)
    assert (code, out, err) == (130, "", "grk: interrupted\n")
    with FaultyServer(FAITHFUL_SAID) as server:
        report = shell(*COMMAND, *openai(server), "--json").json
    assert len(server.requests) == len(TRUTH) - 3
    assert (report["n_judged"], report["figures"]["agreement"]["hits"]) == (5, 3)
    run = read_artifact(tmp_path / "results" / VERDICTS, VerdictRun)
    assert [each.id for each in run.verdicts] == [f"a{n}" for n in range(len(TRUTH))]
    assert not (tmp_path / "results/.calibration.jsonl").exists()
