"""The service loads nothing that writes, and nothing that asks a model."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from groundkit_core.index.collection import Collection
from groundkit_core.testing import InMemoryEmbedder

FORBIDDEN = {
    *("groundkit_cli.answer", "groundkit_cli.chat_options", "groundkit_cli.ingest"),
    *("groundkit_cli.evals", "groundkit_cli.collections", "groundkit_cli.steps"),
    *("groundkit_core.index.ingest", "groundkit_core.index.writer", "groundkit_core.index.sync"),
    *(
        "groundkit_core.index.intake",
        "groundkit_core.index.backfill",
        "groundkit_core.index.repair",
    ),
    *("groundkit_core.index.bm25s_bridge", "groundkit_core.index.lock", "bm25s", "filelock"),
    *("groundkit_providers.answer", "groundkit_providers.synthesis", "groundkit_providers.judge"),
    *("groundkit_providers.query_rewrite", "groundkit_providers.llm", "groundkit_providers.claims"),
    *("groundkit_providers.ollama", "groundkit_providers.openai_compatible"),
    *("groundkit_providers.budget", "groundkit_providers.framing", "groundkit_providers.fetch"),
    *("groundkit_providers.markers", "groundkit_providers.redaction", "groundkit_evals"),
}
SERVED = """
import asyncio, importlib, json, pkgutil, sys
from pathlib import Path
import groundkit_cli.serve
from groundkit_cli import service
for module in pkgutil.walk_packages(service.__path__, "groundkit_cli.service."):
    importlib.import_module(module.name)
from groundkit_cli.embed_options import embedder_for
from groundkit_cli.service.guard import Access
from groundkit_cli.service.limits import Limits
from groundkit_cli.service.rest import application
from groundkit_cli.service.runtime import Runtime
from groundkit_cli.service.shelf import Shelf

make = lambda collection: embedder_for({}, collection, {})
runtime = Runtime(Shelf(Path(sys.argv[1]), "default", make_embedder=make), Limits())
application(runtime, Access())
for mode in ("bm25", "hybrid"):
    asked = json.dumps({"query": "valve", "mode": mode}).encode()
    reply = asyncio.run(runtime.call("search", asked, transport="rest", request_id="1"))
    assert reply.error is None, reply.body
    assert reply.body.results[0].verification.status == "verified"
runtime.close()
print(json.dumps(sorted(sys.modules)))
"""


def test_serving_loads_no_module_that_writes_or_asks_a_model(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("A valve.\n")
    with Collection.open(tmp_path / "default", embedder=InMemoryEmbedder()) as collection:
        collection.ingest([tmp_path / "docs"])
    ran = subprocess.run(
        [sys.executable, "-c", SERVED, tmp_path], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(ran.stdout))
    assert {"groundkit_cli.service.rest", "groundkit_providers.embeddings"} <= loaded
    assert loaded.isdisjoint(FORBIDDEN)


def test_the_forbidden_modules_exist() -> None:
    assert [name for name in FORBIDDEN if find_spec(name) is None] == []
