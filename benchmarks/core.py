"""Ingest and search of many documents, beside what they cannot do without."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import Report, Row, Table, Target
from benchmarks.startup import IMPORTS, grk, time_commands
from benchmarks.texts import write_documents

__all__ = ["run"]

FILES, QUICK_FILES = 50_000, 5_000
SECTIONS = 2

# Each side runs in a process of its own and times only its work, imports left out.
TOKENIZE = """
import pathlib, sys, time
import bm25s, Stemmer
texts = [path.read_text("utf-8") for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.md"))]
begin = time.perf_counter()
bm25s.tokenize(texts, stemmer=Stemmer.Stemmer("english"), show_progress=False)
print(time.perf_counter() - begin)
"""
WALK = """
import os, sys, time
begin = time.perf_counter()
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        os.lstat(os.path.join(folder, name))
print(time.perf_counter() - begin)
"""
INGEST = """
import sys, time
from groundkit_core import Collection
import groundkit_core.index.ingest, groundkit_core.loading.markdown
begin = time.perf_counter()
Collection.open(sys.argv[2] + "/default").ingest([sys.argv[1]])
print(time.perf_counter() - begin)
"""
MEMORY = """
import sys
sys.argv[0] = "grk"
from groundkit_cli.main import main
try:
    main()
finally:
    status = open("/proc/self/status").read()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("RssAnon"))
    print(kilobytes, file=sys.stderr)
"""


def run(*, quick: bool) -> Report:
    """Ratios to a tokenizer, to a walk over the files, and to bare imports."""
    files, repeats = (QUICK_FILES, 3) if quick else (FILES, 5)
    with TemporaryDirectory() as name:
        base = Path(name)
        documents, index = base / "documents", base / "index"
        words = _write(documents, files)
        size = sum(path.stat().st_size for path in documents.rglob("*.md")) / 1e6
        first = _median([("tokenize", TOKENIZE), ("first ingest", INGEST)], documents, index, 1)
        # The first run read them right after they were made; this one notes them as settled.
        _seconds(INGEST, documents, index)
        unchanged = _median([("stat walk", WALK), ("unchanged", INGEST)], documents, index, repeats)
        changed = _changed(documents, index, repeats)
        query = " ".join(words[rank] for rank in (40, 90, 250))
        search = [grk(), "search", query, "--index-dir", str(index)]
        searches = time_commands(
            {"grk search": search, "bare imports": [sys.executable, "-c", IMPORTS]},
            base,
            3 * repeats,
        )
        memory = _memory(search[1:])
    rows: list[Row] = [
        {"what": what, "seconds": seconds}
        for what, seconds in (*first.items(), *unchanged.items(), ("one file changed", changed))
    ]
    return Report(
        benchmark="core",
        quick=quick,
        peers=("bm25s", "PyStemmer", "numpy"),
        tables=[
            Table(f"{files} Markdown files, {size:.1f} MB", rows),
            Table("cold grk search, ms", searches),
            Table("memory of that search", [{"what": "RssAnon, MB", "value": memory}]),
        ],
        targets=[
            Target(
                "first ingest / bm25s.tokenize with stemmer",
                first["first ingest"] / first["tokenize"],
                at_most=5.0,
            ),
            Target(
                "unchanged ingest / stat walk",
                unchanged["unchanged"] / unchanged["stat walk"],
                at_most=4.0,
            ),
            Target(
                "one changed file / unchanged ingest", changed / unchanged["unchanged"], at_most=2.0
            ),
            Target("cold search / bare imports", searches[0]["ratio"], at_most=2.0),
            Target("private memory of a search, MB", memory, at_most=150.0),
        ],
    )


def _write(documents: Path, files: int) -> list[str]:
    words: list[str] = []
    for number in range(files // 500):
        folder = documents / f"{number:03}"
        folder.mkdir(parents=True)
        words = write_documents(folder, 500, SECTIONS, seed=number, per_section=10)
    return words


def _median(
    sides: list[tuple[str, str]], documents: Path, index: Path, repeats: int
) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name, _ in sides}
    for _ in range(repeats):
        for name, code in sides:
            times[name].append(_seconds(code, documents, index))
    return {name: sorted(found)[len(found) // 2] for name, found in times.items()}


def _seconds(code: str, documents: Path, index: Path) -> float:
    command = [sys.executable, "-c", code, str(documents), str(index)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _changed(documents: Path, index: Path, repeats: int) -> float:
    found = []
    for turn in range(repeats):
        path = documents / "000" / f"{turn:04}.md"
        path.write_text(path.read_text("utf-8") + "\nOne sentence more.\n", "utf-8")
        found.append(_seconds(INGEST, documents, index))
    return sorted(found)[len(found) // 2]


def _memory(arguments: list[str]) -> float:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, *arguments], check=True, capture_output=True, text=True
    )
    return int(done.stderr.split()[-1]) / 1000
