"""schemathesis reads the OpenAPI schema of a running server and asks what it can think of."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from scripts.servers import direct
from tests.cli.shell import Shell
from tests.e2e.serving import Served, serving

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

SEED = "20260807"
PATHS = {
    "/healthz",
    "/readyz",
    "/v1/fetch_chunk",
    "/v1/index_status",
    "/v1/list_collections",
    "/v1/search",
}
NO_COLLECTION = {"/healthz", "/readyz", "/v1/list_collections"}
# A body may be too large, and a schema cannot say which cursors and filter keys there are.
REFUSALS = """
[checks]
negative_data_rejection.expected-statuses = [401, 403, 404, 405, 409, 413, 415, 422]
"""
UNSAID = '\npositive_data_acceptance.expected-statuses = ["2xx", 404, 413, 422]\n'
_COMMAND = Path(sys.executable).with_name("schemathesis")
Seen = set[tuple[str, int]]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("contract"))
    shell.write("docs/pump.md", "---\ntitle: Pump\nyear: 2021\n---\n\n# Pump\n\nOpen the valve.\n")
    shell.write("docs/notes.txt", "Keep the cellar dry.\n\nThe valve ledger is in the safe.\n")
    shell("ingest", "docs", "--dense")
    return shell


@pytest.fixture(scope="module")
def served(shell: Shell) -> Iterator[Served]:
    with serving(shell) as found:
        yield found


@pytest.fixture(scope="module")
def schema(served: Served) -> dict[str, Any]:
    with direct.open(f"{served.url}/openapi.json", timeout=30) as reply:
        found: dict[str, Any] = json.load(reply)
    assert set(found["paths"]) == PATHS
    return found


def asked(served: Served, folder: Path, checks: str, schema: str, *args: str) -> Seen:
    """The paths and statuses of a run of schemathesis that found nothing wrong."""
    if not _COMMAND.exists():
        pytest.skip("schemathesis is missing; install it with: pip install 'schemathesis>=4.32,<5'")
    config, har = folder / "schemathesis.toml", folder / "seen.har"
    config.write_text(checks)
    command: list[str | Path] = [_COMMAND, "--config-file", config, "run", schema]
    fixed = ["--url", served.url, "--seed", SEED, "--no-color", "--generation-database", "none"]
    kept: list[str | Path] = ["--continue-on-failure", "--report", "har", "--report-har-path", har]
    ran = subprocess.run(
        [*command, *fixed, *kept, *args],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    entries = json.loads(har.read_text())["log"]["entries"]
    return {
        (urlsplit(entry["request"]["url"]).path, entry["response"]["status"]) for entry in entries
    }


def test_every_reply_is_documented_and_none_is_a_defect(served: Served, tmp_path: Path) -> None:
    place = f"{served.url}/openapi.json"
    seen = asked(served, tmp_path, REFUSALS + UNSAID, place, "--max-examples", "50")
    assert {path for path, _ in seen} >= PATHS
    assert all(status < 500 for _, status in seen)
    for path in (path for path in PATHS if path.startswith("/v1/")):
        assert {(path, 405), (path, 415), (path, 422)} <= seen, path


def test_what_the_schema_allows_is_accepted(
    served: Served, schema: dict[str, Any], shell: Shell, tmp_path: Path
) -> None:
    (first, *_) = shell("search", "valve", "--json").json["results"]
    known = {"query": "valve", "chunk_id": first["citation"]["chunk_id"], "collection": "default"}
    for path, methods in schema["paths"].items():
        if not path.startswith("/v1/"):
            continue
        body = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        for unsaid in ("cursor", "where"):
            body["properties"].pop(unsaid, None)
        for name in body["properties"].keys() & known.keys():
            body["properties"][name]["examples"] = [known[name]]
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(schema))
    seen = asked(
        served, tmp_path, REFUSALS, str(file), "--mode", "positive", "--max-examples", "100"
    )
    assert {(path, 200) for path in PATHS} <= seen
    assert {(path, 404) for path in PATHS - NO_COLLECTION} <= seen
