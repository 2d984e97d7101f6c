"""What the answer needs not, it does not load."""

import subprocess
import sys

import pytest

EDGES = ("groundkit_providers.config", "groundkit_providers.llm", "groundkit_providers.http")
NETWORK = ("httpx", "httpcore", "aiohttp", "requests", "urllib3", "ssl", "http.client")


def loaded_with(module: str) -> set[str]:
    code = f"import sys\nimport {module}\nprint(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(ran.stdout.split())


def test_the_answer_needs_no_settings_no_provider_and_no_network() -> None:
    loaded = loaded_with("groundkit_providers.answer")
    assert "groundkit_providers.synthesis" in loaded
    assert loaded & {*EDGES, *NETWORK} == set()


@pytest.mark.parametrize("module", ["groundkit_providers", "groundkit_providers.config"])
def test_settings_load_no_provider(module: str) -> None:
    assert loaded_with(module) & {*EDGES[1:], *NETWORK} == set()
