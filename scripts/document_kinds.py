"""What comes of real documents, by kind: python -m scripts.document_kinds FOLDER... [--write]."""

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath

from groundkit_core import Collection, IngestReport

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "documents.md"
BEGIN, END = "<!-- figures: python -m scripts.document_kinds -->", "<!-- end of figures -->"
STATUSES = ("indexed", "partial", "refused")


def table(reports: Sequence[IngestReport]) -> str:
    """Files, outcomes and passages by suffix, as Markdown."""
    counts: dict[str, Counter[str]] = {}
    for report in reports:
        for outcome in report.files:
            suffix = PurePath(outcome.source).suffix.lower() or "(none)"
            kind = counts.setdefault(suffix, Counter())
            kind[outcome.status] += 1
            kind["passages"] += outcome.chunks
    rows = [
        "| kind | files | indexed | partial | refused | passages |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for suffix, kind in sorted(counts.items()):
        figures = [kind[status] for status in STATUSES]
        cells = (f"`{suffix}`", sum(figures), *figures, kind["passages"])
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def written() -> str:
    """The table that the page holds."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0].strip()


def main() -> None:
    """Ingest the folders into a new collection and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put it into the page")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        collection = Collection.open(Path(home) / "index" / "c")
        found = table([collection.ingest([folder]) for folder in given.folders])
    print(found)
    if given.write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{found}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
