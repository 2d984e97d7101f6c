"""Each distinct text is embedded once, and what was embedded is kept."""

import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from groundkit_core import Collection, Document, IngestReport
from groundkit_core.embedding import Vectors
from groundkit_core.errors import CollectionIncompatibleError, ConfigurationError, EmbeddingError
from groundkit_core.index.backfill import without_vector
from groundkit_core.index.spaces import active_space
from groundkit_core.index.store import Store
from groundkit_core.testing import InMemoryEmbedder
from numpy.typing import ArrayLike

from tests.core.index.embedders import BrokenEmbedder, FailingEmbedder
from tests.core.index.support import FILES, documents, found, start, write

pytest.importorskip("faiss", reason="vectors are searched by faiss")

NAN = float("nan")
FEW = {f"s{n:03}": f"pump w{n}" for n in range(100)}
"""Four batches: 32, 32, 32 and 4 texts."""


def opened(path: Path, embedder: InMemoryEmbedder | None = None) -> Collection:
    return Collection.open(path, embedder=embedder or InMemoryEmbedder(16))


def asked(embedder: InMemoryEmbedder) -> list[str]:
    """What the embedder was given since we last looked."""
    given, embedder.asked = embedder.asked, []
    return given


def vectors(collection: Collection) -> int:
    assert collection.check() == []
    return collection.info().vectors


def test_a_passage_is_embedded_with_its_title_and_headings(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", FILES)
    embedder = InMemoryEmbedder(16)
    report = opened(tmp_path / "c", embedder).ingest([docs])
    assert sorted(asked(embedder)) == [
        "A\n# A\n\nPump one.",
        "B\n# B\n\nValve two.",
        "Hose three.",
        "Title\nTitle\n=====\n\nTorque four.",
    ]
    assert (report.embedded, report.warnings) == (4, ())


def steps_to_find_the_missing(tmp_path: Path, count: int) -> tuple[int, int]:
    """Passages without a vector beside `count` with one, and SQLite's steps to count them."""
    collection = opened(tmp_path / f"c{count}")
    collection.add(Document.from_text(f"d{n}", f"pump w{n}") for n in range(count))
    Collection.open(collection.path).add([Document.from_text("new", "a new hose")])
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    with closing(sqlite3.connect(collection.path / "collection.db")) as connection:
        store = Store(collection.path, connection)
        connection.set_progress_handler(step, 1)
        return without_vector(store, active_space(store)), steps


def test_passages_that_have_vectors_are_not_looked_at_again(tmp_path: Path) -> None:
    assert steps_to_find_the_missing(tmp_path, 40) == steps_to_find_the_missing(tmp_path, 400)


def test_nothing_is_embedded_again(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", FILES)
    embedder = InMemoryEmbedder(16)
    collection = opened(tmp_path / "c", embedder)
    collection.ingest([docs])
    asked(embedder)

    def run() -> tuple[int, list[str]]:
        report = collection.ingest([docs])
        return report.embedded, asked(embedder)

    assert run() == (0, [])
    (docs / "a.md").touch()
    assert run() == (0, [])
    (docs / "sub/c.txt").rename(docs / "sub/other.txt")
    assert run() == (0, [])
    (docs / "sub").rename(docs / "moved")
    assert run() == (0, [])
    write(docs, {"copy.txt": "Hose three.\n"})
    assert run() == (0, [])
    (docs / "moved/other.txt").unlink()
    assert run() == (0, [])
    collection.reindex()
    collection.compact()
    assert run() == (0, [])
    assert vectors(collection) == 4
    assert found(collection.search("hose three", mode="dense"))[0] == "docs/copy.txt"


def test_a_passage_that_two_documents_hold_is_embedded_once(tmp_path: Path) -> None:
    embedder = InMemoryEmbedder(16)
    collection = opened(tmp_path / "c", embedder)
    report = collection.add(documents({"a": "pump", "b": "pump", "c": "valve"}))
    assert asked(embedder) == ["pump", "valve"]
    assert report.embedded == 2
    assert vectors(collection) == 2
    collection.remove(["a"])
    assert vectors(collection) == 2
    assert found(collection.search("pump", mode="dense"))[0] == "b"
    collection.remove(["b"])
    assert vectors(collection) == 1


def test_text_inserted_above_embeds_only_itself(tmp_path: Path) -> None:
    body = "".join(f"\n\n## Part {n}\n\n{'pump ' * 30}w{n}." for n in range(5))
    docs = write(tmp_path / "docs", {"a.md": f"# A{body}"})
    embedder = InMemoryEmbedder(16)
    collection = opened(tmp_path / "c", embedder)
    collection.ingest([docs])
    assert len(asked(embedder)) == collection.info().chunks
    ids = {text: citation.chunk_id for citation, text in next(collection.passages())}

    write(docs, {"a.md": f"Inserted line.\n\n# A{body}"})
    report = collection.ingest([docs])
    new = asked(embedder)
    assert new == ["A\nInserted line."]
    assert report.embedded == 1
    now = {text: citation.chunk_id for citation, text in next(collection.passages())}
    assert {text: now[text] for text in ids} == ids


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# A\n\nPump one.\n\n## B\n\nValve.", "# A\n\nPump one.\n\n## C\n\nValve."),
        ("# A\n\nPump one.", "# B\n\nPump one."),
    ],
)
def test_a_changed_heading_or_title_is_embedded_anew(
    before: str, after: str, tmp_path: Path
) -> None:
    embedder = InMemoryEmbedder(16)
    collection = opened(tmp_path / "c", embedder)
    held = Document.from_text("a", before, title="T", media_type="text/markdown")
    collection.add([held])
    asked(embedder)
    collection.add([Document.from_text("a", after, title="T", media_type="text/markdown")])
    headed = asked(embedder)
    assert headed
    assert all(text.splitlines()[-1] in after for text in headed)
    collection.add([held])
    asked(embedder)
    collection.add([Document.from_text("a", before, title="U", media_type="text/markdown")])
    retitled = asked(embedder)
    assert retitled
    assert all(text.startswith("U\n") for text in retitled)
    assert vectors(collection) == collection.info().chunks


