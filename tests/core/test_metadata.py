import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from groundkit_core.errors import MetadataError
from groundkit_core.metadata import Metadata, digest, normalised, rows
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import unhurried

CET = timezone(timedelta(hours=2))
NAIVE = datetime.fromisoformat("2024-01-02T03:04:05")


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


STORED: list[tuple[Mapping[Any, Any], Metadata]] = [
    ({"a": "x", "b": 1, "c": 1.5, "d": True}, {"a": "x", "b": 1, "c": 1.5, "d": True}),
    ({"a": {"b": {"c": 1}, "d": 2}}, {"a.b.c": 1, "a.d": 2}),
    ({"a": ["y", "x", "y"]}, {"a": ("y", "x")}),
    ({"a": ("x",)}, {"a": "x"}),
    ({"a": [1, [2, [3, 1]]]}, {"a": (1, 2, 3)}),
    ({"a": [{"n": "x", "m": 1}, {"n": "y"}]}, {"a.n": ("x", "y"), "a.m": 1}),
    ({"a.b": 1, "a": {"b": [2, 1]}}, {"a.b": (1, 2)}),
    ({"a": None, "b": [], "c": {}, "d": [None, {}], "e": ""}, {"e": ""}),
    ({"a": [None, 1]}, {"a": 1}),
    ({2024: "x", "2024": "y"}, {"2024": ("x", "y")}),
    ({"a": [True, 1, "1", 1.0]}, {"a": (True, 1, "1")}),
    ({"a": [-0.0, 0.0, 0]}, {"a": 0.0}),
    ({"a": [2**63 - 1, -(2**63)]}, {"a": (2**63 - 1, -(2**63))}),
    ({"a": date(2024, 1, 2)}, {"a": "2024-01-02"}),
    ({"a": date(24, 1, 2)}, {"a": "0024-01-02"}),
    ({"a": NAIVE}, {"a": "2024-01-02T03:04:05"}),
    ({"a": NAIVE.replace(microsecond=60)}, {"a": "2024-01-02T03:04:05.000060"}),
    ({"a": datetime(2024, 1, 2, 1, 4, 5, tzinfo=CET)}, {"a": "2024-01-01T23:04:05Z"}),
    ({"a": datetime(2024, 1, 2, 3, 4, 5, 6, UTC)}, {"a": "2024-01-02T03:04:05.000006Z"}),
    ({"a": time(3, 4)}, {"a": "03:04:00"}),
    ({"a": Colour.RED, "b": Level.HIGH, Colour.RED: 1}, {"a": "red", "b": 3, "red": 1}),
    (MappingProxyType({"a": MappingProxyType({"b": 1})}), {"a.b": 1}),
    ({"Größe (cm)": 1, "نام‌ها": 2, "a b.c": 3}, {"Größe (cm)": 1, "نام‌ها": 2, "a b.c": 3}),
    ({"k" * 100: "x" * 10_000}, {"k" * 100: "x" * 10_000}),
    ({}, {}),
]


@pytest.mark.parametrize(("written", "stored"), STORED)
def test_metadata_is_stored_as_dotted_keys_with_plain_values(
    written: Mapping[Any, Any], stored: Metadata
) -> None:
    found = normalised(written)
    assert repr(found) == repr(stored)  # which tells 1 from 1.0 and from True


def test_values_of_subclasses_become_plain() -> None:
    found = normalised({Colour.RED: [Colour.RED, Level.HIGH]})
    assert [type(value) for _, _, value in rows(found)] == [str, int]
    assert [type(key) for key in found] == [str]


