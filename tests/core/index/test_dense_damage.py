"""Damaged vector files are named, never searched as if they were whole."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.support import documents, found, places

pytest.importorskip("faiss", reason="vectors are searched by faiss")

TEXTS = {f"s{n}": f"pump w{n}" for n in range(12)}


def opened(path: Path) -> Collection:
    return Collection.open(path, embedder=InMemoryEmbedder(16))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    opened(tmp_path / "c").add(documents(TEXTS))
    return tmp_path / "c"


def vector_file(path: Path) -> Path:
    (file,) = (path / "segments").glob("*.vec")
    return file


def arrays(file: Path) -> dict[str, tuple[int, int]]:
    """Begin and end of each array in a segment file, by its name; all are of bytes."""
    data = file.read_bytes()
    end = data.index(b"\n", 8) + 1
    start = -(-end // 64) * 64
    return {
        name: (start + offset, start + offset + count)
        for name, _, offset, count, _ in json.loads(data[8:end])
    }


def flip(file: Path, at: int, mask: int = 0xFF) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= mask
    file.write_bytes(data)


def assert_lexical_goes_on(path: Path) -> None:
    assert found(Collection.open(path).search("w7"))[0] == "s7"


def test_a_flipped_byte_in_any_array_is_named(path: Path) -> None:
    file = vector_file(path)
    whole = file.read_bytes()
    assert len(arrays(file)) >= 3
    for name, (begin, end) in arrays(file).items():
        for at in {begin, (begin + end) // 2, end - 1}:
            flip(file, at)
            (finding,) = opened(path).check()
            assert finding == f"{file}: array {name} does not match its checksum"
            file.write_bytes(whole)
    assert opened(path).check() == []


def missing(file: Path) -> str:
    file.unlink()
    return "missing"


def cut(file: Path) -> str:
    os.truncate(file, file.stat().st_size - 1)
    return "bytes where the collection recorded"


def reheaded(file: Path) -> str:
    flip(file, 20)
    return "header does not match"


def flipped(file: Path) -> str:
    begin, end = arrays(file)["scan"]
    flip(file, (begin + end) // 2)
    return "array scan"


@pytest.mark.parametrize("damage", [missing, cut, reheaded])
def test_a_file_that_is_not_whole_is_named_by_check_and_search(
    damage: Callable[[Path], str], path: Path
) -> None:
    file = vector_file(path)
    said = damage(file)
    (finding,) = opened(path).check()
    assert str(file) in finding
    assert said in finding
    for _ in range(2):
        for mode in ("dense", "hybrid"):
            with pytest.raises(CollectionCorruptError, match=said) as caught:
                opened(path).search("pump", mode=mode)
            assert str(file) in str(caught.value)
    assert_lexical_goes_on(path)


SEARCH = """
import signal, sys
from groundkit_core import Collection
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.testing import InMemoryEmbedder

path, file, step, *spans = sys.argv[1:]
signal.alarm(20)  # ends the process also while the engine is busy
whole = open(file, "rb").read()
embedder = InMemoryEmbedder(16)


def answer():
    with Collection.open(path, embedder=embedder) as collection:
        response = collection.search("pump w7", mode="dense", top_k=100)
        return [(result.score, result.citation.chunk_id) for result in response.results]


right = answer()
for at in range(*map(int, spans), int(step)):
    for mask in (0x01, 0x80, 0xFF):
        data = bytearray(whole)
        data[at] ^= mask
        with open(file, "r+b") as out:
            out.write(data)
        print(at - int(spans[0]), mask, end=" ", flush=True)
        try:
            found = answer()
        except CollectionCorruptError:
            print("refused", flush=True)
        except Exception as error:
            print(type(error).__name__, flush=True)
        else:
            print("right" if found == right else "wrong", flush=True)
