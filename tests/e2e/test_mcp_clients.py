"""The Python SDK's client and the TypeScript SDK's see what `grk` prints, over both transports."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.shell import GRK, Shell
from tests.e2e.mcp_clients import Call, Saw, install_node_client, node_saw, python_saw
from tests.e2e.serving import serving

pytestmark = pytest.mark.e2e

TOOLS = ["fetch_chunk", "index_status", "list_collections", "search"]
CLIENTS = ["python", "python-legacy", "node"]
TRANSPORTS = ["stdio", "http"]
PUMP = (
    "# Pump manual\n\n## Start\n\nOpen the valve slowly.\n\n## Stop\n\nClose the valve. 厨房 🐟\n"
)
WRONG: list[tuple[Call, str]] = [
    (("search", {"query": "valve", "collection": "absent"}), "collection_not_found"),
    (("index_status", {"collection": "absent"}), "collection_not_found"),
    (("fetch_chunk", {"chunk_id": "0" * 32}), "chunk_not_found"),
    (("search", {}), "invalid_request"),
    (("search", {"query": "  "}), "invalid_request"),
    (("search", {"query": "valve", "top_k": 0}), "invalid_request"),
    (("search", {"query": "valve", "mode": "magic"}), "invalid_request"),
    (("search", {"query": "valve", "path": "docs"}), "invalid_request"),
    (("search", {"query": "valve", "cursor": "made up"}), "invalid_request"),
    (("fetch_chunk", {"chunk_id": ["a"]}), "invalid_request"),
    (("list_collections", {"index_dir": "elsewhere"}), "invalid_request"),
    (("no_such_tool", {}), "not_found"),
]


@dataclass(frozen=True)
class Site:
    """An index, calls with what `grk` prints for each, and how to see it through MCP."""

    shell: Shell
    printed: list[tuple[Call, dict[str, Any]]]
    url: str
    node: Callable[[], Path]

    def saw(self, client: str, transport: str, calls: list[Call]) -> Saw:
        command = {
            "command": str(GRK),
            "args": ["serve-mcp"],
            "cwd": str(self.shell.folder),
            "env": self.shell.env,
        }
        server = {"url": f"{self.url}/mcp"} if transport == "http" else {"command": command}
        if client == "node":
            return node_saw(self.node(), server, calls)
        return python_saw(server, calls, "legacy" if client == "python-legacy" else "auto")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    shell = Shell(tmp_path_factory.mktemp("site"))
    shell.write("docs/pump.md", PUMP)
    shell.write("docs/notes.txt", "Keep the cellar dry.\n\nThe valve ledger is in the safe.\n")
    shell.write("docs/gone.txt", "A valve that nobody needs.\n")
    shell.write("docs/tides.md", "---\ntitle: Tides\nyear: 2021\n---\n\nA valve holds the tide.\n")
    shell("ingest", "docs", "--dense")
    shell.write("docs/pump.md", "Read this first.\n\n" + PUMP)
    shell.write("docs/notes.txt", "Keep the cellar wet.\n")
    (shell.folder / "docs/gone.txt").unlink()
    installed: list[Path] = []

    def node() -> Path:
        if not installed:
            installed.append(install_node_client(tmp_path_factory.mktemp("node")))
        return installed[0]

    with serving(shell) as served:
        yield Site(shell, printed_by(shell), served.url, node)


def printed_by(shell: Shell) -> list[tuple[Call, dict[str, Any]]]:
    """Calls, each with the JSON of the command that says the same."""
    asked: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({}, ()),
        ({"top_k": 2}, ("-k", "2")),
        ({"mode": "hybrid"}, ("--mode", "hybrid")),
        ({"mode": "dense", "top_k": 3}, ("--mode", "dense", "-k", "3")),
        ({"per_document": 1}, ("--per-document", "1")),
        ({"where": {"key": "year", "equals": 2021}}, ("--where", "year=2021")),
    ]
    found = [
        (("search", {"query": "valve", **given}), shell("search", "valve", *args, "--json").json)
        for given, args in asked
    ]
    ids = [result["citation"]["chunk_id"] for result in found[0][1]["results"]]
    shown = [
        (
            ("fetch_chunk", {"chunk_id": id_, "before": 1, "after": 1}),
            shell("show", id_, "--before", "1", "--after", "1", "--json").json,
        )
        for id_ in ids
    ]
    return [*found, *shown]


def without_request_ids(saw: Saw) -> Saw:
    """What a client saw, but for the one thing that differs from call to call."""
    answers = []
    for answer in saw["answers"]:
        if answer.get("isError"):
            (block,) = answer["content"]
            error = json.loads(block["text"])
            assert error["error"].pop("request_id")
            answer = {"isError": True, "error": error["error"]}
        answers.append(answer)
    return {**saw, "answers": answers}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_gets_what_grk_prints(site: Site, client: str, transport: str) -> None:
    saw = site.saw(client, transport, [call for call, _ in site.printed])
    for (call, printed), answer in zip(site.printed, saw["answers"], strict=True):
        assert not answer["isError"], call
        assert answer["structuredContent"] == printed, call
    statuses = {
        result["verification"]["status"]
        for _, printed in site.printed
        for result in printed.get("results", [])
    }
    assert statuses == {"verified", "moved", "drifted", "unresolvable"}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_mistake_comes_back_as_the_documented_error(
    site: Site, client: str, transport: str
) -> None:
    saw = without_request_ids(site.saw(client, transport, [call for call, _ in WRONG]))
    for (call, code), answer in zip(WRONG, saw["answers"], strict=True):
        assert answer["isError"], call
        assert set(answer["error"]) == {"code", "message"}
        assert answer["error"]["code"] == code, call


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_transcripts_are_the_same(site: Site, client: str, transport: str) -> None:
    calls: list[Call] = [("list_collections", {}), ("index_status", {})]
    calls += [call for call, _ in site.printed] + [call for call, _ in WRONG]
    first = without_request_ids(site.saw("python", "stdio", calls))
    assert without_request_ids(site.saw(client, transport, calls)) == first
    assert sorted(tool["name"] for tool in first["tools"]) == TOOLS


def test_results_fit_the_output_schemas_and_tools_say_that_they_only_read(site: Site) -> None:
    calls: list[Call] = [("list_collections", {}), ("index_status", {})]
    calls += [call for call, _ in site.printed]
    saw = site.saw("python", "http", calls)
    tools = {tool["name"]: tool for tool in saw["tools"]}
    for (name, _), answer in zip(calls, saw["answers"], strict=True):
        schema = tools[name]["outputSchema"]
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(answer["structuredContent"], schema)
        jsonschema.validate(answer["structuredContent"], {**schema, "additionalProperties": False})
    for tool in tools.values():
        assert tool["title"]
        assert tool["description"]
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["inputSchema"]["additionalProperties"] is False


def test_status_and_list_say_what_the_collection_holds(site: Site) -> None:
    shown = site.shell("collections", "show", "--json").json
    saw = site.saw("python", "http", [("list_collections", {}), ("index_status", {})])
    listed, status = (answer["structuredContent"] for answer in saw["answers"])
    counts = ("documents", "chunks", "generation")
    (collection,) = listed["collections"]
    assert listed["default"] == collection["name"] == status["collection"] == shown["name"]
    assert [collection[name] for name in counts] == [shown[name] for name in counts]
    assert collection["modes"] == status["modes"] == ["bm25", "dense", "hybrid"]
    for name in (*counts, "terms", "bytes", "language", "embedding", "vectors", "vector_index"):
        assert status[name] == shown[name], name
