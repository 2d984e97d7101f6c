"""Documents with metadata, filters over them, and what passes by a reading of its own."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from groundkit_core import Document
from groundkit_core.retrieval.filters import AllOf, AnyOf, Condition, Filter, NoneOf
from hypothesis import strategies as st

__all__ = ["BUILT_IN", "Refused", "allowed", "filters", "globs", "matched", "metadata", "said"]

BUILT_IN = ("source", "title", "media_type")
KEYS = ("year", "tag", "draft", "project.owner", "schlüssel mit 茶", "title")

_NUMBERS = [
    0, 1, -1, 2020, 2020.0, 2020.5, 0.1, -0.5, 1e300, 2**53, 2**53 + 1, float(2**53), 2**62,
    2**63 - 1, float(2**63), -(2**63), -0.0, 5e-324,
]  # fmt: skip
_TEXTS = [
    "", "a", "A", "ä", "a\u0308", "a_b", "aXb", "a%b", "a/b.md", "a/c/b.md", "[a]", "*", "茶壶",
    "\U0010ffff", "\U0010ffffx", "\ud7ff", "\ue000", "\ufffd", "'", "2020", "2020-05-01", "true",
]  # fmt: skip
_DATES = [
    date(2020, 5, 1),
    datetime(2020, 5, 1, 12, 30),  # noqa: DTZ001
    datetime(2020, 5, 1, 12, 30, tzinfo=UTC),
    datetime(2020, 5, 1, 1, 0, tzinfo=timezone(timedelta(hours=5))),
]

numbers = st.sampled_from(_NUMBERS) | st.integers(-3, 3) | st.floats(-2, 2)
texts = st.sampled_from(_TEXTS) | st.text(max_size=4)
scalars = numbers | texts | st.booleans() | st.sampled_from(_DATES)
metadata = st.dictionaries(
    st.sampled_from(KEYS), scalars | st.lists(scalars, min_size=1, max_size=4), max_size=4
)
globs = st.lists(
    st.sampled_from(["*", "?", "a", "b", "/", ".md", "[ab]", "[!a]", "[a-c]", "[", "%", "_", "茶"]),
    min_size=1,
    max_size=5,
).map("".join)

_LIMITS = ("equals", "at_least", "at_most", "above", "below")
_LIKE: Mapping[str, st.SearchStrategy[Any]] = {
    "number": numbers,
    "text": texts,
    "boolean": st.booleans(),
}


@st.composite
def conditions(draw: st.DrawFn, held: Sequence[Document]) -> Condition:
    """Mostly about a key and values that some document has."""
    document = draw(st.sampled_from(held))
    key = draw(st.sampled_from([*document.metadata, *BUILT_IN, *KEYS, "metadata.title"]))
    values = said(document, key) or (draw(scalars),)
    value = draw(st.sampled_from(values))
    like = st.just(value) | _LIKE[_kind(_stored(value))]
    name = draw(st.sampled_from([*_LIMITS, "one_of", "prefix", "glob", "range", "exists"]))
    if name == "exists":
        return Condition(key=key, exists=draw(st.booleans()))
    if name == "one_of" or isinstance(value, bool):
        return Condition(key=key, one_of=tuple(draw(st.lists(like, min_size=1, max_size=4))))
    if name == "range":
        asked = {draw(st.sampled_from(_LIMITS)): draw(like), draw(st.sampled_from(_LIMITS)): value}
    elif name in _LIMITS:
        asked = {name: draw(like)}
    else:
        start = str(value)[: draw(st.integers(1, 3))] or "a"
        asked = {name: start if name == "prefix" else draw(st.just(f"{start}*") | globs)}
    return Condition(key=key, **asked)


def _groups(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    joined = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        joined.map(lambda each: AllOf(all_of=each)),
        joined.map(lambda each: AnyOf(any_of=each)),
        joined.map(lambda each: NoneOf(none_of=each)),
    )


def filters(held: Sequence[Document]) -> st.SearchStrategy[Filter]:
    """Filters of every form, nested."""
    return st.recursive(conditions(held), _groups, max_leaves=4)


class Refused(Exception):  # noqa: N818
    """A condition whose key no document has, or none with such a value."""


def allowed(documents: Iterable[Document], asked: Filter) -> set[str]:
    """Sources of the documents that pass."""
    held = list(documents)
    if isinstance(asked, Condition):
        return _of_condition(held, asked)
    if isinstance(asked, AllOf):
        return set.intersection(*(allowed(held, each) for each in asked.all_of))
    joined = asked.any_of if isinstance(asked, AnyOf) else asked.none_of
    found = set[str]().union(*(allowed(held, each) for each in joined))
    return found if isinstance(asked, AnyOf) else {each.source for each in held} - found


def _of_condition(documents: list[Document], asked: Condition) -> set[str]:
    values = {each.source: said(each, asked.key) for each in documents}
    if asked.key not in BUILT_IN and not any(values.values()):
        raise Refused
    if asked.exists is not None:
        return {source for source, held in values.items() if bool(held) == asked.exists}
    wanted = _kind(next(iter(asked.one_of or [v for v in _asked(asked).values() if v is not None])))
    kinds = {_kind(value) for held in values.values() for value in held}
    if wanted not in (kinds if asked.key not in BUILT_IN else {"text"}):
        raise Refused
    return {
        source
        for source, held in values.items()
        if any(_kind(value) == wanted and _passes(value, asked) for value in held)
    }


def said(document: Document, key: str) -> tuple[Any, ...]:
    """The values that a document has for a key."""
    if key in BUILT_IN:
        value = getattr(document, key)
    else:
        plain = key[len("metadata.") :] if key.startswith("metadata.") else key
        value = document.metadata.get(plain)
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _kind(value: object) -> str:
    return {bool: "boolean", int: "number", float: "number", str: "text"}[type(value)]


def _stored(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _asked(condition: Condition) -> dict[str, Any]:
    return {
        name: getattr(condition, name)
        for name in ("equals", "at_least", "at_most", "above", "below", "prefix", "glob")
    }


_TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "equals": operator.eq,
    "at_least": operator.ge,
    "at_most": operator.le,
    "above": operator.gt,
    "below": operator.lt,
    "prefix": str.startswith,
    "glob": lambda value, pattern: matched(pattern, value),
}


def _passes(value: Any, asked: Condition) -> bool:
    if asked.one_of is not None and value not in asked.one_of:
        return False
    return all(
        _TESTS[name](value, wanted) for name, wanted in _asked(asked).items() if wanted is not None
    )


def matched(pattern: str, text: str) -> bool:
    """Whether a glob matches a text, read step by step: the ends of all ways through it."""
    ends, at = {0}, 0
    while at < len(pattern):
        char, at = pattern[at], at + 1
        if char == "*":
            ends = set(range(min(ends), len(text) + 1)) if ends else ends
            continue
        close = pattern.find("]", at + 1 + pattern.startswith("!", at)) if char == "[" else -1
        if close > 0:
            inside, at = pattern[at:close], close + 1
            one = _in_set(inside)
        else:
            one = (lambda _: True) if char == "?" else char.__eq__
        ends = {end + 1 for end in ends if end < len(text) and one(text[end])}
    return len(text) in ends


def _in_set(inside: str) -> Callable[[str], bool]:
    negated, inside = inside.startswith("!"), inside.removeprefix("!")
    members: list[tuple[str, str]] = []
    while inside:
        if len(inside) > 2 and inside[1] == "-":
            members.append((inside[0], inside[2]))
            inside = inside[3:]
        else:
            members.append((inside[0], inside[0]))
            inside = inside[1:]
    return lambda char: any(low <= char <= high for low, high in members) != negated
