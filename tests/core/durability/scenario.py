"""A small collection with a history, operations on it, and what must hold after any of them."""

import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from groundkit_core import Collection, Document
from groundkit_core.failpoints import set_hook
from groundkit_core.retrieval.filters import Condition

WORDS = [f"word{number}" for number in range(300)]
OLD = 1_600_000_000


def text(seed: int) -> str:
    rng = random.Random(seed)
    return "\n\n".join(
        " ".join(rng.choices(WORDS, k=rng.randint(5, 60))) for _ in range(rng.randint(1, 6))
    )


def write(folder: Path, name: str, seed: int) -> None:
    """Write a document with times that are long past, so that it counts as settled."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(seed), encoding="utf-8")
    os.utime(path, (OLD + seed, OLD + seed))


def metadata(document: Document) -> dict[str, object]:
    return {"length": len(document.text), "first": document.text.split()[:2]}


def build(base: Path) -> None:
    """Seven commits, so that the next one merges."""
    folder = base / "docs"
    for batch in range(7):
        for number in range(4):
            write(folder, f"b{batch}/n{number}.txt", seed=batch * 10 + number)
        collection(base).ingest([folder], metadata=metadata, lock_timeout=5)


def collection(base: Path) -> Collection:
    return Collection.open(base / "index" / "default")


def mutate(base: Path, seed: int) -> None:
    """Change, add and delete a few documents."""
    rng, folder = random.Random(seed), base / "docs"
    files = sorted(folder.rglob("*.txt"))
    for path in rng.sample(files, 4):
        write(folder, path.relative_to(folder).as_posix(), seed=1000 + seed)
    for path in rng.sample(sorted(set(files)), 2):
        path.unlink(missing_ok=True)
    for number in range(3):
        write(folder, f"new/s{seed}-{number}.txt", seed=5000 + 10 * seed + number)


def ingest(base: Path, seed: int) -> None:
    mutate(base, seed)
    collection(base).ingest([base / "docs"], metadata=metadata)


def ingest_only(base: Path, _: int) -> None:
    collection(base).ingest([base / "docs"], metadata=metadata)


def touch(base: Path, seed: int) -> None:
    for path in (base / "docs").rglob("*.txt"):
        os.utime(path, (OLD + 9000 + seed, OLD + 9000 + seed))
    collection(base).ingest([base / "docs"], metadata=metadata)


def compact(base: Path, _: int) -> None:
    collection(base).compact()


def reindex(base: Path, _: int) -> None:
    collection(base).reindex()


def delete(base: Path, _: int) -> None:
    collection(base).delete()


def killed(operation: Callable[[Path, int], None], base: Path, seed: int, at: str, n: int) -> bool:
    """Run an operation in a child that is killed at the n-th time it reaches `at`."""
    child = os.fork()
    if child == 0:
        left = n

        def hook(name: str) -> None:
            nonlocal left
            left -= name == at
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        set_hook(hook)
        try:
            operation(base, seed)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def versions(base: Path) -> dict[str, tuple[str, ...]]:
    """Passages of each document as the collection holds them."""
    with collection(base) as opened:
        return passages_of(opened)


def passages_of(opened: Collection) -> dict[str, tuple[str, ...]]:
    """Passages of each document."""
    return {
        passages[0][0].source: tuple(content for _, content in passages)
        for passages in opened.passages()
        if passages
    }


def rebuilt(base: Path, scratch: Path) -> Collection:
    """A new collection of the same documents."""
    shutil.rmtree(scratch, ignore_errors=True)
    opened = Collection.open(scratch / "default")
    opened.ingest([base / "docs"], metadata=metadata)
    return opened


def assert_whole(
    base: Path, before: dict[str, tuple[str, ...]], after: dict[str, tuple[str, ...]]
) -> None:
    """Sound, and every document is wholly as before or wholly as after."""
    with collection(base) as opened:
        assert opened.check() == []
    for source, passages in versions(base).items():
        assert passages in (before.get(source), after.get(source)), source
    for source in before.keys() & after.keys():
        assert source in versions(base), f"{source} was lost"


def assert_healed(base: Path, scratch: Path) -> None:
    """The next run completes; all verifies; nothing is left over; it equals a new collection."""
    with rebuilt(base, scratch) as fresh:
        assert_healed_as(base, fresh)


def assert_healed_as(base: Path, fresh: Collection) -> None:
    """As `assert_healed`, beside a new collection that is there already."""
    with collection(base) as opened:
        opened.ingest([base / "docs"], metadata=metadata, allow_removal=True)
        assert opened.check() == []
        for passages in opened.passages():
            assert {v.status for v in opened.verify_all(passages)} <= {"verified"}
        segments = {path.name for path in (opened.path / "segments").iterdir()}
        assert len(segments) == opened.info().segments
        for query in ("word1 word2 word3", "word7", "word250 word9"):
            assert scores(opened, query) == scores(fresh, query)


def scores(opened: Collection, query: str) -> list[tuple[float, str]]:
    """Score and id of the best passages, of all documents and of the long ones."""
    return [
        (result.score, result.citation.chunk_id)
        for filters in (None, Condition(key="length", at_least=600))
        for result in opened.search(query, top_k=50, filters=filters).results
    ]
