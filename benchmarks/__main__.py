"""`hatch run bench NAME [--quick] [--json FILE]`."""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.report import BenchmarkError, Report

BENCHMARKS = {
    "core": "ingest and search of many documents, beside what they cannot do without",
    "dense": "search among vectors, beside raw faiss and LanceDB",
    "documents": "words of HTML and Word files, beside markitdown",
    "index": "words looked up in an index, beside bm25s, SQLite FTS5 and tantivy",
    "meaning": "words, vectors and both on labelled sets, for two embedders",
    "quality": "lexical retrieval on labelled sets, beside bm25s",
    "redaction": "values found and taken for more than they are, by kind",
    "serve": "search over HTTP by some clients at once, beside the same search in the process",
    "startup": "one-shot commands, beside an empty app and bare imports",
}


def parser() -> argparse.ArgumentParser:
    """A command for each benchmark."""
    root = argparse.ArgumentParser(prog="hatch run bench")
    commands = root.add_subparsers(dest="name", metavar="NAME", required=True)
    for name, summary in BENCHMARKS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--quick", action="store_true", help="fewer repeats, less data")
        command.add_argument("--json", type=Path, metavar="FILE", help="write the figures too")
        if name == "quality":
            command.add_argument("--set", dest="only", metavar="NAME", help="measure one set")
        if name in ("dense", "index"):
            command.add_argument("--size", type=int, metavar="N", help="measure one size")
        if name == "redaction":
            command.add_argument("--write", action="store_true", help="write the table of the docs")
    return root


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one benchmark; a missed target is printed and is no failure."""
    options = vars(parser().parse_args(arguments))
    name, file = options.pop("name"), options.pop("json")
    try:
        report: Report = import_module(f"benchmarks.{name}").run(**options)
    except ModuleNotFoundError as error:
        sys.exit(f"bench: {error.name} is not installed here; run: hatch run bench {name}")
    except BenchmarkError as error:
        sys.exit(f"bench: {error}")
    print(report.text())
    if file is not None:
        file.write_text(json.dumps(report.document(), indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
