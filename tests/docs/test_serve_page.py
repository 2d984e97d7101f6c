import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request

import pytest
from groundkit_cli.service.errors import STATUS

from scripts.servers import direct
from tests.cli.shell import GRK, Shell
from tests.docs.blocks import DOCS, Block, blocks, write_tutorial
from tests.e2e.serving import Served, serving

PAGE = "how-to/serve.md"
PAGES = [f"how-to/{name}.md" for name in ("serve", "mcp-clients", "reverse-proxy", "container")]
ADDRESS = "http://127.0.0.1:8000"
TOKEN = "a-token-of-many-letters"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# What docker, claude and curl are given in a sentence.
FOREIGN = {"--build-arg", "--format", "--publish", "--wait"}


@dataclass(frozen=True, slots=True)
class Curl:
    """A request as curl's options say it."""

    path: str
    body: str | None
    headers: dict[str, str]

    @classmethod
    def of(cls, command: str) -> "Curl":
        words = shlex.split(Template(command).substitute(GROUNDKIT_SERVE_TOKEN=TOKEN))
        assert words.pop(0) == "curl"
        body, headers, path = None, {}, ""
        while words:
            word = words.pop(0)
            if word == "-d":
                body = words.pop(0)
            elif word == "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name] = value
            else:
                path = word.removeprefix(ADDRESS)
        return cls(path, body, headers)

    def sent(self, url: str, **headers: str) -> tuple[int, Any]:
        """Status and document of the reply."""
        data = self.body.encode() if self.body is not None else None
        try:
            with direct.open(Request(url + self.path, data, self.headers | headers)) as reply:
                return reply.status, json.load(reply)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)


def shows(shown: Any, real: Any) -> bool:
    """Whether a shortened document could be of the real one."""
    if isinstance(shown, dict):
        return isinstance(real, dict) and all(
            name in real and shows(value, real[name]) for name, value in shown.items()
        )
    if isinstance(shown, list):
        return len(shown) == len(real) and all(map(shows, shown, real))
    if isinstance(shown, str) and shown.endswith("…"):
        return isinstance(real, str) and real.startswith(shown[:-1])
    return bool(shown == real) and type(shown) is type(real)


def curls(page: list[Block]) -> list[tuple[Curl, Any]]:
    """Each request that has a block to itself, with the document shown beneath it."""
    return [
        (Curl.of(" ".join(block.commands)), json.loads(following.body))
        for block, following in pairwise(page)
        if block.language == "sh" and block.body.startswith("curl")
    ]


@cache
def options(command: str) -> set[str]:
    """The options that `grk COMMAND --help` lists."""
    told = subprocess.run(
        [GRK, command, "--help"], capture_output=True, encoding="utf-8", check=True
    ).stdout
    return set(re.findall(r"^ +(--[a-z-]+)", told, re.MULTILINE))


def unknown(lines: list[str]) -> list[tuple[str, str]]:
    """Options that a `grk COMMAND` on these lines does not have."""
    called = [line.partition("grk ")[2] for line in lines if re.search(r"\bgrk [a-z]", line)]
    found = [(call.split()[0], option) for call in called for option in OPTION.findall(call)]
    return [(command, option) for command, option in found if option not in options(command)]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("served"))
    write_tutorial(shell.folder)
    shell("ingest", "handbook")
    return shell


@pytest.fixture(scope="module")
def served(shell: Shell) -> Iterator[Served]:
    with serving(shell) as server:
        yield server


@pytest.mark.parametrize(("curl", "shown"), curls(blocks(PAGE)), ids=str)
def test_a_request_on_the_page_gives_what_is_shown(served: Served, curl: Curl, shown: Any) -> None:
    _, reply = curl.sent(served.url)
    assert shows(shown, reply), reply


def test_the_page_shows_every_operation_and_an_error() -> None:
    paths = [curl.path for curl, _ in curls(blocks(PAGE))]
    names = ["search", "fetch_chunk", "list_collections", "index_status", "search"]
    assert paths == [f"/v1/{name}" for name in names]


def test_other_texts_numbers_and_keys_are_not_what_is_shown() -> None:
    real = {"a": [1, "long text"], "b": None}
    assert shows({"a": [1, "long …"]}, real)
    assert not shows({"a": [1, "wrong …"]}, real)
    assert not shows({"a": [True, "long text"]}, real)
    assert not shows({"a": [1]}, real)
    assert not shows({"c": None}, real)


def test_the_program_on_the_page_prints_what_is_shown(served: Served) -> None:
    page = blocks(PAGE)
    (at,) = [place for place, block in enumerate(page) if block.title == "ask.py"]
    code = page[at].body.replace(ADDRESS, served.url)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert (done.stderr, done.stdout) == ("", page[at + 1].body)


def test_a_request_with_the_token_passes_as_the_page_says(shell: Shell, tmp_path: Path) -> None:
    (block,) = [block for block in blocks(PAGE) if "Bearer" in block.body]
    curl = Curl.of(block.commands[-1])
    index = str(shell.folder / ".groundkit")
    settings = {"GROUNDKIT_SERVE_TOKEN": TOKEN}
    with serving(Shell(tmp_path), "--index-dir", index, env=settings) as server:
        assert curl.sent(server.url)[0] == 200
        status, reply = curl.sent(server.url, Authorization="Bearer another")
    assert (status, reply["error"]["code"]) == (401, "unauthorized")


def test_a_line_of_the_log_has_the_fields_that_the_page_shows(served: Served) -> None:
    (shown,) = [json.loads(each.body) for each in blocks(PAGE) if '"event"' in each.body]
    asked, _ = curls(blocks(PAGE))[0]
    asked.sent(served.url)
    logged = json.loads(served.log.read_text().splitlines()[-1])
    assert list(logged) == list(shown)
    given = {name: logged[name] for name in ("operation", "collection", "results", "code")}
    assert given.items() <= shown.items()


def test_the_table_of_errors_is_that_of_the_service() -> None:
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d{3}) \|", text, re.MULTILINE)
    assert {code: int(status) for code, status in rows} == STATUS


def test_the_table_of_limits_has_the_defaults_of_the_help() -> None:
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(--[a-z-]+)` \| (\d+)", text, re.MULTILINE)
    told = subprocess.run([GRK, "serve", "--help"], capture_output=True, encoding="utf-8").stdout
    flat = " ".join(told.split())
    defaults = [re.search(rf"{option} .*?\[default: (\d+)\]", flat) for option, _ in rows]
    assert [found and found[1] for found in defaults] == [value for _, value in rows]
    assert len(rows) == 5


@pytest.mark.parametrize("page", PAGES)
def test_every_option_of_grk_in_an_example_exists(page: str) -> None:
    lines = [line for block in blocks(page) for line in block.commands]
    assert unknown(lines) == []


def test_every_option_in_a_sentence_exists() -> None:
    texts = [(DOCS / page).read_text(encoding="utf-8") for page in PAGES]
    prose = "".join(re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S) for text in texts)
    spans = re.findall(r"`([^`]+)`", prose)
    alone = {word for span in spans if span.startswith("--") for word in OPTION.findall(span)}
    assert alone - options("serve") - options("serve-mcp") - FOREIGN == set()
    assert len(alone) > 10
    assert unknown(spans) == []
