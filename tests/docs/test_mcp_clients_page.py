import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request

import pytest
import yaml

from scripts.servers import direct
from tests.cli.shell import GRK, Shell
from tests.docs.blocks import Block, blocks, write_tutorial
from tests.e2e.serving import rpc, serving
from tests.service.mcp_peer import peer

PAGE = blocks("how-to/mcp-clients.md")
READERS: dict[str, Any] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
SETTINGS = [block for block in PAGE if block.language in READERS]
TOOLS = {"search", "fetch_chunk", "list_collections", "index_status"}
TOKEN = "a-token-of-many-letters"
# How clients write a value that stands elsewhere.
ELSEWHERE = re.compile(
    r"\$\{?(env:)?GROUNDKIT_SERVE_TOKEN\}?|\$\{input:groundkit-token\}|the-token"
)


def servers(block: Block) -> list[dict[str, Any]]:
    """What a client's settings say of each server, in that client's own words."""
    read = READERS[block.language](block.body)
    names = ("mcpServers", "servers", "context_servers", "mcp_servers", "extensions")
    (kept,) = [read[name] for name in names if name in read]
    assert list(kept) == ["groundkit"]
    return list(kept.values())


def lines() -> list[str]:
    """What is typed in a shell."""
    return [line for block in PAGE if block.language == "sh" for line in block.commands]


def commands() -> Iterator[tuple[str, ...]]:
    """Every command that a client is told to start."""
    for server in (server for block in SETTINGS for server in servers(block)):
        if command := server.get("command") or server.get("cmd"):
            yield (command, *server["args"])
    for line in lines():
        if " -- " in line:
            yield tuple(shlex.split(line.partition(" -- ")[2]))


def addresses() -> Iterator[tuple[str, str]]:
    """Every address, with the header that a client sends there."""
    for server in (server for block in SETTINGS for server in servers(block)):
        if url := server.get("url") or server.get("httpUrl") or server.get("uri"):
            if variable := server.get("bearer_token_env_var"):
                yield url, f"Bearer ${{{variable}}}"
            else:
                yield url, server["headers"]["Authorization"]
    for line in lines():
        if "--transport http" in line:
            *_, url, _, header = shlex.split(line)
            yield url, header.removeprefix("Authorization: ")


def initialized(url: str, authorization: str) -> int:
    """The status of a client's first request."""
    client = {"name": "test", "version": "1"}
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": authorization,
        "Content-Type": "application/json",
    }
    try:
        with direct.open(Request(url, rpc("initialize", about), headers)) as reply:
            return int(reply.status)
    except HTTPError as error:
        with error:
            return error.code


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    write_tutorial(tmp_path)
    shell("ingest", "handbook")
    return shell


def test_every_client_starts_one_command_and_it_gives_the_four_tools(shell: Shell) -> None:
    (command,) = set(commands())
    grk, verb, *options = (word.replace("/home/ada", str(shell.folder)) for word in command)
    assert (Path(grk).name, verb) == (GRK.name, "serve-mcp")
    with peer(shell, *options) as client:
        tools = {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
    assert tools == TOOLS


def test_every_client_sends_the_token_to_the_address_of_the_server(shell: Shell) -> None:
    urls, headers = zip(*addresses(), strict=True)
    sent = {ELSEWHERE.sub(TOKEN, header) for header in headers}
    with serving(shell, env={"GROUNDKIT_SERVE_TOKEN": TOKEN}) as server:
        (url,) = {url.replace("http://127.0.0.1:8000", server.url) for url in urls}
        assert [initialized(url, header) for header in sent] == [200]
        assert initialized(url, "Bearer another") == 401


def test_every_client_but_one_is_shown_both_ways() -> None:
    ways: dict[str, list[str]] = {}
    for block in SETTINGS:
        for server in servers(block):
            way = "http" if {"url", "httpUrl", "uri"} & set(server) else "stdio"
            ways.setdefault(str(block.title), []).append(way)
    alone = {name: way for name, way in ways.items() if way != ["stdio", "http"]}
    assert alone == {"claude_desktop_config.json": ["stdio"], ".mcp.json": ["http"]}
