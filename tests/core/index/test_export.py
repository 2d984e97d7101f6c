"""The frozen copy for bm25s."""

from pathlib import Path

import bm25s
import pytest
from groundkit_core import Collection, GroundkitError
from groundkit_core.errors import CollectionError
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.terms import Analyzer

from tests.core.index.support import documents, write

TEXTS = {f"d{n}": f"pump valve{n % 3} " + "hose " * (n % 5) + f"retry_limit{n}" for n in range(40)}


def peer_ranking(folder: Path, query: str, k: int) -> list[tuple[str, float]]:
    index = bm25s.BM25.load(folder, load_corpus=True)
    terms = Analyzer("english", stop_words("english")).query_terms(query)
    known = [
        term for term, times in terms.items() if term in index.vocab_dict for _ in range(int(times))
    ]
    rows, scores = index.retrieve([known], k=k, show_progress=False)
    return [(row["id"], float(score)) for row, score in zip(rows[0], scores[0], strict=True)]


@pytest.mark.parametrize("query", ["valve1 hose", "retry limit 7", "pump", "hose hose valve2"])
def test_bm25s_ranks_the_copy_alike(query: str, tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents(TEXTS))
    collection.remove(["d3", "d4"])
    assert collection.export_bm25s(tmp_path / "peer") == 38
    ours = [
        (result.citation.chunk_id, result.score)
        for result in collection.search(query, top_k=38, all_copies=True).results
    ]
    theirs = [hit for hit in peer_ranking(tmp_path / "peer", query, 38) if hit[1] > 0]
    # Its ties stand in no order.
    theirs.sort(key=lambda hit: (-round(hit[1], 5), hit[0]))
    ours.sort(key=lambda hit: (-round(hit[1], 5), hit[0]))

    assert [id_ for id_, _ in ours] == [id_ for id_, _ in theirs]
    assert [s for _, s in ours] == pytest.approx([s for _, s in theirs], rel=1e-5)


def test_titles_and_headings_are_in_the_copy(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": "# Manual\n\n## Torque\n\nTurn it.\n", "b.md": "x\n"})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    collection.export_bm25s(tmp_path / "peer")
    (ours,) = collection.search("manual torque").results

    (id_, score), _ = peer_ranking(tmp_path / "peer", "manual torque", 2)

    assert id_ == ours.citation.chunk_id
    assert score == pytest.approx(ours.score, rel=1e-5)


def test_nothing_to_export_is_an_error(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add([])
    with pytest.raises(CollectionError, match="no passage"):
        collection.export_bm25s(tmp_path / "peer")
    collection.add(documents({"a": "*** ---"}))
    with pytest.raises(GroundkitError):
        collection.export_bm25s(tmp_path / "peer")


def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump"}))
    (tmp_path / "file").touch()
    with pytest.raises(GroundkitError):
        collection.export_bm25s(tmp_path / "file" / "peer")