REFUSED: list[tuple[Mapping[Any, Any], str]] = [
    ({"a": b"secret"}, "'a': bytes is no text, number, boolean or date"),
    ({"a": {"b": {1, 2}}}, "'a.b': set is no text, number, boolean or date"),
    ({"a": 1j}, "'a': complex is no text, number, boolean or date"),
    ({"a": timedelta(1)}, "'a': timedelta is no text, number, boolean or date"),
    ({"a": 2**63}, "'a': a whole number beyond 64 bits"),
    ({"a": -(2**63) - 1}, "'a': a whole number beyond 64 bits"),
    ({"a": 10**5000}, "'a': a whole number beyond 64 bits"),
    ({"a": [1.0, float("nan")]}, "'a': a number that is not finite"),
    ({"a": float("-inf")}, "'a': a number that is not finite"),
    ({"a": "x" * 10_001}, "'a': its text is longer than 10000 characters"),
    ({"a": "\ud800"}, "'a': its text holds half a surrogate pair"),
    ({"a": datetime.min.replace(tzinfo=CET)}, "'a': a time outside the years 1 to 9999"),
    ({True: 1}, "a key: bool is not text"),
    ({None: 1}, "a key: NoneType is not text"),
    ({"a": {1.5: 1}}, "a key beneath 'a': float is not text"),
    ({"a": {date(2024, 1, 2): 1}}, "a key beneath 'a': date is not text"),
    ({"a": {2**64: 1}}, "a key beneath 'a': a whole number beyond 64 bits"),
    ({10**5000: 1}, "a key: a whole number beyond 64 bits"),
    ({"": 1}, "a key: it is empty, or begins or ends with a blank"),
    ({"a": {" b": 1}}, "a key beneath 'a': it is empty, or begins or ends with a blank"),
    ({"a\u3000": 1}, "a key: it is empty, or begins or ends with a blank"),
    ({"a\x1bb": 1}, "a key: it holds a control character or half a surrogate pair"),
    ({"a\x9bb": 1}, "a key: it holds a control character or half a surrogate pair"),
    ({"a\u2028b": 1}, "a key: it holds a control character or half a surrogate pair"),
    ({"a\udc00b": 1}, "a key: it holds a control character or half a surrogate pair"),
    ({"k" * 101: 1}, "a key: it is longer than 100 characters"),
    ({"k" * 50: {"m" * 50: 1}}, f"a key beneath {'k' * 50!r}: it is longer than 100 characters"),
    ({"\u202ea": b""}, "'\\u202ea': bytes is no text, number, boolean or date"),
]


@pytest.mark.parametrize(("written", "message"), REFUSED)
def test_what_cannot_be_stored_is_refused_by_key_and_kind(
    written: Mapping[Any, Any], message: str
) -> None:
    with pytest.raises(MetadataError) as caught:
        normalised(written)
    assert str(caught.value) == message


def nested(levels: int, form: str) -> Mapping[str, Any]:
    value: Any = 1
    for _ in range(levels - 1):
        value = [value] if form == "list" else {"a": value}
    return {"a": value}


def test_fifty_levels_are_stored_and_one_more_is_refused() -> None:
    assert normalised(nested(50, "list")) == {"a": 1}
    assert normalised(nested(50, "mapping")) == {".".join("a" * 50): 1}
    with pytest.raises(MetadataError, match="more than 50 levels deep"):
        normalised(nested(51, "list"))
    with pytest.raises(MetadataError, match="more than 50 levels deep"):
        normalised(nested(100_000, "list"))


def test_a_thousand_values_are_stored_and_one_more_is_refused() -> None:
    thousand = [[i] for i in range(1000)]
    assert normalised({"a": thousand}) == {"a": tuple(range(1000))}
    with pytest.raises(MetadataError, match="more than 1000 values"):
        normalised({"a": thousand, "b": 1})


@pytest.mark.parametrize("leaf", [["x"], [], {}, None], ids=str)
@pytest.mark.parametrize("form", ["list", "mapping"])
def test_references_that_multiply_end_in_an_error(leaf: object, form: str) -> None:
    value = leaf
    for _ in range(30):
        value = [value] * 9 if form == "list" else dict.fromkeys("abcdefghi", value)
    with pytest.raises(MetadataError):
        normalised({"a": value})


@pytest.mark.parametrize("times", [1, 9])
def test_what_holds_itself_ends_in_an_error(times: int) -> None:
    items: list[Any] = []
    items.extend([items] * times)
    mapping: dict[str, Any] = {}
    mapping.update({str(i): mapping for i in range(times)})
    for value in (items, mapping):
        with pytest.raises(MetadataError, match="50 levels deep"):
            normalised({"a": value})


