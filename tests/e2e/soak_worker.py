"""A writer or a reader of the soak: `python -m tests.e2e.soak_worker ROLE COLLECTION LOG`."""

import json
import random
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from groundkit_core import Collection, Document
from groundkit_core.contracts import SearchMode, SearchResponse
from groundkit_core.index import merge
from groundkit_core.retrieval.filters import Condition
from groundkit_core.testing import InMemoryEmbedder

SOURCES = [f"d{number}" for number in range(60)]
BEACON = "beacon"
QUERIES = (BEACON, "common w7", "w1 w2 w3", "w11")
EVEN = Condition(key="even", equals=True)
MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
ASKED: list[tuple[SearchMode, bool]] = [(mode, even) for mode in MODES for even in (False, True)]

Held = dict[str, int]
"""The stamp that each source bears."""
Places = list[list[tuple[float, str]]]


def text(source: str, stamp: int) -> str:
    """What a source holds at a stamp: a few passages, each naming both."""
    rng = random.Random(f"{source} {stamp}")
    return "\n\n".join(
        f"common {source} stamp{stamp} part{part} "
        + " ".join(f"w{rng.randint(0, 60)}" for _ in range(rng.randint(20, 120)))
        for part in range(rng.randint(1, 4))
    )


def documents(held: Held) -> list[Document]:
    return [
        Document.from_text(
            source,
            f"{BEACON} stamp{stamp}" if source == BEACON else text(source, stamp),
            metadata={"even": stamp % 2 == 0},
        )
        for source, stamp in held.items()
    ]


def step(stamp: int) -> tuple[set[str], Held]:
    """The sources that a step removes, and those that it writes then."""
    rng = random.Random(f"step {stamp}")
    removed = set(rng.sample(SOURCES, rng.choice((0, 0, 3))))
    return removed, dict.fromkeys([*rng.sample(SOURCES, rng.randint(1, 4)), BEACON], stamp)


_states: list[Held] = [dict.fromkeys([*SOURCES, BEACON], 0)]


def held_at(stamp: int) -> Held:
    """What the collection holds after a step."""
    while len(_states) <= stamp:
        removed, written = step(len(_states))
        kept = {source: at for source, at in _states[-1].items() if source not in removed}
        _states.append(kept | written)
    return _states[stamp]


def ask(collection: Collection, mode: SearchMode, even: bool) -> list[SearchResponse]:
    filters = EVEN if even else None
    return collection.search_many(QUERIES, top_k=20, mode=mode, filters=filters)


def places(responses: Iterable[SearchResponse]) -> Places:
    return [
        [(result.score, result.citation.chunk_id) for result in response.results]
        for response in responses
    ]


def stamp_of(content: str) -> int:
    found = next(word for word in content.split() if word.startswith("stamp"))
    return int(found.removeprefix("stamp"))


def write(collection: Collection, log: Path) -> None:
    """Take step after step, merging and compacting; log what was committed."""
    # So that the tiers of a small collection fill.
    merge._SMALLEST_TIER = 16
    collection.embed()
    (beacon, *_) = collection.search(BEACON).results
    stamp = stamp_of(beacon.content)
    while True:
        stamp += 1
        removed, written = step(stamp)
        # A killed run may have removed them already.
        there = {held[0][0].source for held in collection.passages()}
        if gone := sorted(removed & there):
            collection.remove(gone)
        collection.add(documents(written))
        with log.open("a") as out:
            out.write(f"{stamp}\n")
        kind = random.Random(f"after {stamp}").random()
        if kind < 0.08:
            collection.compact()
        elif kind < 0.1:
            collection.reindex()


def last_stamp(log: Path) -> int:
    lines = log.read_text().splitlines() if log.exists() else []
    return int(lines[-1]) if lines else 0


def check(responses: Sequence[SearchResponse], even: bool) -> None:
    """Each passage stands where it is cited, and the filter let it through."""
    for response in responses:
        assert response.generation == responses[0].generation
        for result in response.results:
            citation, stamp = result.citation, stamp_of(result.content)
            assert stamp % 2 == 0 or not even, citation.source
            if citation.source in SOURCES:
                source = text(citation.source, stamp)
                assert source[citation.start : citation.end] == result.content, citation.source


def read(collection: Collection, log: Path) -> None:
    """Search and check; log answers with their generation's stamp, and our memory in kB."""
    rng, searches, until = random.Random(str(log)), 0, time.monotonic()
    while True:
        mode, even = rng.choice(ASKED)
        before, asked = ask(collection, "bm25", False), ask(collection, mode, even)
        check(before, False)
        check(asked, even)
        filed = collection.search("lighthouse", verify=True)
        assert [result.verification.status for result in filed.results if result.verification] == [
            "verified"
        ]
        searches += 2 * len(QUERIES) + 1
        time.sleep(0.02)  # the writer needs the processor too
        if time.monotonic() > until and before[0].generation == asked[0].generation:
            until = time.monotonic() + 0.25
            stamp = stamp_of(before[0].results[0].content)
            with log.open("a") as out:
                out.write(json.dumps([searches, memory(), stamp, mode, even, places(asked)]) + "\n")


def memory() -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


if __name__ == "__main__":
    role, path, file = sys.argv[1:]
    opened = Collection.open(path, embedder=InMemoryEmbedder(16))
    {"write": write, "read": read}[role](opened, Path(file))
