import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import labelled
from benchmarks.labelled import LabelledSet, Question, Text, load
from benchmarks.plain_bm25s import PlainBm25s
from benchmarks.report import BenchmarkError
from benchmarks.stop_words import stop_word_policies


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def test_a_set_is_read_with_its_gains_and_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled, "DATA", tmp_path)
    folder = tmp_path / "jsquad_ja"
    folder.mkdir()
    write(folder / "corpus.jsonl.gz", [{"_id": "d1", "title": "T", "text": "abc def"}])
    write(
        folder / "queries.jsonl.gz",
        [
            {"_id": "q1", "text": "which?", "answers": [{"doc": "d1", "start": 4, "end": 7}]},
            {"_id": "unjudged", "text": "what?"},
        ],
    )
    rels = b"query-id\tcorpus-id\tscore\nq1\td1\t2\n"
    (folder / "qrels.tsv.gz").write_bytes(gzip.compress(rels))
    assert load("jsquad_ja") == LabelledSet(
        name="jsquad_ja",
        language="none",
        texts=[Text("d1", "T", "abc def")],
        questions=[Question("which?", {"d1": 2.0}, (("d1", 4, 7),))],
    )


def test_absent_data_and_unknown_names_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled, "DATA", tmp_path)
    with pytest.raises(BenchmarkError, match=r"\.\./shared/data/scifact is not here"):
        load("scifact")
    with pytest.raises(BenchmarkError, match="no set is called 'nope'"):
        load("nope")


def test_the_peer_stems_drops_stop_words_and_takes_unknown_words() -> None:
    peer = PlainBm25s(["the retries of a client", "the clients", "other"], "english")
    assert peer.search("retry", 10) == [0]
    assert peer.search("client", 10) == [1, 0]
    assert peer.search("zebra", 10) == []
    assert peer.search("the of", 10) == []


def test_stop_words_lengthen_texts_unless_they_are_dropped() -> None:
    texts = [Text("d1", "", "the pump of the hose"), Text("d2", "", "valve")]
    data = LabelledSet("made up", "english", texts, [Question("the pump", {"d1": 1.0})])
    # Terms of d1: the, pump, of, the, hose; without stop words: pump, hose.
    dropped = {"nDCG@10": 1.0, "recall@100": 1.0, "postings": 3, "mean length": (2 + 1) / 2}
    indexed = {"nDCG@10": 1.0, "recall@100": 1.0, "postings": 5, "mean length": (5 + 1) / 2}
    rows = stop_word_policies(data)
    assert [{k: v for k, v in row.items() if k != "policy"} for row in rows] == [
        dropped,
        indexed,
        indexed,
    ]
