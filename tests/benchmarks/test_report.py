import json

import pytest

from benchmarks.report import Report, Table, Target


def test_a_table_aligns_text_left_and_numbers_right() -> None:
    table = Table(
        "found", [{"set": "long name", "n": 5, "x": 0.25}, {"set": "b", "n": 12, "x": 2.0}]
    )
    assert list(table.lines()) == [
        "found",
        "  set         n      x",
        "  long name   5  0.250",
        "  b          12  2.000",
    ]


@pytest.mark.parametrize(
    ("target", "met", "line"),
    [
        (Target("ratio", 1.2, at_most=1.2), True, "target met: ratio: 1.200 (at most 1.2)"),
        (Target("ratio", 1.21, at_most=1.2), False, "target MISSED: ratio: 1.210 (at most 1.2)"),
        (Target("nDCG", 0.67, at_least=0.68), False, "target MISSED: nDCG: 0.670 (at least 0.68)"),
        (Target("nDCG", 0.68, at_least=0.68), True, "target met: nDCG: 0.680 (at least 0.68)"),
    ],
)
def test_a_target_says_whether_it_was_met(target: Target, met: bool, line: str) -> None:
    assert (target.met, target.line()) == (met, line)


def test_a_report_names_versions_and_survives_json() -> None:
    report = Report("speed", True, ["numpy"], [Table("t", [{"a": 1}])], [Target("a", 1, at_most=2)])
    document = json.loads(json.dumps(report.document()))
    assert set(document["environment"]["versions"]) == {"groundkit-core", "groundkit-cli", "numpy"}
    assert document["tables"] == [{"title": "t", "rows": [{"a": 1}]}]
    assert document["targets"] == [
        {"what": "a", "value": 1, "at_most": 2, "at_least": None, "met": True}
    ]
    assert report.text().splitlines()[1:] == [
        "",
        "t",
        "  a",
        "  1",
        "",
        "target met: a: 1.000 (at most 2)",
    ]
