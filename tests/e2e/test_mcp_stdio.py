"""`grk serve-mcp` as a process: what it writes where, and how it ends."""

import json
import signal
import time
from typing import Any

import pytest

from tests.cli.shell import Shell, tree
from tests.service.mcp_peer import peer

pytestmark = pytest.mark.e2e

SEARCH = '{"query": "valve", "mode": "hybrid"}'
# A dependency that writes to stdout in every way there is, some of it left in a buffer.
NOISY = """
import os, subprocess, sys
from groundkit_core.embedders.static import StaticEmbedder

quiet = StaticEmbedder.embed_now

def noisy(self, texts, purpose):
    os.write(1, b"noise of a descriptor\\n")
    subprocess.run(["echo", "noise of a child"], check=True)
    print("noise of print, flushed", flush=True)
    sys.__stdout__.write("noise of the first stdout\\n")
    print("noise of print")
    return quiet(self, texts, purpose)

StaticEmbedder.embed_now = noisy
"""
SLOW = """
import time
from groundkit_core.embedders.static import StaticEmbedder

quick = StaticEmbedder.embed_now

def slow(self, texts, purpose):
    open("asked", "w").close()
    time.sleep(1.5)
    return quick(self, texts, purpose)

StaticEmbedder.embed_now = slow
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("stdio"))
    shell.write("docs/pump.md", "# Pump\n\nOpen the valve. 厨房 🐟\u2028next\n")
    shell("ingest", "docs", "--dense")
    return shell


def test_stdout_is_json_rpc_whatever_a_tool_or_a_library_writes(shell: Shell) -> None:
    with peer(shell, env=shell.at_startup(NOISY)) as talking:
        for _ in range(3):
            found = talking.call("search", SEARCH)["result"]["structuredContent"]["results"]
            assert [result["citation"]["source"] for result in found] == ["docs/pump.md"]
        assert talking.leave() == 0
    messages: list[dict[str, Any]] = [json.loads(line) for line in talking.lines]
    assert [message["id"] for message in messages] == [1, 2, 3, 4]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    for what in ("of a descriptor", "of a child", "of print", "of print, flushed", "of the first"):
        assert talking.noise.count(f"noise {what}") >= 3, what


def test_each_message_is_one_line_of_utf_8(shell: Shell) -> None:
    with peer(shell, env={"PYTHONIOENCODING": "cp1252"}) as talking:
        result = talking.call("search", '{"query": "厨房"}')["result"]
        assert talking.leave() == 0
    (found,) = result["structuredContent"]["results"]
    assert found["content"] == "# Pump\n\nOpen the valve. 厨房 🐟\u2028next"
    assert len(talking.lines) == 2
    assert "厨房 🐟" in talking.lines[1].decode("utf-8")


def test_the_end_of_stdin_ends_the_server(shell: Shell) -> None:
    with peer(shell) as talking:
        began = time.monotonic()
        assert talking.leave() == 0
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_server_while_stdin_is_open(
    shell: Shell, number: signal.Signals, code: int
) -> None:
    with peer(shell) as talking:
        talking.call("search", SEARCH)
        began = time.monotonic()
        talking.process.send_signal(number)
        assert talking.ended() == code
        assert time.monotonic() - began < 5


def test_sigterm_lets_a_running_call_finish(shell: Shell) -> None:
    with peer(shell, env=shell.at_startup(SLOW)) as talking:
        params = f'{{"name":"search","arguments":{SEARCH}}}'
        talking.send(f'{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{params}}}'.encode())
        until = time.monotonic() + 30
        while not (shell.folder / "asked").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        talking.process.send_signal(signal.SIGTERM)
        assert talking.answer(9)["result"]["structuredContent"]["results"]
        assert talking.ended() == 0


def test_logs_are_json_lines_without_the_query(shell: Shell) -> None:
    with peer(shell) as talking:
        talking.call("search", '{"query": "valve unmistakable"}')
        assert talking.leave() == 0
    events = [json.loads(line) for line in talking.noise.splitlines()]
    (request,) = (event for event in events if event["event"] == "request")
    assert (request["transport"], request["operation"]) == ("mcp-stdio", "search")
    assert request["results"] == 1
    assert "unmistakable" not in talking.noise


@pytest.mark.parametrize("command", ["serve", "serve-mcp"])
@pytest.mark.parametrize("args", [("--collection", "absent"), ("--index-dir", "elsewhere")])
def test_what_does_not_exist_is_an_error_and_creates_nothing(
    shell: Shell, command: str, args: tuple[str, str]
) -> None:
    before = tree(shell.folder)
    ran = shell(command, *args, code=3)
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert tree(shell.folder) == before
