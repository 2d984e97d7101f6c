"""Kills, full disks and flipped bytes at ten and twenty thousand passages with vectors."""

import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_core import ChunkingConfig, Collection, Document, GroundkitError
from groundkit_core.contracts import SearchMode
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.retrieval.filters import Condition
from groundkit_core.testing import InMemoryEmbedder

from tests.core.durability.scenario import killed
from tests.core.durability.test_disk import in_namespace
from tests.note import Note

WORDS = [f"word{number}" for number in range(4000)]
QUERIES = ("word1 word2", "word77 word300 word9")
MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
EVEN = Condition(key="even", equals=True)
Answers = list[list[tuple[float, str]]]

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(0)]


def opened(path: Path, dimensions: int = 16) -> Collection:
    return Collection.open(path, embedder=InMemoryEmbedder(dimensions))


def answers(collection: Collection) -> Answers:
    """Best passages in every mode, with and without a filter."""
    return [
        [(result.score, result.citation.chunk_id) for result in response.results]
        for query in QUERIES
        for mode in MODES
        for filters in (None, EVEN)
        for response in [collection.search(query, mode=mode, filters=filters)]
    ]


def paragraphs(seed: int, number: int, words: int) -> str:
    chance = random.Random(seed)
    return "\n\n".join(" ".join(chance.choices(WORDS, k=words)) for _ in range(number))


def write(docs: Path, number: int, seed: int, many: int = 1) -> None:
    path = docs / f"{number // 500}" / f"{number}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    even = str(number % 2 == 0).lower()
    path.write_text(f"---\neven: {even}\n---\n\n{paragraphs(seed, many, 20)}\n")


# Killed again and again


DIMENSIONS = 384
FILES = 10_000
STEPS = (
    "file.read", "segment.written", "segment.synced", "segment.named", "commit.begun",
    "commit.rows", "commit.segment", "commit.buried", "commit.done", "checkpoint.done",
)  # fmt: skip


def ingest(base: Path, _: int = 0) -> None:
    with opened(base / "index" / "c", DIMENSIONS) as collection:
        collection.ingest([base / "docs"])


def ingest_with_kills(base: Path, kills: int, chance: random.Random) -> list[str]:
    """Ingest until it is done, killed on the way; what it left behind is sound each time."""
    at: list[str] = []
    while len(at) < kills:
        step = chance.choice(STEPS)
        nth = chance.randrange(1, FILES // 8 if step == "file.read" else 4)
        if not killed(ingest, base, 0, step, nth):
            break
        at.append(step)
        with opened(base / "index" / "c", DIMENSIONS) as collection:
            if collection.exists():
                assert collection.check() == []
                for mode in MODES if collection.info().vectors else MODES[:1]:
                    collection.search("word1 word2", mode=mode)
    ingest(base)
    return at


def vector_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in (path / "segments").glob("*.vec"))


def test_ten_thousand_documents_with_vectors_survive_kills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note: Note
) -> None:
    chance, path = random.Random(45), tmp_path / "index" / "c"
    for number in range(FILES):
        write(tmp_path / "docs", number, seed=number)
    at = ingest_with_kills(tmp_path, 6, chance)
    for number in chance.sample(range(FILES), 2500):
        if number % 5:
            write(tmp_path / "docs", number, seed=FILES + number)
        else:
            (tmp_path / "docs" / f"{number // 500}" / f"{number}.md").unlink()
    at += ingest_with_kills(tmp_path, 6, chance)
    with opened(path, DIMENSIONS) as collection, opened(tmp_path / "new", DIMENSIONS) as rebuilt:
        rebuilt.ingest([tmp_path / "docs"])
        live = len(list((tmp_path / "docs").rglob("*.md")))
        assert collection.info().vectors == collection.info().chunks == live
        assert collection.check() == []
        assert answers(collection) == answers(rebuilt)
        raw = live * DIMENSIONS * 4
        ratios = [vector_bytes(path) / raw]
        for module in ("dense", "spaces"):
            monkeypatch.setattr(f"groundkit_core.index.{module}.GRAPH_FROM", 1000)
        collection.compact()
        assert collection.info().vector_index == "graph"
        assert collection.check() == []
        ratios.append(vector_bytes(path) / raw)
    note(f"killed {len(at)} times, vector files {ratios[0]:.2f} and {ratios[1]:.2f} x raw")
    assert len(at) >= 6
    assert max(ratios) <= 1.3


