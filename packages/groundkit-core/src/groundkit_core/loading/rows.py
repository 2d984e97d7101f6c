"""Rows of tables: which of them is the header, and how that reads on one line."""

from collections.abc import Sequence

__all__ = ["header_index", "header_line"]

_LONGEST_CELL = 100
_LONGEST_HEADER = 300


def header_index(rows: Sequence[Sequence[str]]) -> int | None:
    """Which of a table's first rows is its header, if one is.

    It is the first row with more than one filled cell (what stands above it are titles), or the
    first row of all where none has more. All its cells but one are filled, with different short
    texts of which none is a number or date; and a row follows.
    """
    at = next((i for i, row in enumerate(rows) if sum(map(_filled, row)) > 1), 0)
    if at + 1 >= len(rows):
        return None
    names = [cell.strip() for cell in rows[at] if _filled(cell)]
    named = len(names) >= max(1, len(rows[at]) - 1) and len(set(names)) == len(names)
    return at if named and not any(map(_value, names)) else None


def header_line(cells: Sequence[str]) -> str:
    """The filled cells of a header, cut where they get too long for a heading path."""
    line = " | ".join(" ".join(cell.split()) for cell in cells if _filled(cell))
    return line if len(line) <= _LONGEST_HEADER else line[: _LONGEST_HEADER - 1] + "…"


def _filled(cell: str) -> bool:
    return bool(cell) and not cell.isspace()


def _value(cell: str) -> bool:
    """Whether a cell is a number, date, boolean or longer text, which no column is named by."""
    if len(cell) > _LONGEST_CELL or cell.lower() in {"true", "false"}:
        return True
    return any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell))
