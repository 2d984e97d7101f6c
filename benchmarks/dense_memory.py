"""The private memory of a process that only searches: `python -m benchmarks.dense_memory ...`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from groundkit_core.embedding import Vectors

from benchmarks.dense_sides import SIDES

__all__ = ["private_megabytes"]


def private_megabytes(side: str, folder: Path, queries: Vectors, *, graph: bool) -> float:
    """RssAnon of a fresh process after some searches; NaN where the system does not tell."""
    if not Path("/proc/self/status").exists():
        return float("nan")
    np.save(folder / "queries.npy", queries)
    kind = "graph" if graph else "scan"
    command = [sys.executable, "-m", __name__, side, str(folder), kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main(side: str, folder: Path, kind: str) -> None:
    """Search as often as there are queries, then print the megabytes."""
    search = SIDES[side](folder, graph=kind == "graph").search()
    for query in np.load(folder / "queries.npy"):
        search(query)
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    print(int(next(line.split()[1] for line in lines if line.startswith("RssAnon"))) / 1000)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