def test_rows_go_by_key_and_keep_the_order_of_values() -> None:
    found = normalised({"tags": ["y", "x"], "mixed": ["1", 1, True, 2.5], "a": False})
    assert rows(found) == [
        ("a", "boolean", False),
        ("mixed", "text", "1"),
        ("mixed", "number", 1),
        ("mixed", "boolean", True),
        ("mixed", "number", 2.5),
        ("tags", "text", "y"),
        ("tags", "text", "x"),
    ]


def test_digests_never_change() -> None:
    """A collection tells by them whether a document's metadata is another."""
    assert digest({}) == "7ebb3c7c2a87b1a2f8a7ed729ecb040d"
    mixed: Metadata = {"tags": ("y", "x"), "year": 2024, "ok": True, "é": 0.5}
    assert digest(mixed) == "d964f2cdac9be3a475e97e560a66d459"


ONE = normalised({"a": 1})
OTHERS: list[Mapping[str, Any]] = [
    {"a": True},
    {"a": "1"},
    {"a": 2},
    {"a": 1.5},
    {"b": 1},
    {"a": [1, 2]},
    {"a": [1, "1"]},
    {"a": 1, "b": 1},
    {},
]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_other_metadata_has_another_digest(other: Mapping[str, Any]) -> None:
    assert digest(normalised(other)) != digest(ONE)


def test_equal_numbers_have_one_digest_and_the_order_of_values_counts() -> None:
    assert digest({"a": 1.0, "b": 2.0**53}) == digest({"a": 1, "b": 2**53})
    assert digest({"a": ("x", "y")}) != digest({"a": ("y", "x")})


zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
keys = st.text(max_size=8) | st.integers() | st.sampled_from(["a", "b", "a.b", "title"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.dates()
    | st.datetimes(timezones=st.none() | zones)
    | st.times()
    | st.binary(max_size=3)
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)
)
names = st.sampled_from(["a", "b", "c", "a.b", "é"])
plain = st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text("xyé🚰\n", max_size=3)
writable = st.dictionaries(
    names,
    st.recursive(
        plain | st.none(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
        max_leaves=12,
    ),
    max_size=5,
)


@unhurried
@given(st.dictionaries(keys, anything, max_size=4))
def test_anything_is_stored_or_refused(written: Mapping[Any, Any]) -> None:
    try:
        found = normalised(written)
    except MetadataError:
        return
    for key, kind, value in rows(found):
        assert key
        assert {"text": str, "boolean": bool, "number": type(value)}[kind] is type(value)
        json.dumps(value, allow_nan=False).encode()


@unhurried
@given(writable)
def test_stored_metadata_stays_as_it_is(written: Mapping[str, Any]) -> None:
    found = normalised(written)
    assert repr(normalised(found)) == repr(found)
    assert repr(normalised(json.loads(json.dumps(found)))) == repr(found)


@unhurried
@given(writable, st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_neither_rows_nor_digest(written: Any, random: Any) -> None:
    found = normalised(written)
    order = list(found)
    random.shuffle(order)
    other = {key: found[key] for key in order}
    assert rows(other) == rows(found)
    assert digest(other) == digest(found)


@unhurried
@given(writable, writable)
def test_digests_are_equal_for_equal_rows_alone(one: Any, other: Any) -> None:
    first, second = normalised(one), normalised(other)
    assert (digest(first) == digest(second)) == (rows(first) == rows(second))


@given(st.lists(st.datetimes(timezones=zones), min_size=2, max_size=2))
def test_moments_compare_as_text_as_they_do_in_time(moments: list[datetime]) -> None:
    try:
        one, other = (str(normalised({"a": moment})["a"]) for moment in moments)
    except MetadataError:
        return
    earlier, later = (moment.astimezone(UTC).replace(microsecond=0) for moment in moments)
    if earlier != later:
        assert (one < other) == (earlier < later)
