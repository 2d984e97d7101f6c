import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "packages"
ABOVE = {
    "core": {"groundkit_providers", "groundkit_evals", "groundkit_cli"},
    "providers": {"groundkit_evals", "groundkit_cli"},
    "evals": {"groundkit_cli"},
    "cli": set[str](),
}
NETWORK = {"aiohttp", "http.client", "httpx", "requests", "socket", "urllib.request", "urllib3"}


def imports(source: str) -> Iterator[str]:
    """Every absolute module name that a source imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module


def offences(source: str, banned: set[str]) -> set[str]:
    """The banned modules a source imports, themselves or by a submodule."""
    names = [f"{name}." for name in imports(source)]
    return {ban for ban in banned if any(name.startswith(f"{ban}.") for name in names)}


def package_offences(package: str, banned: set[str]) -> dict[str, set[str]]:
    """Offences by file for one package's sources."""
    source_dir = PACKAGES / f"groundkit-{package}" / "src"
    found = {
        str(path.relative_to(source_dir)): offences(path.read_text(encoding="utf-8"), banned)
        for path in source_dir.rglob("*.py")
    }
    assert found, f"no sources in {source_dir}"
    return {path: names for path, names in found.items() if names}


@pytest.mark.parametrize("package", ABOVE)
def test_no_package_imports_a_layer_above(package: str) -> None:
    assert package_offences(package, ABOVE[package]) == {}


IMPORTERS = {
    "bm25s": {"groundkit_core/index/bm25s_bridge.py"},
    "faiss": {"groundkit_core/index/faiss_bridge.py"},
    "mcp": {"groundkit_cli/service/mcp_server.py"},
    "mcp_types": {"groundkit_cli/service/mcp_server.py"},
    "onnxruntime": {"groundkit_core/model_files.py"},
    "safetensors": {"groundkit_core/embedders/static.py"},
    "wordllama": set[str](),  # it is found, not imported: it would bring an HTTP client
}


@pytest.mark.parametrize("package", ["core", "evals"])
def test_only_providers_may_reach_the_network(package: str) -> None:
    assert package_offences(package, NETWORK) == {}


def test_the_command_line_listens_in_one_module_and_reaches_nothing() -> None:
    found = package_offences("cli", NETWORK | {"httpx2", "asyncio.streams", "ssl"})
    assert found == {"groundkit_cli/service/server.py": {"socket"}}


def test_one_module_of_providers_reaches_the_network() -> None:
    found = package_offences("providers", NETWORK | {"httpcore", "asyncio.streams", "ssl"})
    assert found == {"groundkit_providers/http.py": {"httpx", "socket", "ssl", "urllib.request"}}


@pytest.mark.parametrize("library", IMPORTERS)
def test_a_library_that_moves_is_imported_in_as_few_modules_as_can_be(library: str) -> None:
    found = [path for package in ABOVE for path in package_offences(package, {library})]
    assert set(found) == IMPORTERS[library]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import httpx", {"httpx"}),
        ("def f():\n    from httpx import Client", {"httpx"}),
        ("from urllib import request", {"urllib.request"}),
        ("import http.client as c", {"http.client"}),
        ("import importlib\nimportlib.import_module('requests.adapters')", {"requests"}),
        ("from urllib.parse import quote", set()),
        ("from .socket import x", set()),
        ("import socketserver", set()),
    ],
)
def test_an_import_is_found_in_any_form(source: str, expected: set[str]) -> None:
    assert offences(source, NETWORK) == expected