"""


def searched(path: Path, file: Path, begin: int, end: int, step: int = 1) -> list[str]:
    """What became of a search after each change of a byte, and how the process ended."""
    command = [sys.executable, "-c", SEARCH, *map(str, (path, file, step, begin, end))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    return [*done.stdout.splitlines(), f"exit {done.returncode}"]


def test_no_damage_to_the_head_of_an_index_reaches_the_engine(path: Path) -> None:
    """Sizes stand before the first vector: all of that must be refused."""
    file = vector_file(path)
    begin, end = arrays(file)["scan"]
    end -= 2 * 16 * len(TEXTS)
    *lines, ended = searched(path, file, begin, end)
    assert [line for line in lines if not line.endswith("refused")] == []
    assert ended == "exit 0"
    assert len(lines) == 3 * (end - begin)


def test_damaged_vectors_never_crash_a_search(path: Path) -> None:
    file = vector_file(path)
    for name in ("scan", "keys"):
        _, end = arrays(file)[name]
        *lines, ended = searched(path, file, end - 100, end, step=7)
        assert ended == "exit 0"
        assert {line.split()[-1] for line in lines} <= {"refused", "right", "wrong"}
        restore(path)
        file = vector_file(path)


@pytest.fixture
def graphed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("dense", "spaces"):
        monkeypatch.setattr(f"groundkit_core.index.{module}.GRAPH_FROM", 50)
    collection = opened(tmp_path / "g")
    collection.add(documents({f"s{n}": f"pump w{n}" for n in range(60)}))
    collection.add(documents({"other": "hose"}))
    collection.compact()
    assert collection.info().vector_index == "graph"
    return tmp_path / "g"


def test_no_damage_to_a_graph_reaches_the_engine(graphed: Path) -> None:
    (file,) = (each for each in (graphed / "segments").glob("*.vec") if "graph" in arrays(each))
    begin, end = arrays(file)["graph"]
    *lines, ended = searched(graphed, file, begin, end, step=23)
    assert ended == "exit 0", lines[-1]
    assert {line.split()[-1] for line in lines} <= {"refused", "right", "wrong"}
    assert len(lines) == 3 * len(range(begin, end, 23))
    assert len(opened(graphed).check()) >= 1


def restore(path: Path) -> None:
    shutil.rmtree(path)
    opened(path).add(documents(TEXTS))


def test_damaged_vectors_are_not_merged_into_a_sound_file(path: Path) -> None:
    _, end = arrays(vector_file(path))["scan"]
    flip(vector_file(path), end - 1, 0x40)
    for n in range(20, 30):
        with suppress(CollectionCorruptError):
            opened(path).add(documents({f"s{n}": f"pump w{n}"}))
    assert len(opened(path).check()) >= 1
    with pytest.raises(CollectionCorruptError, match=r"\.vec"):
        opened(path).compact()
    assert len(opened(path).check()) >= 1


def lexical_files(path: Path) -> list[str]:
    return sorted(file.name for file in (path / "segments").glob("*.lex"))


@pytest.mark.parametrize("damage", [missing, cut, reheaded, flipped])
def test_repair_drops_damaged_vectors_and_says_how_to_make_them_again(
    damage: Callable[[Path], object], path: Path
) -> None:
    opened(path).add(documents({"later": "hose"}))
    file = max((path / "segments").glob("*.vec"), key=lambda each: each.stat().st_size)
    before, words = lexical_files(path), places(opened(path).search("pump w7"))
    damage(file)
    done = opened(path).repair()
    assert len(done) == 1
    assert "--dense" in done[0]
    assert f"{len(TEXTS)} vectors" in done[0]
    assert "rebuilt from the stored passages" not in done[0]
    assert lexical_files(path) == before
    assert places(opened(path).search("pump w7")) == words
    assert opened(path).check() == []
    assert found(opened(path).search("hose", mode="dense"))[0] == "later"
    again = InMemoryEmbedder(16)
    assert Collection.open(path, embedder=again).embed().texts == len(TEXTS)
    assert sorted(again.asked) == sorted(TEXTS.values())
    assert opened(path).check() == []
    assert opened(path).info().vectors == len(TEXTS) + 1


def test_repair_of_words_leaves_the_vectors(path: Path) -> None:
    (lexical,) = (path / "segments").glob("*.lex")
    flip(lexical, lexical.stat().st_size - 1)
    before = places(opened(path).search("pump w7", mode="dense"))
    assert len(opened(path).repair()) == 1
    assert opened(path).check() == []
    assert places(opened(path).search("pump w7", mode="dense")) == before
    assert opened(path).embed().texts == 0


def test_repair_of_a_passage_keeps_its_vector(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("pump one\n")
    path = tmp_path / "c"
    opened(path).ingest([docs])
    change(path, "UPDATE chunk SET content='pump two'")
    assert len(opened(path).check()) == 1
    opened(path).repair()
    assert opened(path).check() == []
    assert opened(path).info().vectors == 1
    assert opened(path).embed().texts == 0


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path / "collection.db")) as database:
        database.execute(statement)
        database.commit()


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("DELETE FROM vector WHERE row=3", id="lost"),
        pytest.param("UPDATE vector SET row=row+100", id="row"),
        pytest.param("UPDATE vector SET row=0 WHERE row=3", id="twice"),
        pytest.param("UPDATE vector SET seg=99", id="segment"),
        pytest.param("UPDATE vector SET key=hex(randomblob(16)) WHERE row=3", id="key"),
        pytest.param("UPDATE chunk SET embed_key=NULL WHERE seq=3", id="passage"),
        pytest.param("UPDATE space SET identity='{}'", id="identity"),
        pytest.param("UPDATE segment SET chunks=5 WHERE space", id="count"),
        pytest.param("UPDATE segment SET space=7 WHERE space", id="space"),
        pytest.param(
            "INSERT INTO dead SELECT seg, x'ffffffff', 1, 0 FROM vector LIMIT 1", id="dead"
        ),
        pytest.param("INSERT INTO dead SELECT seg, x'ff', 1, 0 FROM vector LIMIT 1", id="odd"),
    ],
)
def test_rows_that_do_not_fit_are_found_and_never_crash_a_search(
    statement: str, path: Path
) -> None:
    change(path, statement)
    assert opened(path).check() != []
    with suppress(CollectionCorruptError):
        opened(path).search("pump w7", mode="dense")
    with suppress(CollectionCorruptError):
        assert found(opened(path).search("w7"))[0] == "s7"
