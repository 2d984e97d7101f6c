"""A small folder and a collection beside it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.failpoints import set_hook

from tests.core.index.support import (
    FILES,
    write,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write(tmp_path / "docs", FILES)
    return tmp_path


@pytest.fixture
def docs(home: Path) -> Path:
    return home / "docs"


@pytest.fixture
def collection(home: Path) -> Collection:
    return Collection.open(home / "index" / "c")


@pytest.fixture(scope="module")
def aged(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Gives folders of FILES that are old enough for their times to be trusted."""
    base = tmp_path_factory.mktemp("aged")
    trees = [write(base / str(number) / "docs", FILES) for number in range(10)]
    time.sleep(2.1)
    left = iter(trees)
    return lambda: next(left)


@pytest.fixture(autouse=True)
def _no_hook() -> Iterator[None]:
    yield
    set_hook(None)
