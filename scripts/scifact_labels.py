"""Write a sample of SciFact's claims as labels for `grk eval calibrate`.

A claim counts as an answer and its cited abstract as the source. Its annotators had another rubric
than our judge, so what comes of it is advisory whatever it says.
"""

import gzip
import json
import random
import sys
from pathlib import Path
from typing import Any

from groundkit_evals.artifacts import write_artifact
from groundkit_evals.dataset import hash_of
from groundkit_evals.labels import Label, LabelSet

__all__ = ["RUBRIC", "main", "sample"]

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "faith_scifact_dev"
RUBRIC = "SciFact: an abstract supports a claim, contradicts it, or says too little about it"
ORIGIN = (
    "SciFact's dev claims with their cited abstracts; only SUPPORT counts as faithful "
    "(claims and annotations CC BY 4.0, abstracts ODC-By 1.0)"
)
OF_EACH, SEED = 20, 0


def sample(rows: list[dict[str, Any]]) -> LabelSet:
    """As many supported as unsupported claims, always the same."""
    rng = random.Random(SEED)
    chosen = [
        row
        for faithful in (1, 0)
        for row in rng.sample([row for row in rows if row["binary"] == faithful], OF_EACH)
    ]
    labels = tuple(
        Label(
            id=row["id"],
            question=row["question"],
            answer=row["answer"],
            sources=tuple(row["sources"]),
            faithful=bool(row["binary"]),
        )
        for row in sorted(chosen, key=lambda row: row["id"])
    )
    return LabelSet(rubric_hash=hash_of([RUBRIC]), origin=ORIGIN, labels=labels)


def main(target: str) -> None:
    """Write the sample to a file."""
    with gzip.open(DATA / "data.jsonl.gz", "rt", encoding="utf-8") as stream:
        write_artifact(Path(target), sample([json.loads(line) for line in stream]))


if __name__ == "__main__":
    main(sys.argv[1])
