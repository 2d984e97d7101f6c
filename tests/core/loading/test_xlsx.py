from datetime import date, datetime, time, timedelta

import pytest
from groundkit_core.errors import RefusedError
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.xlsx import extract

from tests.core.loading.xlsx_files import Days, Formula, Value, workbook
from tests.core.timing import check_linear
from tests.shared_data import shared

pytest.importorskip("python_calamine")


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def blocks(found: Extracted) -> list[tuple[str, str, str]]:
    return [(b.kind, found.text[b.start : b.end], b.header) for b in found.blocks]


def test_a_sheet_is_a_heading_and_its_rows_beneath_their_header() -> None:
    found = extract(workbook({"Pumps": [["Part", "Limit"], ["Hose", 7], ["Valve", 9]]}))
    assert found.text == "Pumps\n\nPart | Limit\n\nHose | 7\nValve | 9\n\n"
    assert blocks(found) == [
        ("heading", "Pumps", ""),
        ("lined", "Part | Limit", ""),
        ("lined", "Hose | 7\nValve | 9", "Part | Limit"),
    ]
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3.0, "3"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (1234.5, "1234.5"),
        (0.125, "0.125"),
        (123456789012345, "123456789012345"),
        (1e21, "1e+21"),
        (True, "TRUE"),
        (False, "FALSE"),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 13, 5, 9), "2024-02-29 13:05:09"),  # noqa: DTZ001
        (timedelta(hours=30, minutes=5), "30:05:00"),
        (time(9, 30), "09:30:00"),
        (Formula("SUM(1,2)", 3.0), "3"),
        ("two\nlines\u00a0and  blanks ", "two lines and blanks"),
        ("_x0007_bell", "bell"),
    ],
)
def test_a_value_reads_as_a_person_writes_it(value: Value, shown: str) -> None:
    assert extract(workbook({"S": [["x", value]]})).text == f"S\n\nx | {shown}\n\n"


def test_blank_rows_and_two_blank_columns_part_tables_that_may_begin_anywhere() -> None:
    left: dict[tuple[int, int], Value] = {(4, 2): "Name", (4, 3): "Age", (5, 2): "Ann", (5, 3): 41}
    right = {(4, 6): "City", (4, 8): "Land", (5, 6): "Bern", (5, 8): "CH"}
    below = {(7, 2): "Only"}
    found = extract(workbook({"S": {**left, **right, **below}}))
    assert blocks(found)[1:] == [
        ("lined", "Name | Age", ""),
        ("lined", "Ann | 41", "Name | Age"),
        ("lined", "City | Land", ""),
        ("lined", "Bern | CH", "City | Land"),
        ("lined", "Only", ""),
    ]


def test_an_empty_cell_keeps_its_column_within_a_row() -> None:
    rows: list[list[Value]] = [["a", "b", "c"], ["x", None, "z"], [None, "y", None]]
    assert extract(workbook({"S": rows})).text == "S\n\na | b | c\n\nx |  | z\n| y\n\n"


def test_titles_above_a_header_are_no_header() -> None:
    found = extract(workbook({"S": [["Ducks by year"], ["Year", "Ducks"], [2019, 5]]}))
    assert blocks(found)[1:] == [
        ("lined", "Ducks by year", ""),
        ("lined", "Year | Ducks", ""),
        ("lined", "2019 | 5", "Year | Ducks"),
    ]


def test_a_merged_cell_stands_once_and_parts_nothing() -> None:
    cells = {(0, 0): "Package", (0, 4): "Rev.", (1, 0): "A-1", (1, 4): "B"}
    found = extract(workbook({"S": cells}, merged={"S": ["A1:D1", "A2:D2"]}))
    assert found.text == "S\n\nPackage | Rev.\n\nA-1 | B\n\n"
    apart = extract(workbook({"S": cells}))
    assert apart.text == "S\n\nPackage\n\nA-1\n\nRev.\n\nB\n\n"


