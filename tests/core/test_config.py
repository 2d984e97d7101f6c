import pytest
from groundkit_core.config import (
    DEFAULT_TOP_K,
    MAX_FILE_BYTES,
    MAX_QUERY_LEN,
    MAX_TOP_K,
    ChunkingConfig,
)
from pydantic import ValidationError


def test_defaults_are_the_documented_ones() -> None:
    assert ChunkingConfig().model_dump() == {
        "strategy": "structure",
        "size": 200,
        "overlap": 0,
        "unit": "words",
    }
    assert (DEFAULT_TOP_K, MAX_TOP_K, MAX_QUERY_LEN) == (10, 100, 4096)
    assert MAX_FILE_BYTES == 100 * 1024 * 1024


@pytest.mark.parametrize(
    "settings",
    [
        {"size": 0},
        {"size": -1},
        {"size": 1.5},
        {"overlap": -1},
        {"size": 10, "overlap": 10},
        {"size": 10, "overlap": 11},
        {"overlap": 200},
        {"unit": "tokens"},
        {"strategy": "semantic"},
        {"sizes": 3},
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ChunkingConfig.model_validate(settings)


def test_settings_cannot_be_changed_afterwards() -> None:
    config = ChunkingConfig()
    with pytest.raises(ValidationError):
        config.size = 3


def test_the_identity_tells_all_settings_apart() -> None:
    settings: list[dict[str, object]] = [
        {},
        {"strategy": "fixed"},
        {"size": 20},
        {"size": 20, "overlap": 1},
        {"size": 2, "overlap": 1},
        {"unit": "characters"},
    ]
    identities = [ChunkingConfig.model_validate(each).identity for each in settings]
    assert len(set(identities)) == len(settings)
    assert identities[0] == "structure@1:200+0:words"
    assert ChunkingConfig(size=200).identity == identities[0]
