"""Spreadsheets: a heading for each sheet that holds something, and the rows of its tables.

Cells read as their sheet shows them, with two exceptions: a percentage or an amount is its stored
number (0.125), and dates are ISO dates. A formula is the value that was last saved for it, an
error is blank. A merged cell stands once, at its first place. Hidden sheets are left out.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from groundkit_core.errors import RefusedError
from groundkit_core.loading.extracted import Extracted, TextBuilder
from groundkit_core.loading.inline import plain
from groundkit_core.loading.rows import header_index, header_line
from groundkit_core.loading.sheet_size import check_sheets

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

__all__ = ["extract"]

Value: TypeAlias = int | float | str | bool | time | date | datetime | timedelta
Rows: TypeAlias = list[list[str]]
Place: TypeAlias = tuple[int, int]

_SAMPLE = 50
# Fewer empty columns stand within a table, as a spacer does.
_APART = 2
_COVERED = "\0"
# What a workbook that needs a password holds instead of a Zip archive.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def extract(data: bytes) -> Extracted:
    """The text of a workbook in any format of Excel, or of an OpenDocument spreadsheet."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    check_sheets(data)
    builder = TextBuilder()
    hidden = 0
    with _opened(data) as workbook:
        for sheet in workbook.sheets_metadata:
            if sheet.visible != SheetVisibleEnum.Visible:
                hidden += 1
            elif sheet.typ == SheetTypeEnum.WorkSheet:
                _add_sheet(builder, sheet.name, _rows(workbook, sheet.name))
    sheets = "sheet is" if hidden == 1 else "sheets are"
    return builder.extracted(warnings=[f"{hidden} hidden {sheets} left out"] if hidden else [])


def _opened(data: bytes) -> "CalamineWorkbook":
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        return CalamineWorkbook.from_filelike(BytesIO(data))
    except PasswordError:
        raise RefusedError("spreadsheet: it needs a password") from None
    except CalamineError:
        if _ENCRYPTED in data:
            raise RefusedError("spreadsheet: it needs a password") from None
        raise RefusedError("spreadsheet: it is broken, or in no format of a spreadsheet") from None


def _rows(workbook: "CalamineWorkbook", name: str) -> Rows:
    """The cells of a sheet as text, from its first filled row and column."""
    from python_calamine import CalamineError

    try:
        sheet = workbook.get_sheet_by_name(name)
        rows = [[_shown(value) for value in row] for row in sheet.to_python()]
    except CalamineError:
        raise RefusedError("spreadsheet: a sheet in it is broken") from None
    except OverflowError:
        raise RefusedError("spreadsheet: a duration in it is too long to be one") from None
    if rows and sheet.start is not None:
        _mark_merged(rows, sheet.merged_cell_ranges or [], *sheet.start)
    return rows


def _mark_merged(rows: Rows, merged: Sequence[tuple[Place, Place]], top: int, left: int) -> None:
    """Mark what a merged cell covers to its right: it stands apart from nothing there."""
    width = len(rows[0])
    # As many marks as cells are enough, however many areas a file names.
    spare = len(rows) * width
    for (row, first), (_, last) in merged:
        if spare <= 0 or not 0 <= row - top < len(rows):
            continue
        cells = rows[row - top]
        for column in range(max(first - left, 0), min(last - left + 1, width)):
            cells[column] = cells[column] or _COVERED
            spare -= 1


def _add_sheet(builder: TextBuilder, name: str, rows: Rows) -> None:
    if any(map(any, rows)):
        builder.heading(1, " ".join(plain(name).split()))
    for beneath in _apart_by_rows(rows):
        for beside in _apart_by_columns(beneath):
            for table in _apart_by_rows(beside):
                _add_table(builder, table)


def _add_table(builder: TextBuilder, rows: Rows) -> None:
    at = header_index(rows[:_SAMPLE])
    if at is None:
        builder.lined(_lines(rows))
        return
    builder.lined(_lines(rows[:at]))
    builder.lined(_lines(rows[at : at + 1]))
    builder.lined(_lines(rows[at + 1 :]), header_line(rows[at]))


def _lines(rows: Rows) -> str:
    return "\n".join(" | ".join(row).rstrip(" |").lstrip() for row in rows)


def _apart_by_rows(rows: Rows) -> Iterator[Rows]:
    """Runs of rows that are not empty."""
    for filled, run in groupby(rows, any):
        if filled:
            yield list(run)


def _apart_by_columns(rows: Rows) -> Iterator[Rows]:
    """Tables side by side, from left to right, without their empty columns."""
    columns: list[tuple[str, ...]] = []
    gap = 0
    for column in zip(*rows, strict=True):
        gap = 0 if any(column) else gap + 1
        if gap == _APART and columns:
            yield [list(row) for row in zip(*columns, strict=True)]
            columns = []
        texts = tuple(cell if cell != _COVERED else "" for cell in column)
        if any(texts):
            columns.append(texts)
    if columns:
        yield [list(row) for row in zip(*columns, strict=True)]


def _shown(value: Value) -> str:
    """A value as a person writes it."""
    if isinstance(value, str):
        return " ".join(plain(value).split())
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()


def _number(value: float) -> str:
    """A number with the 15 digits that spreadsheets count with, a whole one without a point."""
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"
