"""How `grk answer` fails: the exit code, one line or one document, and nothing done."""

import signal
import subprocess
import time

import pytest
from groundkit_cli.documents import Failure
from groundkit_core.config import MAX_QUERY_LEN

from tests.cli.answering_helpers import QUERY, SCRIPTED, answered, ask, ollama, openai
from tests.cli.conftest import Invoke
from tests.cli.shell import Shell, tree
from tests.providers.faulty_server import FaultyServer, drip, reply, silence

CANARY = "canary-7319"
Case = tuple[tuple[str, ...], tuple[str, ...], int, str]
FAILURES: dict[str, Case] = {
    "too many results": (("-k", "101"), (), 2, "RetrievalError"),
    "no such collection": (("--collection", "no"), (), 3, "CollectionNotFoundError"),
    "the script ends": ((), (), 4, "ChatError"),
    "reasoning without an answer": ((), (f"<think>{CANARY}</think>",), 4, "ChatReplyError"),
    "a rewrite too long": (("--rewrite",), (CANARY * 400,), 5, "QueryRewriteError"),
    "a number out of range": ((), (f"{CANARY} [3].",), 5, "SynthesisError"),
    "no verdict": (("--judge",), ("It stops [1].", CANARY), 5, "JudgeError"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_its_code_and_its_document_and_repeats_no_text(
    indexed: Shell, name: str
) -> None:
    args, replies, code, kind = FAILURES[name]
    query = f"{QUERY} {CANARY}"
    ran = ask(indexed, *replies, query=query, args=(*args, "--json"), code=code)
    error = Failure.model_validate_json(ran.out).error
    assert (error.type, error.exit_code) == (kind, code)
    assert CANARY not in ran.out + ran.err
    assert "Close the valve" not in ran.out + ran.err


def test_a_failure_is_one_line_after_the_warning(indexed: Shell) -> None:
    ran = ask(indexed, "It stops [1].", CANARY, args=("--judge",), code=5)
    assert ran.out == ""
    warning, line = ran.err.splitlines()
    assert warning.startswith("warning: ")
    assert line.startswith("grk: scripted: ")


@pytest.mark.parametrize("query", ["", " \n", "x" * (MAX_QUERY_LEN + 1)])
def test_a_query_that_cannot_be_searched_for_is_told_before_any_work(
    invoke: Invoke, query: str
) -> None:
    ran = invoke("answer", query, "--json")
    assert (ran.exit_code, ran.stderr) == (2, "")
    assert Failure.model_validate_json(ran.stdout).error.type == "RetrievalError"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "JSON list of strings"),
        (b"{}", "JSON list of strings"),
        (b'["a", 1]', "JSON list of strings"),
        (b'"It stops [1]."', "JSON list of strings"),
        (b"[" * 100_000, "JSON list of strings"),
        (b'["\xff"]', "JSON list of strings"),
        (None, "No such file"),
    ],
)
def test_a_script_that_is_none_is_named(
    grk: Shell, invoke: Invoke, content: bytes | None, reason: str
) -> None:
    if content is not None:
        grk.write("replies.json", content)
    ran = invoke("answer", "x", *SCRIPTED)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("grk: --chat-script replies.json: ")
    assert reason in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_the_scripted_provider_needs_a_script(invoke: Invoke) -> None:
    ran = invoke("answer", "x", "--chat-provider", "scripted", "--json")
    assert ran.exit_code == 4
    error = Failure.model_validate_json(ran.stdout).error
    assert error.type == "ChatProviderNotConfiguredError"
    assert "--chat-script" in error.message


@pytest.mark.parametrize("more", [(), ("--rewrite",), ("--dry-run",)], ids=str)
@pytest.mark.parametrize("made", ["", ".groundkit", ".groundkit/default"])
def test_without_a_collection_nothing_is_created_and_no_model_is_asked(
    grk: Shell, invoke: Invoke, made: str, more: tuple[str, ...]
) -> None:
    if made:
        (grk.folder / made).mkdir(parents=True)
    before = tree(grk.folder)
    with FaultyServer(answered("pump")) as server:
        ran = invoke("answer", "x", *ollama(server), *more)
    assert (ran.exit_code, ran.stdout) == (3, "")
    assert "grk ingest" in ran.stderr
    assert tree(grk.folder) == before
    assert server.connections == 0


def test_a_question_without_a_hit_is_not_asked(indexed: Shell) -> None:
    with FaultyServer(answered("The cup went to Uruguay [1].")) as server:
        ran = indexed("answer", "Who won 1950 cup?", *ollama(server), "--json", code=5)
    assert Failure.model_validate_json(ran.out).error.type == "SynthesisError"
    assert server.connections == 0


def test_a_rejected_reply_is_not_asked_for_again(indexed: Shell) -> None:
    with FaultyServer(answered("It stops [3]."), answered("It stops [1].")) as server:
        ran = indexed("answer", QUERY, *ollama(server), code=5)
    assert ran.out == ""
    assert ran.err == "grk: the answer cites [3], but it had 2 sources\n"
    assert len(server.requests) == 1


def test_a_server_that_fails_is_asked_once_and_quoted(indexed: Shell) -> None:
    with FaultyServer(reply({"error": "out of memory"}, status=500)) as server:
        ran = indexed("answer", QUERY, *ollama(server), code=4)
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert line.startswith("grk: ollama model llama3.2:3b at ")
    assert line.endswith("answered 500: out of memory")
    assert len(server.requests) == 1


def asked(process: subprocess.Popen[bytes], server: FaultyServer) -> None:
    """Wait until the model is asked."""
    deadline = time.monotonic() + 60
    while not server.requests:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_server_that_drips_is_given_up_at_the_deadline(indexed: Shell) -> None:
    with FaultyServer(drip(b'{"response": "It stops [1]."}' * 50)) as server:
        process = indexed.start("answer", QUERY, *ollama(server), "--chat-timeout", "1")
        asked(process, server)
        begin = time.monotonic()
        out, err = process.communicate(timeout=60)
        took = time.monotonic() - begin
    assert 0.5 < took < 5
    assert (process.returncode, out) == (4, b"")
    (line,) = err.decode().splitlines()
    assert line.endswith("no complete reply within 1 s")
    assert len(server.requests) == 1


def test_a_name_that_does_not_resolve_is_one_line(indexed: Shell) -> None:
    flags = ("--chat-provider", "openai_compatible", "--chat-model", "m", "--chat-timeout", "20")
    ran = indexed(
        *("answer", QUERY, *flags, "--chat-base-url", "https://model.invalid"),
        env={"GROUNDKIT_OPENAI_API_KEY": CANARY},
        code=4,
    )
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert line.startswith("grk: https://model.invalid: ")
    assert CANARY not in line


def test_an_interrupt_while_the_model_thinks_is_one_line(indexed: Shell) -> None:
    with FaultyServer(silence) as server:
        process = indexed.start("answer", QUERY, *ollama(server))
        asked(process, server)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (130, b"")
    assert err == b"grk: interrupted\n"


def test_the_reasoning_of_a_model_cites_nothing_and_its_name_is_told(indexed: Shell) -> None:
    with FaultyServer(answered("<think>maybe [2]</think>It stops [1].", "openai")) as server:
        ran = indexed("answer", QUERY, *openai(server), "--json")
    assert ran.json["answer"] == "It stops [1]."
    assert ran.json["citations"] == [ran.json["results"][0]["citation"]]
    (timing,) = ran.err.splitlines()
    assert timing.endswith("(some-model, openai_compatible)")
