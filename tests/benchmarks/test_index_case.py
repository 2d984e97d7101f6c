from pathlib import Path

import pytest

from benchmarks import index_case, index_changes, index_process, index_searches
from benchmarks.index_bm25s import Bm25s
from benchmarks.index_case import measured_case
from benchmarks.index_corpus import zipf_corpus
from benchmarks.index_fts5 import Fts5
from benchmarks.index_searches import LONG, SHORT
from benchmarks.index_sides import (
    BUILDERS,
    COLLECTION,
    EIGHT,
    FTS5,
    NUMBA,
    OPENERS,
    OURS,
    TANTIVY,
    Builder,
    Opener,
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
    for name in ("_SHORT", "_LONG", "_MOST"):
        monkeypatch.setattr(index_searches, name, 10)


def in_process(what: str, *arguments: object) -> dict[str, float]:
    run = {"build": index_process._build, "search": index_process._search}[what]
    return run(*arguments)  # type: ignore[arg-type]


@pytest.mark.usefixtures("stand_ins")
def test_a_case_has_a_row_for_each_side_and_gives_the_targets_their_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = measured_case(zipf_corpus(tmp_path / "corpus", 150), tmp_path)
    assert [row["side"] for row in case.builds] == [*BUILDERS, "its segments"]
    assert [row["side"] for row in case.opens] == [*OPENERS]
    asked = {(row["queries"], row["side"], row["segments"]) for row in case.searches}
    ours = {(side, segments) for side in (OURS, COLLECTION) for segments in (1, 8)}
    for kind in (SHORT, LONG):
        assert {(kind, *name) for name in {*ours, (NUMBA, 1)}} <= asked
    assert (f"{SHORT}, filter 1 %", OURS, "not yet") in asked
    assert all(row["one thread"] > 0 and row["all cores"] > 0 for row in case.batches)
    assert [row["side"] for row in case.changes] == [
        COLLECTION,
        "groundkit, 8 segments",
        NUMBA,
        FTS5,
        TANTIVY,
    ]
    assert len(targets([case])) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Zipf 150: searching ..." in captured.err
