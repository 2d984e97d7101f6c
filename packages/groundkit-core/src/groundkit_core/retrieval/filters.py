"""Filters: which documents a search may find passages of, by source, title and metadata.

In JSON the same thing: `{"key": "year", "at_least": 2020}`, `{"any_of": [...]}`.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from groundkit_core.contracts import Contract
from groundkit_core.errors import MetadataError, RetrievalError
from groundkit_core.metadata import Scalar, kind_of, normalised

__all__ = [
    "BUILT_IN",
    "AllOf",
    "AnyOf",
    "Condition",
    "Filter",
    "NoneOf",
    "check_filter",
    "parts",
    "read",
    "why",
]

BUILT_IN = ("source", "title", "media_type")
"""Keys that documents have of themselves; metadata of such a name is `metadata.source`."""
_MOST_CONDITIONS = 100
_MOST_VALUES = 10_000
_DEEPEST = 20

Limit: TypeAlias = int | float | str


class _Part(Contract):
    model_config = ConfigDict(allow_inf_nan=False)


class Condition(_Part):
    """What a value of a key has to be; where a key has several values, one that is all of it.

    Text compares by code points, so that ISO dates are in order; a `date` or `datetime` becomes
    one. In a glob `*` stands for `/` too. `prefix` and `glob` are for text.
    """

    key: str = Field(min_length=1, max_length=200)
    equals: Scalar | None = None
    one_of: tuple[Scalar, ...] | None = Field(
        default=None, min_length=1, max_length=_MOST_VALUES, strict=False
    )
    at_least: Limit | None = None
    at_most: Limit | None = None
    above: Limit | None = None
    below: Limit | None = None
    prefix: str | None = Field(default=None, min_length=1, max_length=1000)
    glob: str | None = Field(default=None, min_length=1, max_length=1000)
    exists: bool | None = None

    @field_validator("equals", "at_least", "at_most", "above", "below", mode="before")
    @classmethod
    def _as_stored(cls, value: object) -> object:
        return value if value is None else _stored(value)

    @field_validator("one_of", mode="before")
    @classmethod
    def _all_as_stored(cls, values: object) -> object:
        if values is None or isinstance(values, str | Mapping) or not isinstance(values, Iterable):
            return values
        return tuple(_stored(each) for each in values)

    @field_validator("key", "prefix", "glob")
    @classmethod
    def _is_unicode(cls, text: str | None) -> str | None:
        try:
            (text or "").encode()
        except UnicodeEncodeError:
            raise ValueError("it is not valid Unicode") from None
        return text

    @model_validator(mode="after")
    def _asks_for_one_kind(self) -> Self:
        if not self.asked:
            raise ValueError("it asks nothing of its key")
        if "exists" in self.asked and len(self.asked) > 1:
            raise ValueError("exists stands alone")
        if len(self._kinds()) > 1:
            raise ValueError(f"its values are of several kinds: {', '.join(self._kinds())}")
        return self

    @property
    def asked(self) -> Mapping[str, Any]:
        """The operators in use with their values."""
        return {name: value for name, value in self if name != "key" and value is not None}

    @property
    def kind(self) -> str | None:
        """`text`, `number` or `boolean`, as the value has to be; None for `exists`."""
        return next(iter(self._kinds()), None)

    def _kinds(self) -> list[str]:
        asked = {name: value for name, value in self.asked.items() if name != "exists"}
        values = [*asked.pop("one_of", ()), *asked.values()]
        return sorted({kind_of(value) for value in values})


class AllOf(_Part):
    """What passes every one of some filters."""

    all_of: "tuple[Filter, ...]" = Field(min_length=1, max_length=_MOST_CONDITIONS, strict=False)


class AnyOf(_Part):
    """What passes at least one of some filters."""

    any_of: "tuple[Filter, ...]" = Field(min_length=1, max_length=_MOST_CONDITIONS, strict=False)


class NoneOf(_Part):
    """What passes none of some filters; a document without their keys does."""

    none_of: "tuple[Filter, ...]" = Field(min_length=1, max_length=_MOST_CONDITIONS, strict=False)


_TYPES = {"bool", "int", "float", "str"}
_GROUPS = ("all_of", "any_of", "none_of")


def _form(value: object) -> str:
    """Which of the four forms a filter has."""
    has = value.__contains__ if isinstance(value, dict) else lambda name: hasattr(value, name)
    return next((name for name in _GROUPS if has(name)), "condition")


Filter = Annotated[
    Annotated[Condition, Tag("condition")]
    | Annotated[AllOf, Tag("all_of")]
    | Annotated[AnyOf, Tag("any_of")]
    | Annotated[NoneOf, Tag("none_of")],
    Discriminator(_form),
]
AllOf.model_rebuild()
AnyOf.model_rebuild()
NoneOf.model_rebuild()


def parts(filters: Filter) -> tuple[Filter, ...]:
    """The filters that a group joins; none for a condition."""
    if isinstance(filters, Condition):
        return ()
    (joined,) = (value for _, value in filters)
    return tuple(joined)


def read(text: str) -> Filter:
    """A filter from JSON."""
    try:
        found: Filter = TypeAdapter(Filter).validate_json(text)
    except (ValidationError, RecursionError) as error:
        raise RetrievalError(f"the filter is not valid: {why(error)}") from None
    check_filter(found)
    return found


def why(error: Exception) -> str:
    """What is wrong and where, without the value."""
    if not isinstance(error, ValidationError):
        return "it is nested too deeply"
    found = error.errors(include_url=False, include_input=False)
    place = [part for part in found[0]["loc"] if part not in {"condition", *_GROUPS}]
    said: str = found[0]["msg"].removeprefix("Value error, ")
    if place and place[-1] in _TYPES:
        # Each type of value that there may be has its own error.
        place, said = place[:-1], "it must be text, a number or a boolean"
    return ": ".join([*filter(None, [".".join(map(str, place))]), said])


def check_filter(filters: Filter) -> None:
    """Refuse a filter that would take long to evaluate."""
    layer, count, depth = [filters], 0, 0
    while layer:
        depth, count = depth + 1, count + len(layer)
        layer = [part for each in layer for part in parts(each)]
        if depth > _DEEPEST or count > _MOST_CONDITIONS:
            raise RetrievalError(f"a filter has at most {_MOST_CONDITIONS} parts, {_DEEPEST} deep")


def _stored(value: object) -> object:
    """A value as metadata holds it, so that dates are text."""
    if isinstance(value, Mapping | list | tuple):
        return value
    try:
        return normalised({"value": value}).get("value")
    except MetadataError as error:
        raise ValueError(str(error).removeprefix("'value': ")) from None
