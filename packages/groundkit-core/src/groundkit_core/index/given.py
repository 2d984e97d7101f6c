"""Metadata that a user gives to all documents beneath a path, recorded with the collection."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from groundkit_core.errors import CollectionCorruptError, MetadataError
from groundkit_core.index.roots import Target
from groundkit_core.index.store import Store
from groundkit_core.metadata import Metadata, Scalar, ended, normalised

__all__ = ["Given", "GivenAt", "changed", "damaged", "read_json", "written"]

GivenAt = dict[str, Scalar | tuple[Scalar, ...] | None]
"""What a path gives; None takes away what a path around it gives."""

_ALL = (
    "SELECT CAST(label AS BLOB), CAST(below AS BLOB), CAST(metadata AS BLOB), typeof(metadata) "
    "FROM given"
)


def written(metadata: Mapping[str, Any]) -> str:
    """Metadata as it is stored."""
    return json.dumps(metadata, ensure_ascii=False, sort_keys=True)


def read_json(text: str) -> Metadata:
    """Metadata of a document as it was stored; `ValueError` or `TypeError` if that was damaged."""
    held = _read(text)
    found = {key: value for key, value in held.items() if value is not None}
    if len(found) != len(held):
        raise ValueError("a value is missing")
    return found


def _read(text: str) -> GivenAt:
    held = json.loads(text)
    if not isinstance(held, dict):
        raise ValueError("stored metadata is no mapping")
    found = {key: tuple(value) if isinstance(value, list) else value for key, value in held.items()}
    values = {key: value for key, value in found.items() if value is not None}
    try:
        if normalised(values) == values:
            return found
    except MetadataError:
        pass
    raise ValueError("stored metadata is not as it was written")


class Given:
    """What is given at each path; deeper paths come after those around them."""

    def __init__(self, store: Store) -> None:
        self.by_path: dict[str, GivenAt] = {}
        for label, below, text, kind in store.rows(_ALL):
            try:
                self.by_path[_path(label.decode(), below.decode())] = _given(text, kind)
            except (TypeError, ValueError):
                raise CollectionCorruptError(
                    f"{store.path}: the metadata given to {label!a} is damaged; see grk doctor"
                ) from None

    def around(self, source: str) -> tuple[str, ...]:
        """The paths that say something of a source, from the outside in."""
        paths = [path for path in self.by_path if source == path or source.startswith(f"{path}/")]
        return tuple(sorted(paths, key=len))

    def of(self, source: str) -> Metadata:
        """What a source is given."""
        found: GivenAt = {}
        for path in self.around(source):
            found.update(self.by_path[path])
        return {key: value for key, value in found.items() if value is not None}

    def after(self, target: Target, given: Mapping[str, object]) -> GivenAt:
        """What a path gives once more is given there; None ends a key there."""
        path, ends = _path(target.label, target.below), ended(given)
        outside: GivenAt = {}
        for other in self.around(path):
            if other != path:
                outside.update(self.by_path[other])
        taken = {
            key: None for key, value in outside.items() if value is not None and _ends(key, ends)
        }
        held = {
            key: value for key, value in self.by_path.get(path, {}).items() if not _ends(key, ends)
        }
        return {**held, **taken, **normalised(given)}


def changed(held: Metadata, given: Mapping[str, object]) -> Metadata:
    """Metadata after some keys were set, and those taken out that are given as None."""
    values, ends = normalised(given), ended(given)
    return {**{key: value for key, value in held.items() if not _ends(key, ends)}, **values}


def damaged(store: Store) -> Iterator[tuple[bytes, bytes]]:
    """Label and path, as bytes, of what is given but cannot be read."""
    for label, below, text, kind in store.rows(_ALL):
        try:
            label.decode()
            below.decode()
            _given(text, kind)
        except (TypeError, ValueError):
            yield label, below


def _given(text: bytes, kind: str) -> GivenAt:
    if kind != "text":
        raise TypeError("stored metadata is no text")
    return _read(text.decode())


def _ends(key: str, ends: Collection[str]) -> bool:
    return any(key == end or key.startswith(f"{end}.") for end in ends)


def _path(label: str, below: str) -> str:
    return f"{label}/{below}".rstrip("/")
