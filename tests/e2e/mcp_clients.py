"""Two MCP clients that share no code, and what each saw of a server, in one shape."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters

__all__ = ["Call", "Saw", "install_node_client", "node_saw", "python_saw"]

Call = tuple[str, dict[str, Any]]
Saw = dict[str, Any]
_OWN = Path(__file__).with_name("mcp_client")
_INSTALL = ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")


def python_saw(server: dict[str, Any], calls: Sequence[Call], mode: str = "auto") -> Saw:
    """What the Python SDK's client saw; `mode` is how it greets the server."""
    return asyncio.run(_python_saw(server, calls, mode))


async def _python_saw(server: dict[str, Any], calls: Sequence[Call], mode: str) -> Saw:
    place = server.get("url") or StdioServerParameters(**server["command"])
    async with Client(place, mode=mode) as client:
        tools = (await client.list_tools()).tools
        answers = [await _answered(client, *call) for call in calls]
        assert client.server_info
        name = client.server_info.name
        return {"server": name, "tools": [_plain(tool) for tool in tools], "answers": answers}


async def _answered(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"thrown": error.code, "message": error.message}
    return {
        "isError": result.is_error,
        "content": [_plain(block) for block in result.content],
        "structuredContent": result.structured_content,
    }


def _plain(model: Any) -> dict[str, Any]:
    plain: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain


def install_node_client(folder: Path) -> Path:
    """The TypeScript SDK in its pinned version, and our script beside it."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node or npm is missing; install them with: apt-get install nodejs npm")
    for name in ("package.json", "client.mjs"):
        shutil.copy(_OWN / name, folder)
    ran = subprocess.run(_INSTALL, cwd=folder, capture_output=True, timeout=300, check=False)
    if ran.returncode:
        pytest.skip(f"npm could not fetch the TypeScript SDK: {ran.stderr.decode()[-400:]}")
    return folder


def node_saw(folder: Path, server: dict[str, Any], calls: Sequence[Call]) -> Saw:
    """What the TypeScript SDK's client saw."""
    ran = subprocess.run(
        ["node", folder / "client.mjs"],
        input=json.dumps({**server, "calls": calls}).encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    saw: Saw = json.loads(ran.stdout)
    return saw
