"""How large a table the sheets of a workbook span, told before anything is laid out as one."""

import re
import zipfile
from io import BytesIO
from typing import IO

from groundkit_core.errors import RefusedError
from groundkit_core.loading.archive import check_zip

__all__ = ["check_sheets"]

# The reader lays a sheet out from its first to its last filled cell, at 32 bytes a cell.
_MOST_CELLS = 10_000_000
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_DIMENSION = re.compile(rb'<(?:\w+:)?dimension ref="[A-Z]+\d+:([A-Z]+)(\d+)"')
_FILLED = re.compile(
    rb'<(?:\w+:)?c (?:[^<>]{0,200}? )??r="([A-Z]{1,4})(\d{1,8})"[^<>]{0,200}(?<!/)>(?!</)'
)
_PART = 1 << 20
_LONGEST_TAG = 4096


def check_sheets(data: bytes) -> None:
    """Refuse a workbook that is no safe archive, or one of whose sheets spans too many cells."""
    if not data.startswith(b"PK"):
        return
    check_zip(data, "spreadsheet")
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for name in filter(_SHEET.fullmatch, archive.namelist()):
            with archive.open(name) as stream:
                if _area(stream) > _MOST_CELLS:
                    raise RefusedError(f"spreadsheet: a sheet spans over {_MOST_CELLS:,} cells")


def _area(stream: IO[bytes]) -> int:
    """Cells from A1 to the last one; those without a value count only where need be."""
    head = stream.read(_LONGEST_TAG)
    said = _DIMENSION.search(head)
    if said is not None and (area := _column(said[1]) * int(said[2])) <= _MOST_CELLS:
        return area
    columns = rows = 0
    while True:
        part = stream.read(_PART)
        for match in _FILLED.finditer(head + part):
            columns, rows = max(columns, _column(match[1])), max(rows, int(match[2]))
        if not part:
            return columns * rows
        head = part[-_LONGEST_TAG:]


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
