"""The service in this process, without a socket: the same questions over both protocols."""

import asyncio
import json
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
from groundkit_cli.service.guard import Access
from groundkit_cli.service.limits import Limits
from groundkit_cli.service.rest import application
from groundkit_cli.service.runtime import Runtime
from groundkit_cli.service.shelf import MakeEmbedder, Shelf
from groundkit_core.embedding import EmbeddingProtocol
from groundkit_core.errors import EmbeddingError
from groundkit_core.index.collection import Collection

__all__ = [
    "ACCEPT",
    "JSON",
    "TRANSPORTS",
    "Answer",
    "Desk",
    "desk",
    "library",
    "no_embedder",
    "rpc",
    "write",
]

TRANSPORTS = ("rest", "mcp")
URL = "http://127.0.0.1:8000"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client got: `code` is `ok` or an error's, `size` the bytes of the whole body."""

    code: str
    body: Any
    text: str
    size: int
    response: httpx.Response

    @property
    def ok(self) -> Any:
        assert self.code == "ok", self.body
        return self.body


class Desk:
    """Asks a service; its event loop runs only while something is asked."""

    def __init__(self, runtime: Runtime, runner: asyncio.Runner, client: httpx.AsyncClient) -> None:
        self.runtime = runtime
        self._runner = runner
        self._client = client

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something beside the service."""
        return self._runner.run(work)

    def __call__(self, transport: str, operation: str, /, **arguments: Any) -> Answer:
        """One answer."""
        return self.run(self.ask(transport, operation, **arguments))

    async def ask(self, transport: str, operation: str, /, **arguments: Any) -> Answer:
        """One answer, beside others."""
        return await (self._rest if transport == "rest" else self._mcp)(operation, arguments)

    def http(self, method: str, path: str, **given: Any) -> httpx.Response:
        """One plain request."""
        return self.run(self._client.request(method, path, **given))

    async def _rest(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        response = await self._client.post(f"/v1/{operation}", json=arguments)
        body = response.json()
        error = body.get("error") if response.status_code != 200 else None
        return Answer(
            error["code"] if error else "ok",
            error or body,
            response.text,
            len(response.content),
            response,
        )

    async def _mcp(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        asked = {"name": operation, "arguments": arguments}
        response = await self._client.post("/mcp", json=rpc("tools/call", asked), headers=ACCEPT)
        if response.status_code != 200:
            error = response.json()["error"]
            return Answer(error["code"], error, response.text, len(response.content), response)
        result = response.json()["result"]
        text = result["content"][0]["text"]
        error = json.loads(text)["error"] if result.get("isError") else None
        return Answer(
            error["code"] if error else "ok",
            error or result["structuredContent"],
            text,
            len(response.content),
            response,
        )


JSON = {"content-type": "application/json"}
ACCEPT = {"accept": "application/json, text/event-stream"}


def rpc(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def no_embedder(_: Collection) -> EmbeddingProtocol:
    raise EmbeddingError("this test has no embedder")


@contextmanager
def desk(
    folder: Path,
    *,
    default: str = "default",
    roots: Mapping[str, Path] | None = None,
    make_embedder: MakeEmbedder = no_embedder,
    access: Access | None = None,
    **limits: Any,
) -> Iterator[Desk]:
    """A service over an index directory."""
    shelf = Shelf(folder, default, roots=roots, make_embedder=make_embedder)
    runtime = Runtime(shelf, Limits(**limits))
    app = application(runtime, access or Access())
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    with asyncio.Runner() as runner:
        client = httpx.AsyncClient(transport=transport, base_url=URL)
        ending = asyncio.Event()
        started = asyncio.Event()

        async def life() -> None:
            async with app.router.lifespan_context(app):
                started.set()
                await ending.wait()

        async def start() -> "asyncio.Task[None]":
            task = asyncio.create_task(life())
            await started.wait()
            return task

        async def end() -> None:
            ending.set()
            await living
            await client.aclose()

        living = runner.run(start())
        try:
            yield Desk(runtime, runner, client)
        finally:
            runner.run(end())
            runtime.close()


def write(folder: Path, texts: Mapping[str, str]) -> Path:
    """Files beneath a folder."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def library(folder: Path, texts: Mapping[str, str], *, name: str = "default") -> Path:
    """The index directory over texts that lie in `docs`."""
    write(folder / "docs", texts)
    with Collection.open(folder / "index" / name) as collection:
        collection.ingest([folder / "docs"])
    return folder / "index"
