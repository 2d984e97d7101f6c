"""Workbooks written by hand, so that a test knows what each cell stores."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import TypeAlias
from xml.sax.saxutils import escape, quoteattr

__all__ = ["Days", "Formula", "Value", "workbook"]

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006"
_KINDS = "application/vnd.openxmlformats-officedocument.spreadsheetml"
# Number formats by style: none, a date, a date with its time, a duration.
_STYLES = f"""<styleSheet {_MAIN}><numFmts count="1"><numFmt numFmtId="170" formatCode="[h]:mm:ss"/>
</numFmts><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="170"/>
</cellXfs></styleSheet>"""
_DAY = timedelta(days=1)
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001


@dataclass(frozen=True)
class Formula:
    """A formula with the value that was last saved for it."""

    text: str
    value: float


@dataclass(frozen=True)
class Days:
    """A duration of more days than Python counts."""

    number: str


Value: TypeAlias = str | float | bool | date | time | timedelta | Days | Formula | None
Cells: TypeAlias = Mapping[tuple[int, int], Value] | Sequence[Sequence[Value]]


def workbook(
    sheets: Mapping[str, Cells],
    *,
    hidden: Sequence[str] = (),
    merged: Mapping[str, Sequence[str]] | None = None,
) -> bytes:
    """The bytes of a workbook; a sheet is its rows from A1, or its cells by (row, column)."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _content_types(len(sheets)))
        archive.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        targets = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
        archive.writestr(
            "xl/_rels/workbook.xml.rels", _relations([*targets, ("styles", "styles.xml")])
        )
        archive.writestr("xl/workbook.xml", _book(list(sheets), hidden))
        archive.writestr("xl/styles.xml", _STYLES)
        for number, (name, cells) in enumerate(sheets.items(), 1):
            areas = (merged or {}).get(name, ())
            archive.writestr(f"xl/worksheets/sheet{number}.xml", _sheet(cells, areas))
    return stream.getvalue()


def _column_name(column: int) -> str:
    """The letters of a column counted from 0."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


def _sheet(cells: Cells, areas: Sequence[str]) -> str:
    if not isinstance(cells, Mapping):
        rows = enumerate(cells)
        cells = {(r, c): value for r, row in rows for c, value in enumerate(row)}
    lines: dict[int, list[str]] = {}
    for (row, column), value in sorted(cells.items(), key=lambda cell: cell[0]):
        lines.setdefault(row, []).append(_cell(f"{_column_name(column)}{row + 1}", value))
    body = "".join(f'<row r="{row + 1}">{"".join(found)}</row>' for row, found in lines.items())
    joined = "".join(f'<mergeCell ref="{area}"/>' for area in areas)
    joined = f"<mergeCells>{joined}</mergeCells>" if joined else ""
    return f"<worksheet {_MAIN}><sheetData>{body}</sheetData>{joined}</worksheet>"


def _cell(place: str, value: Value) -> str:
    if value is None:
        return f'<c r="{place}" s="1"/>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, str):
        kept = f'<t xml:space="preserve">{escape(value)}</t>'
        return f'<c r="{place}" t="inlineStr"><is>{kept}</is></c>'
    if isinstance(value, Formula):
        return f'<c r="{place}"><f>{escape(value.text)}</f><v>{value.value!r}</v></c>'
    if isinstance(value, Days):
        return f'<c r="{place}" s="3"><v>{value.number}</v></c>'
    if isinstance(value, timedelta):
        return f'<c r="{place}" s="3"><v>{value / _DAY!r}</v></c>'
    if isinstance(value, time):
        since = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
        return f'<c r="{place}" s="2"><v>{since / _DAY!r}</v></c>'
    if isinstance(value, datetime):
        return f'<c r="{place}" s="2"><v>{(value - _EPOCH) / _DAY!r}</v></c>'
    if isinstance(value, date):
        return f'<c r="{place}" s="1"><v>{(value - _EPOCH.date()).days}</v></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def _book(names: Sequence[str], hidden: Sequence[str]) -> str:
    sheets = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="r{n}"'
        f"{' state=' + quoteattr('hidden') if name in hidden else ''}/>"
        for n, name in enumerate(names, 1)
    )
    return f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>'


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    found = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_TYPES}/relationships">{found}</Relationships>'


def _content_types(count: int) -> str:
    parts = {"/xl/workbook.xml": "sheet.main", "/xl/styles.xml": "styles"}
    parts |= {f"/xl/worksheets/sheet{n}.xml": "worksheet" for n in range(1, count + 1)}
    found = "".join(
        f'<Override PartName="{name}" ContentType="{_KINDS}.{kind}+xml"/>'
        for name, kind in parts.items()
    )
    rels = "application/vnd.openxmlformats-package.relationships+xml"
    return (
        f'<Types xmlns="{_TYPES}/content-types"><Default Extension="rels" ContentType="{rels}"/>'
        f"{found}</Types>"
    )
