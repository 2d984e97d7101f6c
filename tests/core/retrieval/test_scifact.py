"""Ranking quality on SciFact."""

import gzip
import json
from math import log2
from pathlib import Path

import pytest
from groundkit_core import ChunkingConfig, Collection, Document

from tests.core.index.support import found
from tests.note import Note
from tests.shared_data import shared


def rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def judgements(path: Path) -> dict[str, dict[str, int]]:
    held: dict[str, dict[str, int]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            query, document, grade = line.rstrip("\n").split("\t")
            held.setdefault(query, {})[document] = int(grade)
    return held


def ndcg(ranking: list[str], grades: dict[str, int], k: int) -> float:
    """Discounted cumulative gain of the first k over the best possible."""
    gains = [grades.get(document, 0) for document in ranking[:k]]
    best = sorted(grades.values(), reverse=True)[:k]

    def dcg(values: list[int]) -> float:
        return sum(value / log2(rank + 2) for rank, value in enumerate(values))

    return dcg(gains) / dcg(best)


def test_ndcg_of_small_rankings() -> None:
    assert ndcg(["a", "b"], {"a": 1, "b": 1}, 10) == 1.0
    assert ndcg(["x", "a"], {"a": 1}, 10) == 1 / log2(3)
    assert ndcg(["x", "a"], {"a": 1}, 1) == 0.0


@pytest.mark.slow
def test_ndcg_at_10_is_at_least_that_of_plain_bm25(tmp_path: Path, note: Note) -> None:
    folder = shared("data", "scifact")
    collection = Collection.open(tmp_path / "c")
    collection.add(
        (
            Document.from_text(row["_id"], row["text"], title=row["title"])
            for row in rows(folder / "corpus.jsonl.gz")
        ),
        chunking=ChunkingConfig(strategy="fixed", size=100_000),
        language="english",
    )
    info = collection.info()
    judged = judgements(folder / "qrels.tsv.gz")
    queries = {row["_id"]: row["text"] for row in rows(folder / "queries.jsonl.gz")}
    values = [
        ndcg(found(collection.search(queries[query], all_copies=True)), grades, 10)
        for query, grades in judged.items()
    ]
    mean = sum(values) / len(values)
    note(f"nDCG@10 {mean:.4f} over {len(values)} queries, {info.chunks} chunks")

    assert (len(values), info.documents, info.chunks) == (300, 5183, 5183)
    assert mean >= 0.68