def test_vectors_are_made_for_a_collection_that_has_none(tmp_path: Path) -> None:
    plain = Collection.open(tmp_path / "c")
    plain.add(documents(FEW))
    assert plain.embedding() is None
    assert plain.info().vectors == 0
    embedder = InMemoryEmbedder(16)
    progress: list[tuple[int, int]] = []
    done = opened(tmp_path / "c", embedder).embed(progress=lambda n, of: progress.append((n, of)))
    assert (done.texts, done.wordless) == (100, 0)
    assert sorted(embedder.asked) == sorted(FEW.values())
    assert progress[-1] == (100, 100)
    assert vectors(plain) == 100


@pytest.mark.parametrize("rows", [5, 8, 10, 64])
@pytest.mark.parametrize("commit", [1, 8, 12, 100])
def test_no_vector_is_lost_between_two_commits(
    rows: int, commit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_ROWS_AT_ONCE", rows), ("_COMMIT_AT", commit), ("_TEXTS_AT_ONCE", 4)):
        monkeypatch.setattr(f"groundkit_core.index.backfill.{name}", value)
    texts = dict(list(FEW.items())[:50])
    embedder = InMemoryEmbedder(16)
    collection = opened(tmp_path / "c", embedder)
    report = collection.add(documents({**texts, "copy": texts["s007"], "none": "!!!"}))
    assert (report.embedded, len(embedder.asked), vectors(collection)) == (50, 50, 50)
    assert collection.embed().texts == 0


def test_passages_without_a_vector_are_said_to_be(tmp_path: Path) -> None:
    opened(tmp_path / "c").add(documents({"a": "pump"}))
    plain = Collection.open(tmp_path / "c")
    report = plain.add(documents({"b": "valve", "c": "hose", "d": "pump"}))
    assert report.warnings == ("2 passages have no vector; --dense makes them",)
    assert found(plain.search("valve")) == ["b"]
    assert opened(tmp_path / "c").embed().texts == 2
    assert plain.add([]).warnings == ()


def test_a_passage_without_a_word_has_no_vector(tmp_path: Path) -> None:
    embedder = InMemoryEmbedder(16)
    collection = opened(tmp_path / "c", embedder)
    texts = {"a": "pump", "b": "*** --- ***", "c": "!!!", "d": "valve"}
    for _ in range(2):
        report = collection.add(documents(texts))
        assert report.warnings == ("2 passages have no word and so no vector",)
    assert embedder.asked == ["pump", "valve"]
    assert vectors(collection) == 2
    assert sorted(found(collection.search("pump", mode="dense"))) == ["a", "d"]
    assert collection.info().chunks == 4


def test_a_passage_without_a_word_is_not_said_to_miss_a_vector(tmp_path: Path) -> None:
    opened(tmp_path / "c").add(documents({"a": "pump"}))
    plain = Collection.open(tmp_path / "c")
    plain.add(documents({"b": "!!!"}))
    opened(tmp_path / "c").embed()
    assert plain.add([]).warnings == ()


@pytest.mark.parametrize(("at", "kept"), [(1, 0), (2, 32), (3, 64), (4, 96)])
def test_what_was_embedded_before_a_failure_is_kept(at: int, kept: int, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError) as caught:
        opened(tmp_path / "c", FailingEmbedder(at)).add(documents(FEW))
    assert str(caught.value) == f"s{kept:03}: the server went away"
    collection = opened(tmp_path / "c")
    assert collection.info().chunks == 100
    assert vectors(collection) == kept

    again = InMemoryEmbedder(16)
    report = opened(tmp_path / "c", again).add([])
    assert (report.embedded, len(again.asked)) == (100 - kept, 100 - kept)
    assert again.asked == list(FEW.values())[kept:]
    assert vectors(collection) == 100


def test_a_run_of_files_that_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {f"f{n:03}.txt": f"pump w{n}\n" for n in range(80)})
    with pytest.raises(EmbeddingError, match=r"^docs/f032\.txt: the server went away$"):
        opened(tmp_path / "c", FailingEmbedder(2)).ingest([docs])
    (docs / "f000.txt").unlink()
    again = InMemoryEmbedder(16)
    report = opened(tmp_path / "c", again).ingest([docs])
    assert (report.embedded, len(again.asked)) == (48, 48)
    assert vectors(opened(tmp_path / "c")) == 79


