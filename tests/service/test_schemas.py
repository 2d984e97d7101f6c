"""No field of a request can name a path, a URL or an index directory."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from groundkit_cli.service.operations import OPERATIONS

from tests.service.support import ACCEPT, Desk, rpc

PLACES = re.compile(
    r"(^|_)(path|paths|file|files|folder|dir|directory|root|roots|url|uri|host|base|index|endpoint"
    r"|location|output|model|provider|env|key_env)($|_)"
)
FIELDS = {
    "search": {
        *("query", "collection", "top_k", "mode", "where", "per_document", "near_duplicates"),
        *("verify", "highlight", "cursor"),
    },
    "fetch_chunk": {"chunk_id", "collection", "before", "after", "verify", "cursor"},
    "list_collections": {"cursor"},
    "index_status": {"collection"},
}
FILTER = {
    *("key", "equals", "one_of", "at_least", "at_most", "above", "below", "prefix", "glob"),
    *("exists", "all_of", "any_of", "none_of"),
}


def objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every schema within a schema."""
    if isinstance(schema, Mapping):
        yield schema
        for inner in schema.values():
            yield from objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


def offered(ask: Desk, transport: str) -> dict[str, Any]:
    """The request schema of each operation, as clients see it."""
    if transport == "mcp":
        listed = ask.http("POST", "/mcp", json=rpc("tools/list", {}), headers=ACCEPT).json()
        return {tool["name"]: tool["inputSchema"] for tool in listed["result"]["tools"]}
    paths = ask.http("GET", "/openapi.json").json()["paths"]
    return {
        path.removeprefix("/v1/"): operations["post"]["requestBody"]["content"]["application/json"][
            "schema"
        ]
        for path, operations in paths.items()
        if path.startswith("/v1/")
    }


@pytest.mark.parametrize("transport", ["rest", "mcp"])
def test_requests_have_these_fields_and_take_no_others(ask: Desk, transport: str) -> None:
    schemas = offered(ask, transport)
    assert {name: set(schema["properties"]) for name, schema in schemas.items()} == FIELDS
    for schema in schemas.values():
        for each in objects(schema):
            if each.get("type") == "object":
                assert each["additionalProperties"] is False
                assert set(each["properties"]) <= FIELDS["search"] | FIELDS["fetch_chunk"] | FILTER
                assert not [name for name in each["properties"] if PLACES.search(name)]
            assert each.get("format") is None


@pytest.mark.parametrize("transport", ["rest", "mcp"])
def test_a_collection_is_named_by_a_word_without_a_separator(ask: Desk, transport: str) -> None:
    for name, schema in offered(ask, transport).items():
        for field, held in schema["properties"].items():
            if field == "collection":
                (pattern,) = [each["pattern"] for each in objects(held) if "pattern" in each]
                assert pattern == "^[a-z0-9][a-z0-9._-]{0,63}$", name


@pytest.mark.parametrize(
    "name", ["..", "../default", "/etc", "a/b", "a\\b", "A", "", "a\n", "a\x00", "file:x", "x" * 65]
)
def test_a_name_with_a_separator_is_refused(ask: Desk, name: str) -> None:
    for operation in ("search", "fetch_chunk", "index_status"):
        given = {"search": {"query": "x"}, "fetch_chunk": {"chunk_id": "x"}}.get(operation, {})
        assert ask("rest", operation, collection=name, **given).code == "invalid_request"


def test_both_protocols_offer_the_models(ask: Desk) -> None:
    assert offered(ask, "mcp") == {
        name: operation.request.model_json_schema() for name, operation in OPERATIONS.items()
    }
    listed = ask.http("POST", "/mcp", json=rpc("tools/list", {}), headers=ACCEPT).json()
    for tool in listed["result"]["tools"]:
        operation = OPERATIONS[tool["name"]]
        assert tool["outputSchema"] == operation.response.model_json_schema(mode="serialization")
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["annotations"]["destructiveHint"] is False


def test_every_field_is_described_for_the_model_that_reads_it(ask: Desk) -> None:
    for schema in offered(ask, "mcp").values():
        assert all(held.get("description") for held in schema["properties"].values())
