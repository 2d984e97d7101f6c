"""Settings: flags, then the environment, then the user's file, then the project's."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from groundkit_core.config import ChunkingConfig
    from groundkit_core.index.collection import Collection

__all__ = ["Settings", "load_settings", "open_collection"]

PREFIX = "GROUNDKIT__"
PROJECT_FILE = "groundkit.toml"
_DEFAULTS: dict[str, Any] = {"index": {"dir": ".groundkit", "collection": "default"}}
_Keys = dict[str, set[str]]
_PROJECT_KEYS: _Keys = {
    "index": {"dir", "collection", "language"},
    "chunking": {"strategy", "size", "overlap", "unit"},
}
_KEYS: _Keys = _PROJECT_KEYS | {
    "chat": {
        "provider",
        "model_name",
        "base_url",
        "api_key_env",
        "temperature",
        "max_output_tokens",
        "timeout_seconds",
        "allow_private_endpoint",
        "token_limit_param",
        "send_temperature",
    },
    "embed": {
        "provider",
        "model_name",
        "base_url",
        "api_key_env",
        "dimensions",
        "document_prefix",
        "query_prefix",
        "batch_size",
        "timeout_seconds",
        "allow_private_endpoint",
    },
    "redaction": {"names", "patterns", "detect_names"},
}

_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_TRUTHS = {"allow_private_endpoint", "detect_names", "send_temperature"}

# A folder that came from elsewhere must not decide where texts or secrets go.
_ELSEWHERE = "; what else there is belongs in {}, the environment or a flag"


class Settings:
    """What applies to a command where no flag says otherwise."""

    def __init__(self, values: dict[str, dict[str, Any]]) -> None:
        self.index_dir = Path(values["index"]["dir"]).expanduser()
        self.collection: str = values["index"]["collection"]
        self.language: str | None = values["index"].get("language")
        self.chat = values.get("chat", {})
        self.embed = values.get("embed", {})
        self.redaction = values.get("redaction", {})
        self._chunking = values.get("chunking")

    def chunking(self, **flags: Any) -> "ChunkingConfig | None":
        """The chunking asked for by flags or settings; None where nothing asks."""
        given = {key: value for key, value in flags.items() if value is not None}
        asked = {**(self._chunking or {}), **given}
        return _chunking("chunking", asked) if asked else None


def user_file() -> Path:
    """The one file of a user's own settings."""
    return Path(typer.get_app_dir("groundkit")) / "config.toml"


def load_settings() -> Settings:
    """Settings from the environment, the user's file and the project's."""
    values = {section: dict(keys) for section, keys in _DEFAULTS.items()}
    layers = (
        _from_file(Path(PROJECT_FILE), _PROJECT_KEYS, _ELSEWHERE.format(user_file())),
        _from_file(user_file(), _KEYS, ""),
        _from_environment(),
    )
    for layer in layers:
        for section, keys in layer.items():
            values.setdefault(section, {}).update(keys)
    return Settings(values)


def _chunking(where: str, keys: dict[str, Any]) -> "ChunkingConfig":
    from groundkit_core.config import ChunkingConfig
    from groundkit_core.errors import ConfigurationError
    from pydantic import ValidationError

    try:
        return ChunkingConfig.model_validate(keys, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(("chunking", *map(str, first["loc"])))
        raise ConfigurationError(f"{where}: {key}: {first['msg']}") from None


def _from_file(path: Path, allowed: _Keys, hint: str) -> dict[str, dict[str, Any]]:
    if not path.is_file():
        return {}
    import tomllib

    from groundkit_core.errors import ConfigurationError

    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    for section, keys in found.items():
        if not isinstance(keys, dict):
            raise ConfigurationError(f"{path}: {section!r} must be a section, [{section}]")
        _check(str(path), section, keys, allowed, hint)
    return found


def _from_environment() -> dict[str, dict[str, Any]]:
    from groundkit_core.errors import ConfigurationError

    found: dict[str, dict[str, Any]] = {}
    for name, text in os.environ.items():
        if name.startswith(PREFIX):
            section, divided, key = name.removeprefix(PREFIX).lower().partition("__")
            if not divided:
                raise ConfigurationError(f"{name}: it must be {PREFIX}SECTION__KEY")
            number = key in ("size", "overlap") and text.isascii() and text.isdigit()
            value: int | bool | str = int(text) if number else text
            if key in _TRUTHS and text.lower() in _TRUTH:
                value = _TRUTH[text.lower()]
            _check(name, section, {key: value}, _KEYS, "")
            found.setdefault(section, {})[key] = value
    return found


def _check(where: str, section: str, keys: dict[str, Any], allowed: _Keys, hint: str) -> None:
    from groundkit_core.errors import ConfigurationError

    known = ", ".join(f"{s}.{k}" for s, names in allowed.items() for k in sorted(names))
    unknown = [f"{section}.{key}" for key in keys if key not in allowed.get(section, ())]
    if unknown or section not in allowed:
        what = unknown[0] if unknown else f"section [{section}]"
        raise ConfigurationError(f"{where}: unknown setting {what}; it may set {known}{hint}")
    if section == "chunking":
        _chunking(where, keys)
    if section != "index":
        return  # checked by the model that takes them
    for key, value in keys.items():
        if not isinstance(value, str) or not value or "\0" in value:
            raise ConfigurationError(f"{where}: {section}.{key} must be a string that is not empty")


def open_collection(
    index_dir: Path | None, collection: str | None, roots: dict[str, Path] | None = None
) -> "Collection":
    """The collection that flags and settings name."""
    from groundkit_core.index.collection import Collection
    from groundkit_core.index.names import collection_name

    settings = load_settings()
    folder = index_dir or settings.index_dir
    name = collection_name(collection or settings.collection)
    return Collection.open(folder / name, roots=roots)