def test_an_error_that_is_not_the_embedders_own_kind_comes_out_as_it_is(tmp_path: Path) -> None:
    for error in (ValueError("v"), ConnectionRefusedError(111, "refused"), TimeoutError("t")):
        path = tmp_path / type(error).__name__.lower()
        with pytest.raises(type(error)) as caught:
            opened(path, FailingEmbedder(2, error)).add(documents(FEW))
        assert caught.value is error
        assert vectors(opened(path)) == 32


def spoiled(at: int, value: float) -> Callable[[Vectors], ArrayLike]:
    """Makes one row wrong."""

    def spoil(rows: Vectors) -> Vectors:
        rows = rows.copy()
        rows[min(at, len(rows) - 1)] = value
        return rows

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda rows: rows[:-1], "31 x 16 numbers for 32 texts of 16 dimensions"),
        (lambda rows: np.concatenate([rows, rows[:1]]), "33 x 16 numbers for 32 texts"),
        (lambda rows: rows[:, :8], "32 x 8 numbers for 32 texts of 16 dimensions"),
        (lambda rows: rows[:0], "0 x 16 numbers"),
        (spoiled(4, NAN), "zeros or no numbers"),
        (spoiled(4, 0.0), "zeros or no numbers"),
        (spoiled(4, float("inf")), "zeros or no numbers"),
    ],
    ids=["few", "many", "narrow", "none", "nan", "zeros", "infinite"],
)
def test_what_is_no_vector_never_enters(
    spoil: Callable[[Vectors], ArrayLike], said: str, tmp_path: Path
) -> None:
    with pytest.raises(EmbeddingError, match=said):
        opened(tmp_path / "c", BrokenEmbedder(spoil)).add(documents(FEW))
    assert vectors(opened(tmp_path / "c")) == 0
    assert found(opened(tmp_path / "c").search("w7"))[0] == "s007"


def test_the_error_names_the_source_whose_vector_is_bad(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match=r"^s004: "):
        opened(tmp_path / "c", BrokenEmbedder(spoiled(4, NAN))).add(documents(FEW))


def test_no_message_holds_a_text(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError) as caught:
        opened(tmp_path / "c", BrokenEmbedder(spoiled(0, NAN))).add(documents({"a": "canary"}))
    assert "canary" not in str(caught.value)