@pytest.mark.timeout(5)
def test_merged_areas_beyond_the_sheet_or_over_each_other_cost_no_more_than_its_cells() -> None:
    areas = ["A1:XFD1048576"] * 20_000
    cells: dict[tuple[int, int], Value] = {(0, 0): "a", (0, 16_383): "b"}
    found = extract(workbook({"S": cells}, merged={"S": areas}))
    assert found.text == "S\n\na | b\n\n"


def test_hidden_and_empty_sheets_are_left_out_and_the_hidden_ones_counted() -> None:
    found = extract(workbook({"A": [["x"]], "B": [["y"]], "C": [["z"]], "D": []}, hidden=["B"]))
    assert found.text == "A\n\nx\n\nC\n\nz\n\n"
    assert found.warnings == ("1 hidden sheet is left out",)
    assert found.partial is None


@pytest.mark.parametrize("rows", [[], [[None, None]], [["  "]]])
def test_an_empty_workbook_has_no_text(rows: list[list[str | None]]) -> None:
    assert extract(workbook({"S": rows})) == Extracted("")


def test_the_same_bytes_give_the_same_text() -> None:
    data = workbook({"S": [["a", 1.5], ["b", date(2024, 1, 2)]]})
    assert extract(data) == extract(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is broken, or in no format of a spreadsheet"),
        (b"hello", "it is broken, or in no format of a spreadsheet"),
        (OLE + bytes(2000), "it is broken, or in no format of a spreadsheet"),
        (OLE + bytes(500) + "EncryptedPackage".encode("utf-16-le"), "it needs a password"),
        (
            workbook({"S": [[Days("1e300")]]}),
            "a duration in it is too long to be one",
        ),
        (b"PK\x03\x04 but nothing else", "no valid Zip archive"),
        (workbook({"S": [["a"]]})[:600], "no valid Zip archive"),
    ],
)
def test_what_is_no_workbook_is_refused_in_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(RefusedError, match=f"^spreadsheet: {reason}") as refused:
        extract(data)
    assert "\n" not in str(refused.value)


def test_two_cells_far_apart_are_refused_before_the_table_between_them_is_laid_out() -> None:
    data = workbook({"S": {(0, 0): "a", (1_048_575, 16_383): "b"}})
    assert len(data) < 3000
    with pytest.raises(RefusedError, match=r"^spreadsheet: a sheet spans over 10,000,000 cells$"):
        extract(data)


def test_a_cell_without_a_value_does_not_stretch_its_sheet() -> None:
    cells: dict[tuple[int, int], Value] = {
        (0, 0): "a",
        (10**6, 16_000): None,
        (10**6, 16_001): None,
    }
    assert extract(workbook({"S": cells})).text == "S\n\na\n\n"


def test_a_sheet_is_read_in_linear_time() -> None:
    def rows(text: str) -> list[list[Value]]:
        names: list[Value] = [*text.split()]
        return [[name, 1] for name in names]

    check_linear(
        lambda text: extract(workbook({"S": rows(text)})),
        lambda size: "cell " * (size // 5),
        100_000,
    )


def test_real_workbooks_give_their_tables() -> None:
    folder = shared("data", "docs_docling", "xlsx")
    texts = {path.name: extract(path.read_bytes()).text for path in folder.glob("*.xls[xm]")}
    assert len(texts) == 11
    assert all(texts.values())
    assert "Widget C | 2024-01-15 | 10 | 10500" in texts["xlsx_02_sample_sales_data.xlsm"]
    form = texts["xlsx_07_gap_tolerance_.xlsx"]
    assert "1 | Rated system voltage | kV | : | 130 (131 Um, 132 AC, 133 BIL)" in form
    assert "Package no.: | Doc. no.: | Rev.\n\n13156456 | 144564 | A\n" in form
    ods = shared("data", "docs_docling", "odf", "odf_table_with_title_01.ods")
    assert "Year | Freshwater Ducks\n\n2019 | 120\n" in extract(ods.read_bytes()).text
