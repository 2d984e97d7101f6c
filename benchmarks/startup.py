"""How long one-shot commands take, beside an empty app and beside bare imports."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from groundkit_cli.app import app
from groundkit_core import Collection

from benchmarks.empty_app import empty_app
from benchmarks.report import BenchmarkError, Report, Row, Table, Target
from benchmarks.texts import write_documents

__all__ = ["IMPORTS", "grk", "run", "seconds", "time_commands"]

CHUNKS = 3_000
SECTIONS = 10
IMPORTS = "import numpy, sqlite3, typer; from pydantic import BaseModel"
Command = list[str]


def run(*, quick: bool) -> Report:
    """Medians of interleaved runs, each a fresh process whose output goes nowhere."""
    repeats = 5 if quick else 20
    with TemporaryDirectory() as name:
        folder = Path(name)
        helps = time_commands(_help_commands(folder), folder, repeats)
        searches = time_commands(_search_commands(folder), folder, repeats)
    return Report(
        benchmark="startup",
        quick=quick,
        peers=("typer", "numpy", "pydantic"),
        tables=[
            Table(f"grk --help, ms, {repeats} runs each", helps),
            Table(f"grk search, {CHUNKS} passages, 10 verified hits, ms", searches),
        ],
        targets=[
            Target("grk --help / an empty app's", helps[0]["ratio"], at_most=1.2),
            Target("grk search / bare imports", searches[0]["ratio"], at_most=2.0),
        ],
    )


def grk() -> str:
    """The script beside the running interpreter, so that both sides start the same Python."""
    found = shutil.which("grk", path=str(Path(sys.executable).parent))
    if found is None:
        raise BenchmarkError("there is no grk beside this Python")
    return found


def _help_commands(folder: Path) -> dict[str, Command]:
    # As an installed command: a short script that imports a module, whose bytecode is cached.
    (folder / "empty_app.py").write_text(empty_app(app), "utf-8")
    script = folder / "grk"
    script.write_text("import sys\nfrom empty_app import main\nsys.exit(main())\n", "utf-8")
    return {
        "grk --help": [grk(), "--help"],
        "empty app --help": [sys.executable, str(script), "--help"],
    }


def _search_commands(folder: Path) -> dict[str, Command]:
    documents = folder / "documents"
    documents.mkdir()
    words = write_documents(documents, CHUNKS // SECTIONS, SECTIONS)
    with Collection.open(folder / "index" / "default") as collection:
        collection.ingest([documents])
        held = collection.info().chunks
    if held != CHUNKS:
        raise BenchmarkError(f"the texts made {held} passages, not {CHUNKS}")
    query = " ".join(words[rank] for rank in (40, 90, 250))
    search = [grk(), "search", query, "--index-dir", str(folder / "index")]
    _check_hits([*search, "--json"])
    return {"grk search": search, f'python -c "{IMPORTS}"': [sys.executable, "-c", IMPORTS]}


def _check_hits(command: Command) -> None:
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    verdicts = [result["verification"]["status"] for result in found["results"]]
    if verdicts != ["verified"] * 10:
        raise BenchmarkError(f"the search gave {verdicts}, not ten verified hits")


def time_commands(commands: dict[str, Command], folder: Path, repeats: int) -> list[Row]:
    """A row for each command; the last one is the peer of all."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(repeats + 1):
        for name, command in commands.items():
            taken = seconds(command, folder)
            if turn:  # the first turn warms caches
                times[name].append(taken * 1000)
    peer = statistics.median(list(times.values())[-1])
    return [
        {
            "command": name,
            "median": statistics.median(found),
            "least": min(found),
            "ratio": statistics.median(found) / peer,
        }
        for name, found in times.items()
    ]


def seconds(command: Command, folder: Path) -> float:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith(("GROUNDKIT", "COVERAGE"))
    }
    begin = time.perf_counter()
    subprocess.run(
        command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL, timeout=60
    )
    return time.perf_counter() - begin