def test_an_embedder_that_never_worked_does_not_bind_the_collection(tmp_path: Path) -> None:
    wrong = FailingEmbedder(1)
    wrong.model_name = "no-such-model"
    with pytest.raises(EmbeddingError):
        opened(tmp_path / "c", wrong).add(documents({"a": "pump"}))
    assert opened(tmp_path / "c").embed().texts == 1


def test_a_report_names_the_generation_that_it_made(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    report: IngestReport = collection.add(documents({"a": "pump"}))
    assert report.generation == collection.info().generation


def test_a_run_with_another_embedder_changes_nothing(tmp_path: Path) -> None:
    opened(tmp_path / "c").add(documents({"a": "pump"}))
    before = Collection.open(tmp_path / "c").info().generation
    other = opened(tmp_path / "c", InMemoryEmbedder(16, model_name="other"))
    with pytest.raises(CollectionIncompatibleError):
        other.add(documents({"b": "valve"}))
    assert Collection.open(tmp_path / "c").info().generation == before


def test_embedding_needs_an_embedder(tmp_path: Path) -> None:
    plain = Collection.open(tmp_path / "c")
    plain.add(documents({"a": "pump"}))
    with pytest.raises(ConfigurationError, match=r"^c: there is no embedder$"):
        plain.embed()


def test_without_an_embedder_a_collection_needs_no_vectors(tmp_path: Path) -> None:
    plain = Collection.open(tmp_path / "c")
    report = plain.add(documents({"a": "pump", "b": "!!!"}))
    assert (report.embedded, report.warnings) == (0, ())
    assert not list((tmp_path / "c" / "segments").glob("*.vec"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_run_loses_no_finished_commit(tmp_path: Path) -> None:
    texts = {f"s{n:03}": f"pump w{n}" for n in range(40)}
    rng = random.Random(4)
    for _ in range(20):
        Collection.open(tmp_path / "c").add(documents(texts))
        before, log = embedded(tmp_path / "c"), tmp_path / "log"
        log.write_text("")
        with start(RUN, tmp_path / "c", log) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(rng.uniform(0.0, 0.3))
            os.kill(child.pid, signal.SIGKILL)
        given = log.read_text().splitlines()
        after = embedded(tmp_path / "c")
        assert Collection.open(tmp_path / "c").check() == []
        assert not before & set(given)
        assert before <= after <= before | set(given)
        assert len(given) - len(after - before) <= 8
        if len(after) > 30:
            Collection.open(tmp_path / "c").remove([f"s{n:03}" for n in range(0, 40, 2)])
    Collection.open(tmp_path / "c").add(documents(texts))
    missing = set(texts.values()) - embedded(tmp_path / "c")
    rest = InMemoryEmbedder(16)
    opened(tmp_path / "c", rest).embed()
    assert sorted(rest.asked) == sorted(missing)
    assert embedded(tmp_path / "c") == set(texts.values())
    Collection.open(tmp_path / "c").add([])
    assert vec_files(tmp_path / "c") == named_vec_files(tmp_path / "c")


RUN = """
import sys
from pathlib import Path
import faiss
from groundkit_core import Collection
from groundkit_core.index import backfill
from tests.core.index.embedders import SlowEmbedder

backfill._TEXTS_AT_ONCE, backfill._COMMIT_AT = 4, 8
collection = Collection.open(sys.argv[1], embedder=SlowEmbedder(0.01, Path(sys.argv[2])))
print("ready", flush=True)
collection.embed()
"""


def embedded(path: Path) -> set[str]:
    """Texts that have a vector."""
    query = "SELECT content FROM chunk JOIN vector ON key=embed_key"
    return {text for (text,) in rows(path, query)}


def vec_files(path: Path) -> set[str]:
    return {file.name for file in (path / "segments").iterdir() if file.name.endswith(".vec")}


def named_vec_files(path: Path) -> set[str]:
    return {name for (name,) in rows(path, "SELECT file FROM segment WHERE kind<>'lexical'")}


def rows(path: Path, query: str) -> list[tuple[str]]:
    with closing(sqlite3.connect(path / "collection.db")) as database:
        return database.execute(query).fetchall()
