from pathlib import Path

import pytest

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared(*parts: str) -> Path:
    """A path beneath `../shared`; the test is skipped where it is not there."""
    path = _SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"../shared is not here: {'/'.join(parts)} is missing")
    return path
