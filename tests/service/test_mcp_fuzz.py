"""Whatever comes over stdio gets an answer or a documented error, and so does what is next."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import mcp_types
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.cli.shell import Shell
from tests.service.mcp_arguments import EXOTIC, GOOD, KNOWN, calls, texts
from tests.service.mcp_peer import Peer, peer

EXPECTED = {"invalid_request", "collection_not_found", "chunk_not_found"}
PROTOCOL_ERRORS = {-32600, -32602}


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    shell = Shell(tmp_path_factory.mktemp("fuzz"))
    shell.write("docs/pump.md", "---\nyear: 2021\n---\n\n# Pump\n\nOpen the valve.\n")
    shell("ingest", "docs", "--dense")
    with peer(shell) as found:
        yield found
        assert found.leave() == 0


@pytest.fixture(scope="module")
def schemas(talking: Peer) -> dict[str, Any]:
    tools = talking.ask("tools/list")["result"]["tools"]
    return {tool["name"]: tool["outputSchema"] for tool in tools}


@pytest.fixture(scope="module")
def good(talking: Peer) -> Any:
    found = talking.call("search", '{"query": "valve"}')["result"]["structuredContent"]
    assert len(found["results"]) == 1
    return found


def still_answers(talking: Peer, good: Any) -> None:
    result = talking.call("search", '{"query": "valve"}')["result"]
    assert result["structuredContent"] == good


def is_message(line: str) -> bool:
    """Whether the SDK takes a line for a message; of others it does not say whose they are."""
    try:
        mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(call=calls())
@example(call=("search", '{"query": "valve", "near_duplicates": NaN}'))
@example(call=("search", '{"query": "valve", "top_k": ' + "1" * 4300 + "}"))
@example(call=("search", '{"query": "valve", "top_k": ' + "1" * 5000 + "}"))
@example(call=("search", '{"query": "valve", "top_k": 3.0}'))
@example(call=("search", '{"query": "\\ud800"}'))
@example(call=("search", '{"query": "a\\u0000b"}'))
@example(call=("search", '{"query": "valve", "where": ' + EXOTIC[-6] + "}"))
@example(call=("search", '{"query": "valve", "where": {"key": "year", "at_least": NaN}}'))
@example(call=("search", '{"query": "valve", "where": {"key": "year", "equals": 1e999}}'))
@example(call=("search", '{"query": "\\u0000", "mode": "dense"}'))
@example(call=("list_collections", "[]"))
@example(call=("index_status", "null"))
def test_arguments_of_any_kind(
    talking: Peer, schemas: dict[str, Any], good: Any, call: tuple[str, str]
) -> None:
    known = good["results"][0]["citation"]["chunk_id"]
    tool, arguments = call[0], call[1].replace(KNOWN, known)
    if not is_message(Peer.called(0, tool, arguments)):
        talking.send(Peer.called(10**9, tool, arguments).encode())
        still_answers(talking, good)
        return
    answer = talking.call(tool, arguments)
    if "error" in answer:
        # Arguments that are no object, or hold what JSON cannot, are for the protocol to refuse.
        assert answer["error"]["code"] in PROTOCOL_ERRORS, answer
        assert not isinstance(json.loads(arguments), dict)
    elif answer["result"].get("isError"):
        (block,) = answer["result"]["content"]
        error = json.loads(block["text"])["error"]
        assert set(error) == {"code", "message", "request_id"}
        assert error["code"] in EXPECTED, error
    else:
        jsonschema.validate(answer["result"]["structuredContent"], schemas[tool])


GARBAGE = {
    "empty": b"",
    "no JSON": b"nonsense",
    "half an object": b"{",
    "null": b"null",
    "text": b'"text"',
    "a byte order mark": b"\xff\xfe\x00",
    "no UTF-8 inside": b'{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":"\xff"}}',
    "an empty batch": b"[]",
    "a batch": b'[{"jsonrpc":"2.0","id":8,"method":"ping"}]',
    "another version": b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    "no id": b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    "an object as id": b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
    "an unknown notification": b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}',
    "a notification of a request": b'{"jsonrpc":"2.0","method":"tools/call"}',
    "a cancellation of nothing": b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
    b'"params":{"requestId":77}}',
    "a result nobody asked for": b'{"jsonrpc":"2.0","id":77,"result":{}}',
    "an error nobody asked for": b'{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"m"}}',
    "zeros": b"\x00" * 100,
    "a megabyte": b"x" * (1 << 20),
    "a large ping": b'{"jsonrpc":"2.0","id":"p","method":"ping","x":"' + b"y" * (1 << 20) + b'"}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("line", GARBAGE.values(), ids=GARBAGE)
def test_lines_that_are_no_request(talking: Peer, good: Any, line: bytes) -> None:
    talking.send(line)
    still_answers(talking, good)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", "{}"),
        ("tools/call", '{"name": 5}'),
        ("tools/call", '{"name": "search", "arguments": []}'),
        ("tools/call", "[]"),
        ("no/such/method", "{}"),
        ("resources/read", '{"uri": "file:///etc/passwd"}'),
        ("", "{}"),
    ],
)
def test_requests_that_are_no_call_are_refused_by_the_protocol(
    talking: Peer, good: Any, method: str, params: str
) -> None:
    line = Peer.request(10**6, method, params)
    talking.send(line.encode())
    if is_message(line):
        error = talking.answer(10**6)["error"]
        assert error["code"] in PROTOCOL_ERRORS | {-32601}
    still_answers(talking, good)


@settings(deadline=None)
@given(line=st.binary(max_size=200).filter(lambda line: b"\n" not in line))
def test_lines_of_any_bytes(talking: Peer, good: Any, line: bytes) -> None:
    talking.send(line)
    still_answers(talking, good)


@settings(deadline=None)
@given(name=texts)
def test_a_tool_of_any_other_name_is_not_found(talking: Peer, good: Any, name: str) -> None:
    line = Peer.called(10**6, name, "{}")
    talking.send(line.encode())
    if is_message(line) and name not in GOOD:
        (block,) = talking.answer(10**6)["result"]["content"]
        assert json.loads(block["text"])["error"]["code"] == "not_found"
    still_answers(talking, good)


def test_a_megabyte_of_query_is_refused_and_not_repeated(talking: Peer, good: Any) -> None:
    result = talking.call("search", json.dumps({"query": "secret " * 150_000}))["result"]
    assert result["isError"] is True
    assert "secret" not in json.dumps(result)
    still_answers(talking, good)
    assert "secret" not in talking.noise


def test_many_requests_at_once_are_all_answered(talking: Peer, good: Any) -> None:
    numbers = range(10**7, 10**7 + 300)
    for number in numbers:
        talking.send(Peer.called(number, "search", '{"query": "valve"}').encode())
    for number in numbers:
        result = talking.answer(number)["result"]
        assert result.get("structuredContent") == good or result["isError"]
