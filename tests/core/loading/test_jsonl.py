import json
from typing import Any

import pytest
from groundkit_core.errors import RefusedError
from groundkit_core.loading.jsonl import Record, records

from tests.core.timing import check_linear


def read(text: str, **fields: Any) -> list[Record]:
    return list(records(text, **{"text_field": "text", **fields}))


def test_each_line_is_a_record_with_the_fields_asked_for() -> None:
    lines = [
        {"id": 7, "body": {"text": "Hose."}, "name": " A\nB ", "tags": ["x", "y"], "year": 2024},
        {"id": "k-2", "body": {"text": "Valve."}, "other": 1},
    ]
    text = "\n".join(map(json.dumps, lines))
    assert read(
        text,
        text_field="body.text",
        id_field="id",
        title_field="name",
        metadata_fields=["tags", "year"],
    ) == [
        Record("7", 1, "Hose.", "A B", {"tags": ("x", "y"), "year": 2024}),
        Record("k-2", 2, "Valve.", None, {}),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_record_without_an_id_has_its_line_number_and_blank_lines_count(end: str) -> None:
    text = end.join(['{"text": "a"}', "", "  ", '{"text": "b\u2028\\n"}', ""])
    assert [(r.key, r.line, r.text) for r in read(text)] == [
        ("1", 1, "a"),
        ("4", 4, "b\u2028\n"),
    ]


def test_a_key_that_holds_a_dot_goes_before_a_path() -> None:
    text = '{"a.b": "whole", "a": {"b": "nested"}, "text": ""}'
    assert read(text, text_field="a.b")[0].text == "whole"


def test_metadata_is_stored_as_filters_look_for_it() -> None:
    text = '{"text": "a", "meta": {"lang": "de", "n": [1, 1, 2]}, "none": null, "empty": []}'
    [record] = read(text, metadata_fields=["meta", "none", "empty", "missing"])
    assert record.metadata == {"meta.lang": "de", "meta.n": (1, 2)}
    [record] = read(text, metadata_fields=["meta.lang"])
    assert record.metadata == {"meta.lang": "de"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("secret", "it is no valid JSON"),
        ('{"text": "secret"', "it is no valid JSON"),
        ('{"text": "a"} {"text": "secret"}', "it is no valid JSON"),
        ('["secret"]', "it is no JSON object"),
        ('"secret"', "it is no JSON object"),
        ('{"body": "secret"}', "'text' is missing or no text"),
        ('{"text": ["secret"]}', "'text' is missing or no text"),
        ('{"text": null}', "'text' is missing or no text"),
        ('{"text": "secret", "text": "b"}', "an object in it has the same key twice"),
        ('{"text": "a", "x": {"secret": 1, "secret": 2}}', "an object in it has the same key"),
        ('{"text": "secret", "x": NaN}', "NaN is no JSON number"),
        ('{"text": "secret", "x": -Infinity}', "-Infinity is no JSON number"),
        ('{"text": "secret\\ud800"}', "'text' holds half a surrogate pair"),
        ('{"text": "secret\\u0000"}', "'text' holds a NUL character"),
        ('{"text": "a", "x": ' + "[" * 100_000, "it is nested too deep"),
        ('{"text": "a", "x": ' + "9" * 10_000 + "}", "it is no valid JSON"),
        ('{"text": "a", "meta": 1e400}', "'meta': a number that is not finite"),
        ('{"text": "a", "meta": ' + "[" * 60 + "]" * 60 + "}", "metadata is nested more than"),
        ('{"text": "a", "id": true}', "'id' is missing, or neither text nor a whole number"),
        ('{"text": "a", "id": 1.5}', "'id' is missing, or neither text nor a whole number"),
        ('{"text": "a", "id": null}', "'id' is missing, or neither text nor a whole number"),
        ('{"text": "a", "id": " "}', "'id' is blank, too long, or holds control characters"),
        ('{"text": "a", "id": "secret\\n"}', "'id' is blank, too long, or holds control"),
        ('{"text": "a", "id": "' + "x" * 501 + '"}', "'id' is blank, too long, or holds control"),
        ('{"text": "a", "title": 5}', "'title' is missing or no text"),
    ],
)
def test_what_is_no_record_is_refused_by_its_line_number(line: str, reason: str) -> None:
    good = '{"text": "good", "id": 1}'
    fields: dict[str, Any] = {"title_field": "title", "metadata_fields": ["meta"]}
    if '"id"' in line:
        fields["id_field"] = "id"
    with pytest.raises(RefusedError, match=f"^line 3: {reason}") as refused:
        read(f"{good}\n\n{line}", **fields)
    assert "secret" not in str(refused.value)


def test_two_records_with_the_same_id_are_refused_with_both_lines() -> None:
    text = '{"text": "a", "id": 1}\n{"text": "b", "id": 2}\n{"text": "c", "id": "1"}'
    with pytest.raises(RefusedError, match=r"^lines 1 and 3 have the same id$"):
        read(text, id_field="id")


def test_records_come_one_by_one() -> None:
    found = records('{"text": "a"}\nbroken', text_field="text")
    assert next(found).text == "a"
    with pytest.raises(RefusedError, match="line 2"):
        next(found)


@pytest.mark.parametrize("line", ['{"text": "a", "id": %d}\n', "\n", " "])
def test_many_lines_are_read_in_linear_time(line: str) -> None:
    def make(size: int) -> str:
        return "".join(line.replace("%d", str(n)) for n in range(size // len(line)))

    check_linear(lambda text: read(text, id_field="id"), make, 300_000)
