from collections.abc import Iterator

import pytest

from tests.unmeasured import unmeasured


@pytest.fixture(autouse=True)
def _unmeasured() -> Iterator[None]:
    with unmeasured():
        yield
