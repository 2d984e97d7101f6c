"""What a collection may be called."""

import re

from groundkit_core.errors import ConfigurationError

__all__ = ["collection_name", "is_collection_name"]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def is_collection_name(name: str) -> bool:
    """Whether a collection may be called so."""
    return _NAME.fullmatch(name) is not None


def collection_name(name: str) -> str:
    """The name, if it can be a collection's."""
    if not is_collection_name(name):
        raise ConfigurationError(
            f"{name!r} is no collection name: use a-z, 0-9, '.', '_', '-', at most 64, "
            "beginning with a letter or digit"
        )
    return name
