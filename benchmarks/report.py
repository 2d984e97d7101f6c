"""What a benchmark hands back: tables of figures, and targets that are named, never enforced."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

__all__ = ["BenchmarkError", "Report", "Table", "Target"]

OURS = ("groundkit-core", "groundkit-cli")
Row = dict[str, Any]
"""A value for each column: text or a number."""


class BenchmarkError(Exception):
    """A benchmark cannot run here."""


@dataclass(frozen=True)
class Table:
    """Rows with the same keys, in the order in which they are shown."""

    title: str
    rows: Sequence[Row]

    def lines(self) -> Iterable[str]:
        """The table as text, numbers to the right."""
        yield self.title
        columns = list(self.rows[0])
        cells = [columns, *([_cell(row[column]) for column in columns] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        is_text = [isinstance(self.rows[0][column], str) for column in columns]
        for line in cells:
            parts = [
                cell.ljust(width) if text else cell.rjust(width)
                for cell, width, text in zip(line, widths, is_text, strict=True)
            ]
            yield "  " + "  ".join(parts).rstrip()


@dataclass(frozen=True)
class Target:
    """A figure with the limit it is hoped to keep."""

    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Whether the figure keeps the limit."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    def line(self) -> str:
        """One sentence on it."""
        limits = [
            f"{words} {limit}"
            for words, limit in (("at most", self.at_most), ("at least", self.at_least))
            if limit is not None
        ]
        verdict = "met" if self.met else "MISSED"
        return f"target {verdict}: {self.what}: {self.value:.3f} ({', '.join(limits)})"


@dataclass(frozen=True)
class Report:
    """The result of one run; `peers` are the distributions that were measured beside ours."""

    benchmark: str
    quick: bool
    peers: Sequence[str]
    tables: Sequence[Table]
    targets: Sequence[Target] = ()

    @property
    def environment(self) -> dict[str, Any]:
        """What the figures depend on and a reader may know."""
        return {
            "python": platform.python_version(),
            "system": platform.system(),
            "cpus": os.cpu_count(),
            "versions": {name: version(name) for name in (*OURS, *self.peers)},
        }

    def text(self) -> str:
        """The report as people read it."""
        environment = self.environment
        versions = ", ".join(f"{name} {found}" for name, found in environment["versions"].items())
        machine = f"{environment['system']}, {environment['cpus']} CPUs"
        name = f"{self.benchmark} (quick)" if self.quick else self.benchmark
        lines = [f"{name}: Python {environment['python']}, {machine}; {versions}"]
        for table in self.tables:
            lines += ["", *table.lines()]
        if self.targets:
            lines += ["", *(target.line() for target in self.targets)]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """The report as JSON would hold it."""
        return {
            "benchmark": self.benchmark,
            "quick": self.quick,
            "environment": self.environment,
            "tables": [asdict(table) for table in self.tables],
            "targets": [{**asdict(target), "met": target.met} for target in self.targets],
        }


def _cell(value: str | float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
