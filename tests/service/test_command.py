"""`grk serve` and `grk serve-mcp` as commands: what starts, and what is refused in one line."""

import contextlib
import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping

import httpx
import pytest

from tests.cli.shell import GRK, Shell, forked, tree
from tests.e2e.serving import serving
from tests.service.support import library

TOKEN = {"GROUNDKIT_SERVE_TOKEN": "a-token-of-the-test-0123456789"}
COMMANDS = ("serve", "serve-mcp")
WITHOUT = """
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *rest):
        hidden = name.partition(".")[0] == "{missing}"
        return None if hidden else self.finder.find_spec(name, *rest)
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""
"""Start-up code that hides a package."""


@pytest.fixture
def indexed(grk: Shell) -> Shell:
    library(grk.folder, {"a.md": "A valve.\n"})
    (grk.folder / "index").rename(grk.folder / ".groundkit")
    return grk


@pytest.fixture
def taken() -> Iterator[str]:
    """A port that is in use, so that no server starts in a copy of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield str(listening.getsockname()[1])


def refused(shell: Shell, *args: str, code: int, env: Mapping[str, str] | None = None) -> str:
    """The one line on stderr of a command that ends by itself."""
    ran = forked(args, shell.folder, {**shell.env, **(env or {})}, b"")
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1), ran.err
    assert ran.err.startswith("grk: ")
    return ran.err


@pytest.mark.parametrize("command", COMMANDS)
def test_without_an_index_directory_nothing_starts_and_nothing_is_created(
    grk: Shell, command: str
) -> None:
    before = tree(grk.folder)
    assert "grk ingest" in refused(grk, command, code=3)
    assert tree(grk.folder) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_without_the_collection_nothing_starts_and_nothing_is_created(
    indexed: Shell, command: str
) -> None:
    before = tree(indexed.folder)
    said = refused(indexed, command, "--collection", "other", code=3)
    assert said == "grk: there is no collection other; --collection may be: default\n"
    empty = indexed.folder / "empty"
    empty.mkdir()
    before["empty"] = None
    assert "grk ingest" in refused(indexed, command, "--index-dir", "empty", code=3)
    assert tree(indexed.folder) == before


def test_a_damaged_collection_is_not_served(indexed: Shell) -> None:
    indexed.write(".groundkit/default/collection.db", b"no database " * 100)
    assert "default" in refused(indexed, "serve", code=3)


def test_a_port_in_use_is_told(indexed: Shell, taken: str) -> None:
    said = refused(indexed, "serve", "--port", taken, code=2)
    assert said == f"grk: --host 127.0.0.1 --port {taken}: Address already in use\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--port", "70000"], "--port 70000"),
        (["--port", "-1"], "--port -1"),
        (["--host", "no.such.host.invalid"], "--host no.such.host.invalid"),
        (["--host", ""], "--host"),
        (["--log-level", "loud"], "--log-level loud: it is debug, info, warning, error"),
        (["--max-top-k", "101"], "--max-top-k 101: it must be at most 100"),
        (["--timeout", "0"], "--timeout 0.0: it must be above 0"),
        (["--collection", "A/b"], "'A/b' is no collection name"),
        (["--token-env", "UNSET_VARIABLE"], "--token-env UNSET_VARIABLE: the variable is not set"),
        (["--allowed-host", "http://kb.internal"], "--allowed-host http://kb.internal"),
        (["--allowed-host", "kb.internal:8000"], "--allowed-host kb.internal:8000"),
        (["--allowed-origin", "app.example"], "--allowed-origin app.example"),
        (["--allowed-origin", "https://app.example/x"], "--allowed-origin https://app.example/x"),
        (["--allowed-origin", "*"], "--allowed-origin *"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    indexed: Shell, taken: str, args: list[str], said: str
) -> None:
    assert said in refused(indexed, "serve", "--port", taken, *args, code=2)


@pytest.mark.parametrize("token", ["", "x" * 15, "küche" * 10, "x" * 16 + "\n", " " * 16])
@pytest.mark.parametrize("variable", [None, "MY_TOKEN"])
def test_a_token_that_cannot_be_one_is_refused_and_not_repeated(
    indexed: Shell, taken: str, token: str, variable: str | None
) -> None:
    name = variable or "GROUNDKIT_SERVE_TOKEN"
    option = ["--token-env", variable] if variable else []
    said = refused(indexed, "serve", "--port", taken, *option, code=2, env={name: token})
    assert said.startswith(f"grk: {name}: a token has at least 16 ")
    assert "küche" not in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_are_not_let_in_without_a_token(indexed: Shell, host: str) -> None:
    port = free_port()
    said = refused(indexed, "serve", "--host", host, "--port", str(port), code=2)
    assert said.startswith(f"grk: --host {host} can be reached from other machines: set a token")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_with_a_token_any_address_may_be_served(indexed: Shell) -> None:
    with serving(indexed, "--host", "0.0.0.0", env=TOKEN) as served:
        port = served.url.rpartition(":")[2]
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, trust_env=False) as client:
            assert client.post("/v1/list_collections", json={}).status_code == 401
            bearer = {"authorization": f"Bearer {TOKEN['GROUNDKIT_SERVE_TOKEN']}"}
            found = client.post("/v1/list_collections", json={}, headers=bearer)
            assert found.json()["default"] == "default"
            evil = client.post("/v1/search", json={}, headers={**bearer, "host": "evil.example"})
            assert evil.status_code == 421
    assert TOKEN["GROUNDKIT_SERVE_TOKEN"] not in served.log.read_text()


@pytest.mark.parametrize("level", ["info", "warning"])
def test_a_server_takes_its_options(indexed: Shell, level: str) -> None:
    port = free_port()
    options = ["--port", str(port), "--max-top-k", "3", "--log-level", level]
    log = indexed.folder / "log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [GRK, "serve", *options],
            cwd=indexed.folder,
            env=indexed.env,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        try:
            until_ready(client)
            many = client.post("/v1/search", json={"query": "valve", "top_k": 4})
            few = client.post("/v1/search", json={"query": "valve", "top_k": 3})
        finally:
            process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, b"")
    assert (many.status_code, few.status_code) == (422, 200)
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert events == (["started", "request", "request", "stopped"] if level == "info" else [])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def until_ready(client: httpx.Client) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(httpx.ConnectError):
            assert client.get("/readyz").json() == {"status": "ready"}
            return
        time.sleep(0.05)
    raise AssertionError("the server did not start")


@pytest.mark.parametrize(
    ("command", "missing"),
    [("serve", "fastapi"), ("serve", "mcp"), ("serve", "uvicorn"), ("serve-mcp", "mcp")],
)
def test_without_the_extra_one_line_names_it(indexed: Shell, command: str, missing: str) -> None:
    env = indexed.at_startup(WITHOUT.format(missing=missing))
    ran = indexed(command, code=2, env=env)
    assert ran.out == ""
    assert ran.err == f"grk: {missing} is not installed; run: pip install 'groundkit-cli[serve]'\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_needs_no_extra(indexed: Shell, command: str) -> None:
    env = indexed.at_startup(WITHOUT.format(missing="fastapi"))
    shown = indexed(command, "--help", env=env).out
    assert "--index-dir" in shown
    assert ("--allowed-host" in shown) == (command == "serve")
