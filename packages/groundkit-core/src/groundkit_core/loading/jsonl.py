"""JSON lines: each record becomes a document of its own, with metadata to filter by."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from groundkit_core.errors import MetadataError, RefusedError
from groundkit_core.metadata import Metadata, normalised
from groundkit_core.spans import Lines

__all__ = ["Record", "records"]

_BLANKS = " \t\r\n"
_LONGEST_KEY = 500
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class _UnfitError(Exception):
    """Why a line is no record."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the file: the id or else the line number as its key, and what was asked of it."""

    key: str
    line: int
    text: str
    title: str | None
    metadata: Metadata


def records(
    text: str,
    *,
    text_field: str,
    id_field: str | None = None,
    title_field: str | None = None,
    metadata_fields: Sequence[str] = (),
) -> Iterator[Record]:
    """The records of a file in order; fields are dotted paths, and a field may lack in metadata.

    The first line that is no such record is a `RefusedError` that names it, never its content.
    """
    lines: dict[str, int] = {}
    starts = [*Lines(text).starts, len(text)]
    for number, (start, end) in enumerate(pairwise(starts), 1):
        line = text[start:end].strip(_BLANKS)
        if not line:
            continue
        try:
            found = _parsed(line)
            record = Record(
                str(number) if id_field is None else _key(found, id_field),
                number,
                _text(found, text_field),
                None if title_field is None else _title(found, title_field),
                _metadata(found, metadata_fields),
            )
        except (_UnfitError, MetadataError) as error:
            raise RefusedError(f"line {number}: {error}") from None
        if lines.setdefault(record.key, number) != number:
            raise RefusedError(f"lines {lines[record.key]} and {number} have the same id")
        yield record


def _parsed(line: str) -> dict[str, object]:
    try:
        found = json.loads(line, object_pairs_hook=_object, parse_constant=_no_constant)
    except ValueError:  # also a number too long for Python to read
        raise _UnfitError("it is no valid JSON") from None
    except RecursionError:
        raise _UnfitError("it is nested too deep") from None
    if not isinstance(found, dict):
        raise _UnfitError("it is no JSON object")
    return found


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _UnfitError("an object in it has the same key twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise _UnfitError(f"{name} is no JSON number")


def _at(record: dict[str, object], path: str) -> object:
    """The value of a field; a key that holds dots itself goes before a path."""
    if path in record:
        return record[path]
    value: object = record
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(record: dict[str, object], field: str) -> str:
    value = _at(record, field)
    if not isinstance(value, str):
        raise _UnfitError(f"{field!r} is missing or no text")
    if _SURROGATE.search(value):
        raise _UnfitError(f"{field!r} holds half a surrogate pair")
    if "\0" in value:
        raise _UnfitError(f"{field!r} holds a NUL character")
    return value


def _title(record: dict[str, object], field: str) -> str | None:
    """The title on one line; none where the field is missing or blank."""
    if _at(record, field) is None:
        return None
    return " ".join(_text(record, field).split()) or None


def _key(record: dict[str, object], field: str) -> str:
    value = _at(record, field)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _UnfitError(f"{field!r} is missing, or neither text nor a whole number")
    key = str(value) if isinstance(value, int) else _text(record, field)
    if not key.strip() or _CONTROL.search(key) or len(key) > _LONGEST_KEY:
        raise _UnfitError(f"{field!r} is blank, too long, or holds control characters")
    return key


def _metadata(record: dict[str, object], fields: Sequence[str]) -> Metadata:
    return normalised(
        {field: value for field in fields if (value := _at(record, field)) is not None}
    )
