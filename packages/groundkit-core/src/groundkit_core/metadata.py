"""Metadata of documents: values under dotted keys, as filters look for them."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from math import isfinite
from typing import TypeAlias

from groundkit_core.errors import MetadataError
from groundkit_core.ids import hash_bytes

__all__ = ["Metadata", "Scalar", "digest", "ended", "kind_of", "normalised", "rows"]

Scalar: TypeAlias = bool | int | float | str
Metadata: TypeAlias = dict[str, Scalar | tuple[Scalar, ...]]

_LONGEST_KEY = 100
_LONGEST_TEXT = 10_000
_MOST_VALUES = 1_000
# Nothing and empty lists are no values, but references can multiply them just as well.
_MOST_PARTS = 10 * _MOST_VALUES
_DEEPEST = 50
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def normalised(given: Mapping[str, object]) -> Metadata:
    """Metadata as it is stored: nested keys joined by dots, dates as ISO text, nothing empty.

    A list gives its key several values, in order and each once. What cannot be stored is a
    `MetadataError` that names the key.
    """
    if not isinstance(given, Mapping):
        raise MetadataError(f"metadata is a mapping, not {type(given).__name__}")
    found: dict[str, dict[tuple[str, Scalar], None]] = {}
    values = 0
    for parts, (key, value) in enumerate(_parts(given), 1):
        values += value is not None
        if parts > _MOST_PARTS or values > _MOST_VALUES:
            raise MetadataError(f"metadata holds more than {_MOST_VALUES} values")
        if value is not None:
            scalar = _scalar(key, value)
            found.setdefault(key, {})[kind_of(scalar), scalar] = None
    return {key: _one_or_several([value for _, value in each]) for key, each in found.items()}


def ended(given: Mapping[str, object]) -> frozenset[str]:
    """The dotted keys that are given as None."""
    found: set[str] = set()
    for key, value in given.items():
        joined = _joined("", key)
        if value is None:
            found.add(joined)
        elif isinstance(value, Mapping):
            found.update(f"{joined}.{beneath}" for beneath in ended(value))
    return frozenset(found)


def kind_of(value: Scalar) -> str:
    """`boolean`, `number` or `text`."""
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def rows(metadata: Metadata) -> list[tuple[str, str, Scalar]]:
    """Normalised metadata as (key, kind, value), by key, with a key's values in their order."""
    return [
        (key, kind_of(value), value) for key in sorted(metadata) for value in _of(metadata[key])
    ]


def digest(metadata: Metadata) -> str:
    """Hash of normalised metadata, which the order of keys and 1 written as 1.0 do not change."""
    fields = [(key, kind, _canonical(value)) for key, kind, value in rows(metadata)]
    return hash_bytes(json.dumps(fields, separators=(",", ":")).encode())


def _parts(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Every part of nested metadata by its dotted key; a list or mapping itself is None."""
    if not isinstance(value, (Mapping, list, tuple)):
        yield path, value
        return
    yield path, None
    if depth == _DEEPEST:
        raise MetadataError(f"metadata is nested more than {_DEEPEST} levels deep")
    if isinstance(value, Mapping):
        for key, nested in value.items():
            yield from _parts(nested, _joined(path, key), depth + 1)
    else:
        for nested in value:
            yield from _parts(nested, path, depth + 1)


def _joined(path: str, key: object) -> str:
    """The dotted key of a key beneath a path."""
    place = f"a key beneath {path!r}" if path else "a key"
    if isinstance(key, int) and not isinstance(key, bool):
        key = str(_number(place, key))
    if not isinstance(key, str):
        raise MetadataError(f"{place}: {type(key).__name__} is not text")
    if not key or key != key.strip():
        raise MetadataError(f"{place}: it is empty, or begins or ends with a blank")
    if _UNFIT.search(key):
        raise MetadataError(f"{place}: it holds a control character or half a surrogate pair")
    # A text of a subclass, as that of an enumeration, becomes a plain one.
    joined = f"{path}.{str.__str__(key)}" if path else str.__str__(key)
    if len(joined) > _LONGEST_KEY:
        raise MetadataError(f"{place}: it is longer than {_LONGEST_KEY} characters")
    return joined


def _scalar(key: str, value: object) -> Scalar:
    """One value as it is stored."""
    place = repr(key)
    if isinstance(value, str):
        return _text(place, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return _number(place, value)
    if isinstance(value, datetime):
        return _moment(place, value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    raise MetadataError(f"{place}: {type(value).__name__} is no text, number, boolean or date")


def _text(place: str, value: str) -> str:
    if len(value) > _LONGEST_TEXT:
        raise MetadataError(f"{place}: its text is longer than {_LONGEST_TEXT} characters")
    if _SURROGATE.search(value):
        raise MetadataError(f"{place}: its text holds half a surrogate pair")
    return str.__str__(value)


def _number(place: str, value: float) -> int | float:
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise MetadataError(f"{place}: a whole number beyond 64 bits")
        return int(value)
    if not isfinite(value):
        raise MetadataError(f"{place}: a number that is not finite")
    return float(value) + 0.0  # -0.0 becomes 0.0


def _moment(place: str, value: datetime) -> str:
    """ISO text, in UTC where the zone is known: its order is that of time, to the second."""
    if value.utcoffset() is None:
        return value.replace(tzinfo=None).isoformat()
    try:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    except OverflowError:
        raise MetadataError(f"{place}: a time outside the years 1 to 9999") from None


def _one_or_several(values: list[Scalar]) -> Scalar | tuple[Scalar, ...]:
    return values[0] if len(values) == 1 else tuple(values)


def _of(stored: Scalar | tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    return stored if isinstance(stored, tuple) else (stored,)


def _canonical(value: Scalar) -> Scalar:
    return int(value) if isinstance(value, float) and value.is_integer() else value