# A full disk, and one that is read-only


BATCHES = 8
CHUNKING = ChunkingConfig(size=20)


def batch(number: int) -> list[Document]:
    """2,500 passages; eight batches of them are merged into one segment."""
    return [
        Document.from_text(
            f"d{number}-{n}", paragraphs(1000 * number + n, 10, 20), metadata={"even": n % 2 == 0}
        )
        for n in range(250)
    ]


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of seven batches, which the eighth makes merge."""
    path = tmp_path_factory.mktemp("seven") / "c"
    with opened(path) as collection:
        for number in range(BATCHES - 1):
            collection.add(batch(number), chunking=CHUNKING)
        assert collection.info().segments == BATCHES - 1
    return path


FILL = """
import json, shutil, sys
from contextlib import suppress
from pathlib import Path
from groundkit_core import GroundkitError
from groundkit_core.failpoints import set_hook
from tests.e2e.test_index_at_size import BATCHES, answers, batch, opened

source, disk = Path(sys.argv[1]), Path(sys.argv[2])
before, after = json.loads(Path(sys.argv[3]).read_text())


def places(collection):
    return json.loads(json.dumps(answers(collection)))


for step, nth in (
    ("commit.begun", 1),
    ("commit.done", 1),
    ("segment.written", 2),
    ("merge.written", 1),
    ("merge.swapped", 1),
    ("checkpoint.done", 1),
):
    path, left = disk / "c", nth
    shutil.copytree(source, path)

    def fill(name):
        global left
        left -= name == step
        if not left and not (disk / "ballast").exists():
            with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as out:
                while out.write(bytes(4096)) == 4096:
                    pass

    set_hook(fill)
    try:
        opened(path).add(batch(BATCHES - 1))
    except GroundkitError as error:
        said = f"{type(error).__name__}: {error}"
    else:
        said = "it fitted"
    set_hook(None)
    assert (disk / "ballast").exists(), step
    collection = opened(path)
    assert collection.check() == [], (step, collection.check())
    words = places(collection)[:2]
    assert words in (before[:2], after[:2]), step
    collection.close()
    (disk / "ballast").unlink()
    collection = opened(path)
    collection.add(batch(BATCHES - 1))
    assert collection.check() == [], (step, collection.check())
    assert places(collection) == after, step
    collection.compact()
    assert collection.check() == []
    assert places(collection) == after, step
    collection.close()
    shutil.rmtree(path)
    print(json.dumps([step, nth, said, words == after[:2]]))
"""


def test_a_disk_that_fills_in_the_midst_of_a_merge_loses_nothing(
    seven: Path, tmp_path: Path, note: Note
) -> None:
    whole, disk = tmp_path / "whole" / "c", tmp_path / "disk"
    shutil.copytree(seven, whole)
    before = answers(opened(whole))
    opened(whole).add(batch(BATCHES - 1))
    assert opened(whole).info().chunks == 20_000
    assert len(list((whole / "segments").glob("*.lex"))) == 1
    expected, script = tmp_path / "expected", tmp_path / "fill.py"
    expected.write_text(json.dumps([before, answers(opened(whole))]))
    script.write_text(FILL)
    disk.mkdir()
    done = in_namespace(
        f"mount -t tmpfs -o size=120m tmpfs {disk} && "
        f"{sys.executable} {script} {seven} {disk} {expected}"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    for step, nth, message, _ in said:
        note(f"{step} {nth}: {message}")
        if message == "it fitted":
            assert step in ("merge.swapped", "checkpoint.done")
        else:
            assert message.startswith("CollectionError: ")
            assert "the disk is full" in message or "No space left" in message
    # In the midst of the merge the commit stood already.
    assert [took for step, nth, _, took in said if step == "commit.done" or nth == 2] == [True] * 2


READ = """
import json, sys
from pathlib import Path
from tests.e2e.test_index_at_size import answers, opened

with opened(Path(sys.argv[1])) as collection:
    print(json.dumps(answers(collection)), collection.check())
