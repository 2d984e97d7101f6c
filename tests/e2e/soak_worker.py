"""A writer or a reader of the soak: `python -m tests.e2e.soak_worker ROLE COLLECTION LOG`."""

import random
import sys
import time
from pathlib import Path

from groundkit_core import Collection, Document

DOCUMENTS = 40


def text(source: str, stamp: int) -> str:
    """What a source holds at a stamp: a few passages, each naming the stamp."""
    rng = random.Random(f"{source} {stamp}")
    filler = " ".join(f"w{rng.randint(0, 400)}" for _ in range(rng.randint(20, 80)))
    return f"common stamp{stamp} {source}\n\n{filler}"


def write(collection: Collection, log: Path) -> None:
    """Rewrite all documents with the next stamp, again and again; log what was committed."""
    stamp = last_stamp(log)
    while True:
        stamp += 1
        # A killed run may have committed a stamp that it could not log.
        sources = [f"d{number}" for number in range(DOCUMENTS)]
        collection.add(Document.from_text(source, text(source, stamp)) for source in sources)
        with log.open("a") as out:
            out.write(f"{stamp}\n")
        if stamp % 25 == 0:
            collection.compact()


def last_stamp(log: Path) -> int:
    lines = log.read_text().splitlines() if log.exists() else []
    return int(lines[-1]) + 1 if lines else 0


def read(collection: Collection, log: Path) -> None:
    """Search and check every answer; log the number of searches and our memory in kB."""
    searches, until = 0, time.monotonic() + 1
    while True:
        response = collection.search("common", top_k=100, all_copies=True)
        stamps = {result.content.split()[1] for result in response.results}
        assert len(stamps) == 1, f"generation {response.generation} mixes {sorted(stamps)}"
        assert len(response.results) == DOCUMENTS, f"{len(response.results)} documents"
        (stamp,) = stamps
        for result in response.results:
            citation = result.citation
            source = text(citation.source, int(stamp.removeprefix("stamp")))
            assert source[citation.start : citation.end] == result.content, citation.source
        filed = collection.search("lighthouse", verify=True)
        assert [result.verification.status for result in filed.results if result.verification] == [
            "verified"
        ]
        searches += 2
        if time.monotonic() > until:
            until += 1
            status = Path("/proc/self/status").read_text()
            rss = next(
                line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")
            )
            with log.open("a") as out:
                out.write(f"{searches} {rss}\n")


if __name__ == "__main__":
    role, path, file = sys.argv[1:]
    {"write": write, "read": read}[role](Collection.open(path), Path(file))
