import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import models
from scripts.servers import LLAMA, PROXY, SERVE_CHAT, served
from tests.e2e.recorder import Recorder, recorded


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak-seconds", type=int, default=120, help="how long the soak runs")


@pytest.fixture(scope="session")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorder]:
    """Qwen2.5-Coder-1.5B behind llama.cpp; every call to it passes this recorder."""
    yield from _model("qwen", tmp_path_factory.mktemp("qwen"))


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorder]:
    """SmolLM2-135M behind llama.cpp."""
    yield from _model("smollm2", tmp_path_factory.mktemp("smollm2"))


@pytest.fixture(scope="session")
def ollama(
    qwen: Recorder, smollm2: Recorder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recorder]:
    """An Ollama API by a third party over both servers: models `local/qwen`, `small/smollm2`."""
    python = _environment(PROXY)
    command = (python, "-m", "uvicorn", "ollama_proxy.server:app", "--port", "0")
    env = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()} | {
        "PROVIDERS_LOCAL_API_KEY": "none",
        "PROVIDERS_LOCAL_BASE_URL": f"{qwen.url}/v1",
        "PROVIDERS_SMALL_API_KEY": "none",
        "PROVIDERS_SMALL_BASE_URL": f"{smollm2.url}/v1",
        "EXTRA_MODELS": "local/qwen,small/smollm2",
    }
    log = tmp_path_factory.mktemp("ollama") / "log"
    with served(command, "/api/version", log, env) as port, recorded(port) as recorder:
        yield recorder


def _model(name: str, folder: Path) -> Iterator[Recorder]:
    python = _environment(LLAMA)
    try:
        file = models.fetch(models.MODELS[name])
    except models.FetchError as error:
        pytest.skip(f"{name} could not be fetched: {error}")
    command = (python, SERVE_CHAT, file, "--end-with-stdin")
    with served(command, "/health", folder / "log") as port, recorded(port) as recorder:
        yield recorder


def _environment(requirement: str) -> Path:
    try:
        return models.environment(requirement)
    except models.FetchError as error:
        pytest.skip(f"{requirement} could not be fetched: {error}")
