from pathlib import Path

import pytest

from benchmarks import index_case, index_changes, index_process, index_searches
from benchmarks.index_bm25s import Bm25s
from benchmarks.index_case import measured_case
from benchmarks.index_changes import BESIDE
from benchmarks.index_clock import Clock
from benchmarks.index_collection import InCollection, contents_of
from benchmarks.index_corpus import Corpus, zipf_corpus
from benchmarks.index_fts5 import Fts5
from benchmarks.index_searches import LONG, SHORT
from benchmarks.index_sides import (
    BUILDERS,
    COLLECTION,
    EIGHT,
    EMPTY,
    FTS5,
    NUMBA,
    NUMPY,
    OPENERS,
    OURS,
    TANTIVY,
    Builder,
    Opener,
    folder_of,
)
from benchmarks.index_targets import targets


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed everywhere in place of numba and tantivy, in this process, few queries."""
    numpy = lambda: Bm25s("numpy")  # noqa: E731
    monkeypatch.setitem(BUILDERS, NUMBA, Builder("ids", numpy))
    monkeypatch.setitem(OPENERS, NUMBA, Opener(NUMBA, numpy))
    monkeypatch.setitem(OPENERS, "bm25s numba, mmap", Opener(NUMBA, numpy))
    for side in (TANTIVY, EIGHT):
        monkeypatch.setitem(BUILDERS, side, Builder("text", Fts5))
        monkeypatch.setitem(OPENERS, side, Opener(side, Fts5))
    monkeypatch.setattr(index_changes, "Tantivy", Fts5)
    monkeypatch.setattr(index_process, "_run", in_process)
    monkeypatch.setattr(index_case, "_REPEATS", 1)
    monkeypatch.setattr(index_changes, "ADDED", 20)
    monkeypatch.setattr(index_changes, "_CHANGED", 2)
    for name in ("_SHORT", "_LONG", "_MOST"):
        monkeypatch.setattr(index_searches, name, 10)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return zipf_corpus(tmp_path_factory.mktemp("made") / "corpus", 150)


def in_process(what: str, *arguments: object) -> dict[str, float]:
    run = {"build": index_process._build, "search": index_process._search}[what]
    return run(*arguments)  # type: ignore[arg-type]


@pytest.mark.usefixtures("stand_ins")
def test_a_case_has_a_row_for_each_side_and_gives_the_targets_their_figures(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = measured_case(corpus, tmp_path)
    assert [row["side"] for row in case.builds] == [*BUILDERS, "its segments"]
    assert [row["side"] for row in case.opens] == [*OPENERS]
    unfiltered = [row["side"] for row in case.opens if row["first, 1 % filter"] == "-"]
    assert unfiltered == [EMPTY]
    asked = {(row["queries"], row["side"], row["segments"]) for row in case.searches}
    ours = {(side, segments) for side in (OURS, COLLECTION) for segments in (1, 8)}
    for kind in (SHORT, LONG):
        for kept in ("", ", 1 % filter", ", 10 % filter"):
            assert {(kind + kept, *name) for name in {*ours, (NUMBA, 1)}} <= asked
    assert all(row["1 thread"] > 0 and row["2 threads"] > 0 for row in case.batches)
    in_one_call = {row["side"] for row in case.batches if row["in one call"] != "-"}
    assert in_one_call == {COLLECTION, NUMBA, NUMPY}
    assert [row["side"] for row in case.changes] == [
        COLLECTION,
        FTS5,
        TANTIVY,
        "groundkit, 8 segments",
        NUMBA,
    ]
    assert len(targets([case])) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "] Zipf 150: searching, short, 1 % filter ..." in captured.err


def test_a_large_collection_is_changed_in_turn_with_a_small_one(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_changes, "Tantivy", Fts5)
    monkeypatch.setattr(index_changes, "LARGE", 150)
    monkeypatch.setattr(index_changes, "SMALL", 50)
    monkeypatch.setattr(index_changes, "ADDED", 20)
    monkeypatch.setattr(index_changes, "_CHANGED", 2)
    for side, made in ((COLLECTION, InCollection()), (FTS5, Fts5()), (TANTIVY, Fts5())):
        folder_of(tmp_path, side).mkdir()
        made.build(corpus, folder_of(tmp_path, side), Clock())
    rows = index_changes.change_rows(corpus, tmp_path, 4.5, 0.5)
    assert [(row["corpus"], row["side"]) for row in rows[:2]] == [
        ("Zipf 150", COLLECTION),
        ("Zipf 50", BESIDE),
    ]
    assert [row["to one, s"] for row in rows[:2]] == [4.5, "-"]
    assert contents_of(folder_of(tmp_path / "beside", COLLECTION)).chunks == 50 + 20
