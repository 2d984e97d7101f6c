"""A filter that cannot be meant is an error that names what is wrong with it."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection, Document
from groundkit_core.errors import RetrievalError
from groundkit_core.retrieval.filters import AllOf, Condition, Filter, NoneOf, check_filter, read
from pydantic import ValidationError

CANARY = "Parrot"


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    collection = Collection.open(tmp_path / "c")
    collection.add(
        [
            Document.from_text(
                "a", f"pump {CANARY}", title=CANARY, metadata={"year": 2020, "bird": CANARY}
            ),
            Document.from_text("b", "pump", metadata={"mixed": 1, "draft": True}),
            Document.from_text("c", "pump", metadata={"mixed": "one"}),
        ]
    )
    return collection


def refusal(collection: Collection, **asked: Any) -> str:
    with pytest.raises(RetrievalError) as raised:
        collection.search("pump", filters=Condition(**asked))
    assert CANARY not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    "asked", [{"equals": 1}, {"exists": True}, {"exists": False}, {"glob": "*"}, {"one_of": ("a",)}]
)
@pytest.mark.parametrize("key", ["yaer", "Year", "year ", "metadata.year", "year.x", "text"])
def test_a_key_that_no_document_has_is_an_error_that_lists_those_there_are(
    key: str, asked: dict[str, Any], collection: Collection
) -> None:
    assert refusal(collection, key=key, **asked) == (
        f"no document has the key {key!r}; there are: "
        "source, title, media_type, bird, draft, mixed, year"
    )


def test_of_many_keys_some_are_listed(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    keys = {f"k{n:02}": n for n in range(30)}
    collection.add([Document.from_text("a", "pump", metadata=keys)])
    named = ", ".join(["source", "title", "media_type", *sorted(keys)[:20]])
    said = refusal(collection, key="other", exists=True)
    assert said == f"no document has the key 'other'; there are: {named} and 10 more"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"key": "year", "equals": "2020"}, "the key 'year' holds numbers, not text"),
        ({"key": "year", "at_least": date(2020, 1, 1)}, "the key 'year' holds numbers, not text"),
        ({"key": "year", "prefix": "2"}, "the key 'year' holds numbers, not text"),
        ({"key": "year", "glob": "2*"}, "the key 'year' holds numbers, not text"),
        ({"key": "year", "equals": True}, "the key 'year' holds numbers, not booleans"),
        ({"key": "draft", "equals": 1}, "the key 'draft' holds booleans, not numbers"),
        ({"key": "bird", "one_of": (1, 2.5)}, "the key 'bird' holds text, not numbers"),
        ({"key": "mixed", "equals": True}, "the key 'mixed' holds numbers and text, not booleans"),
        ({"key": "source", "equals": 1}, "the key 'source' holds text, not numbers"),
        ({"key": "title", "one_of": (False,)}, "the key 'title' holds text, not booleans"),
        ({"key": "media_type", "above": 2}, "the key 'media_type' holds text, not numbers"),
    ],
)
def test_a_value_of_a_kind_that_no_document_has_there_is_an_error(
    asked: dict[str, Any], said: str, collection: Collection
) -> None:
    assert refusal(collection, **asked) == said


def test_an_error_deep_inside_is_one_too(collection: Collection) -> None:
    fine, unknown = Condition(key="year", exists=True), Condition(key="nope", exists=True)
    for asked in (
        AllOf(all_of=(NoneOf(none_of=(fine,)), unknown)),
        NoneOf(none_of=(NoneOf(none_of=(unknown,)), fine)),
    ):
        with pytest.raises(RetrievalError, match="'nope'"):
            collection.search("pump", filters=asked)


def test_a_key_is_unknown_once_the_last_document_with_it_is_gone(collection: Collection) -> None:
    has_year = Condition(key="year", exists=True)
    assert len(collection.search("pump", filters=has_year).results) == 1
    collection.remove(["a"])
    assert "'year'" in refusal(collection, key="year", exists=True)
    collection.add([Document.from_text("a", "pump again", metadata={"year": 1})])
    assert len(collection.search("pump", filters=has_year).results) == 1
    collection.add([Document.from_text("a", "pump again")])
    assert "'year'" in refusal(collection, key="year", exists=True)


def test_built_in_keys_are_known_to_an_empty_collection(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add([])
    for key in ("source", "title", "media_type"):
        for asked in (Condition(key=key, prefix="a"), Condition(key=key, exists=False)):
            assert collection.search("pump", filters=asked).results == ()


UNFIT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "only None": {"equals": None, "exists": None},
    "no key": {"key": "", "exists": True},
    "a key of the wrong type": {"key": 5, "exists": True},
    "half a pair in the key": {"key": "\ud800", "exists": True},
    "half a pair": {"equals": "a\ud800"},
    "half a pair in a glob": {"glob": "\udfff*"},
    "half a pair in a list": {"one_of": ["\ud800"]},
    "no number": {"equals": float("nan")},
    "no number in a list": {"one_of": [float("nan")]},
    "infinite": {"at_least": float("inf")},
    "beyond 64 bits": {"equals": 2**63},
    "below 64 bits": {"above": -(2**63) - 1},
    "beyond in a list": {"one_of": [1, 2**63]},
    "a list": {"equals": [1]},
    "a mapping": {"equals": {"a": 1}},
    "bytes": {"equals": b"a"},
    "a boolean limit": {"at_least": True},
    "an empty list": {"one_of": []},
    "text as a list": {"one_of": "abc"},
    "None in a list": {"one_of": [None]},
    "a list in a list": {"one_of": [1, [2]]},
    "a list of two kinds": {"one_of": [1, "a"]},
    "a list of number and boolean": {"one_of": [1, True]},
    "limits of two kinds": {"at_least": 1, "below": "a"},
    "a prefix and a number": {"prefix": "a", "above": 1},
    "an empty prefix": {"prefix": ""},
    "an empty glob": {"glob": ""},
    "a prefix that is a number": {"prefix": 5},
    "exists and more": {"exists": True, "equals": 1},
    "exists of another type": {"exists": 1},
    "an operator there is not": {"eq": 1},
    "a long text": {"equals": "x" * 10_001},
    "a long prefix": {"prefix": "x" * 1001},
    "a long key": {"key": "x" * 201, "exists": True},
}


@pytest.mark.parametrize("asked", UNFIT.values(), ids=list(UNFIT))
def test_a_condition_that_means_nothing_cannot_be_made(asked: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Condition(**{"key": "year", **asked})


@pytest.mark.parametrize("value", [2**63, "\ud800", date(2020, 1, 1)], ids=["big", "half", "date"])
@pytest.mark.parametrize("kind", [set, iter], ids=["set", "iterator"])
def test_any_collection_of_values_is_checked_as_a_list_is(
    kind: Callable[[list[Any]], Any], value: Any
) -> None:
    def made(values: Any) -> Condition | None:
        try:
            return Condition(key="year", one_of=values)
        except ValidationError:
            return None

    assert made(kind([value])) == made([value])


def test_dates_become_the_text_that_is_stored() -> None:
    limits: Any = {"at_least": date(2020, 5, 1), "below": datetime(2021, 1, 2, 3, 4, tzinfo=UTC)}
    asked = Condition(key="when", **limits)
    assert (asked.at_least, asked.below) == ("2020-05-01", "2021-01-02T03:04:00Z")
    days: Any = (date(2020, 5, 1),)
    assert Condition(key="when", one_of=days).one_of == ("2020-05-01",)


BAD_JSON = {
    "nothing": "",
    "no object": "[]",
    "a number": "5",
    "null": "null",
    "cut off": '{"key": "year", "equals": 1',
    "no JSON": "{year: 1}",
    "two documents": '{"key": "a", "exists": true} {}',
    "a comment": '{"key": "a", "exists": true} // x',
    "no number": '{"key": "year", "equals": NaN}',
    "infinite": '{"key": "year", "equals": 1e999}',
    "many digits": f'{{"key": "year", "equals": {"9" * 5000}}}',
    "beyond 64 bits": '{"key": "year", "equals": 9223372036854775808}',
    "half a pair": '{"key": "year", "equals": "\\ud800"}',
    "an empty group": '{"any_of": []}',
    "a group that is none": '{"any_of": {"key": "a", "exists": true}}',
    "a group and more": '{"any_of": [{"key": "a", "exists": true}], "key": "b"}',
    "two groups": '{"any_of": [{"key": "a", "exists": true}], "all_of": []}',
    "very deep": '{"none_of": [' * 5000 + "]}" * 5000,
    **{name: json.dumps({"key": "year", "at_least": [name]}) for name in ("a list",)},
}


@pytest.mark.parametrize("text", BAD_JSON.values(), ids=list(BAD_JSON))
def test_json_that_is_no_filter_is_one_short_error(text: str) -> None:
    with pytest.raises(RetrievalError, match=r"^the filter is not valid: ") as raised:
        read(text)
    assert len(str(raised.value)) < 200
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"key": "year"}', "it asks nothing of its key"),
        ('{"key": "year", "eqals": 1}', "eqals: Extra inputs are not permitted"),
        ('{"equals": 1}', "key: Field required"),
        (
            '{"all_of": [{"key": "a", "exists": true}, {"key": "b", "one_of": [1, "x"]}]}',
            "1: its values are of several kinds: number, text",
        ),
    ],
)
def test_an_error_in_json_says_where(text: str, said: str) -> None:
    with pytest.raises(RetrievalError) as raised:
        read(text)
    assert str(raised.value) == f"the filter is not valid: {said}"


@pytest.mark.parametrize(
    "asked", ['"at_least": [1]', '"equals": {}', '"equals": 1e999', '"one_of": [1, 1e999]']
)
def test_an_error_in_json_names_the_operator_and_no_inner_part(asked: str) -> None:
    name = asked.split('"')[1]
    with pytest.raises(RetrievalError) as raised:
        read(f'{{"key": "year", {asked}}}')
    said = str(raised.value).removeprefix("the filter is not valid: ")
    assert said.startswith((f"{name}: ", f"{name}.1: "))
    assert "'value'" not in said
    assert "boolean" not in said or "text" in said


def nested(levels: int) -> Filter:
    asked: Filter = Condition(key="year", exists=True)
    for _ in range(levels - 1):
        asked = NoneOf(none_of=(asked,))
    return asked


def test_a_filter_has_a_limit_of_depth_and_of_parts(collection: Collection) -> None:
    one = Condition(key="year", exists=True)
    for fine in (nested(20), AllOf(all_of=(one,) * 99)):
        check_filter(fine)
        assert read(fine.model_dump_json()) == fine
        collection.search("pump", filters=fine)
    half = AllOf(all_of=(one,) * 49)
    for heavy in (nested(21), nested(3000), AllOf(all_of=(one,) * 100), AllOf(all_of=(half, half))):
        with pytest.raises(RetrievalError, match="at most 100 parts, 20 deep"):
            collection.search("pump", filters=heavy)
    with pytest.raises(RetrievalError, match="at most 100 parts, 20 deep"):
        read(nested(21).model_dump_json())


def test_a_filter_is_refused_before_the_collection_is_opened(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="20 deep"):
        Collection.open(tmp_path / "none").search("pump", filters=nested(30))


def test_the_longest_list_of_values_is_searched(collection: Collection) -> None:
    values = tuple(range(2020 - 9_999, 2021))
    asked = AllOf(all_of=(Condition(key="year", one_of=values),) * 20)
    assert [r.citation.source for r in collection.search("pump", filters=asked).results] == ["a"]
    with pytest.raises(ValidationError):
        Condition(key="year", one_of=(*values, 1))


def test_metadata_nested_under_a_key_called_metadata_can_be_asked_for(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    nested: dict[str, object] = {"metadata": {"source": "x", "other": "y"}}
    collection.add([Document.from_text("a", "pump", metadata=nested)])
    assert list(collection.info().metadata) == ["metadata.other", "metadata.source"]
    for key, value in (("metadata.other", "y"), ("metadata.source", "x")):
        asked = Condition(key=key, equals=value)
        assert len(collection.search("pump", filters=asked).results) == 1


def test_metadata_that_is_called_as_what_all_documents_have_is_told_apart(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    own: dict[str, object] = {"source": "own", "title": 1, "media_type": True}
    collection.add([Document.from_text("a", "pump", metadata=own)])
    for key, value in own.items():
        asked = Condition.model_validate({"key": f"metadata.{key}", "equals": value})
        assert len(collection.search("pump", filters=asked).results) == 1
    assert len(collection.search("pump", filters=Condition(key="source", equals="a")).results) == 1
    assert collection.search("pump", filters=Condition(key="source", equals="own")).results == ()