"""


def test_a_read_only_mount_is_searched_in_every_mode(seven: Path, tmp_path: Path) -> None:
    index, script = seven.parent, tmp_path / "read.py"
    expected = json.dumps(answers(opened(seven)))
    opened(seven).close()
    script.write_text(READ)
    done = in_namespace(
        f"mount --bind {index} {index} && mount -o remount,ro,bind {index} && "
        f"! touch {index}/x 2>/dev/null && {sys.executable} {script} {seven}"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == f"{expected} []"


# Flipped bytes


FLIPS = 40


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder `docs` and collection `index/c` of it: several segments, a tenth of it dead."""
    base = tmp_path_factory.mktemp("sound")
    with opened(base / "index" / "c") as collection:
        for part in range(4):
            for number in range(500 * part, 500 * part + 500):
                write(base / "docs", number, seed=number, many=10)
            collection.ingest([base / "docs"], chunking=CHUNKING)
        for number in range(0, 2000, 10):
            write(base / "docs", number, seed=5000 + number, many=10)
        collection.ingest([base / "docs"])
        assert collection.info().chunks >= 20_000
        assert len(list((collection.path / "segments").iterdir())) >= 8
        assert collection.check() == []
    return base


Flip = tuple[Path, int, int]


def flip(file: Path, at: int, mask: int) -> None:
    with file.open("r+b") as held:
        held.seek(at)
        byte = held.read(1)[0]
        held.seek(at)
        held.write(bytes([byte ^ mask]))


def said(base: Path) -> tuple[list[object], list[str]]:
    """What searches give or report, all of it verified, and what a check finds."""
    outcomes: list[object] = []
    with opened(base / "index" / "c") as collection:
        for query in QUERIES:
            for mode in MODES:
                for filters in (None, EVEN):
                    try:
                        response = collection.search(query, mode=mode, filters=filters, verify=True)
                    except GroundkitError as error:
                        outcomes.append(f"{type(error).__name__}: {error}")
                        continue
                    for result in response.results:
                        assert result.verification is not None
                        if result.verification.status in ("verified", "moved"):
                            text = (base / result.citation.source).read_text()
                            assert result.content in text, "altered text served as verified"
                    outcomes.append(json.loads(response.model_dump_json(exclude={"generation"})))
        try:
            findings = collection.check()
        except GroundkitError as error:
            findings = [str(error)]
    return outcomes, findings


def in_child(work: Callable[[], object], folder: Path, seconds: int = 120) -> tuple[int, object]:
    """The exit code of a child that did the work, and what the work gave."""
    out = folder / "said"
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        code = 1
        try:
            out.write_text(json.dumps(work()))
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, json.loads(out.read_text()) if code == 0 else None


def test_a_flipped_byte_is_harmless_or_reported_and_heals(
    sound: Path, tmp_path: Path, note: Note
) -> None:
    chance, base = random.Random(47), tmp_path / "base"
    shutil.copytree(sound, base)
    right, findings = said(base)
    assert findings == []
    path = base / "index" / "c"
    files = [path / "collection.db", *sorted((path / "segments").iterdir())]
    harmful: list[Flip] = []
    failures: list[tuple[str, int, int, object]] = []
    for _ in range(FLIPS):
        file = chance.choice([files[0], chance.choice(files[1:])])
        change = (file, chance.randrange(file.stat().st_size), 1 << chance.randrange(8))
        flip(*change)
        code, outcome = in_child(lambda: said(base), tmp_path)
        flip(*change)
        if not isinstance(outcome, list):
            failures.append((file.name, *change[1:], f"exit {code}"))
            continue
        got, findings = outcome
        if findings:
            harmful.append(change)
            if file != files[0] and not any(file.name in finding for finding in findings):
                failures.append((file.name, *change[1:], findings))
        elif got != json.loads(json.dumps(right)):
            failures.append((file.name, *change[1:], "other answers, and nothing is found"))
    of_database = [change for change in harmful if change[0] == files[0]]
    of_segments = {change[0]: change for change in harmful if change[0] != files[0]}
    note(f"{FLIPS} flips, {len(harmful)} reported, {len(of_database)} of the database")
    assert failures == []
    assert said(base) == (right, [])
    for changes in (list(of_segments.values()), of_database[:1]):
        shutil.rmtree(base)
        shutil.copytree(sound, base)
        heal(base, changes, right)


def heal(base: Path, changes: list[Flip], right: list[object]) -> None:
    """Flip, then repair what is there, or make it anew where the database itself is damaged."""
    for change in changes:
        flip(*change)
    with opened(base / "index" / "c") as collection:
        try:
            collection.repair()
        except CollectionCorruptError:
            collection.delete()
    with opened(base / "index" / "c") as collection:
        collection.ingest([base / "docs"], chunking=CHUNKING)
        assert collection.check() == []
    assert said(base)[0] == right
