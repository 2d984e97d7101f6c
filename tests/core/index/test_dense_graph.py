"""Compacted segments with a graph find what a scan finds."""

import random
from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.support import documents, found

pytest.importorskip("faiss", reason="vectors are searched by faiss")

from tests.core.index.test_dense import cosines

WORDS = [f"w{n}" for n in range(80)]
TEXTS = {f"s{n}": " ".join(random.Random(n).sample(WORDS, 8)) for n in range(1200)}
QUERIES = [" ".join(random.Random(-n).sample(WORDS, 5)) for n in range(1, 21)]


def opened(path: Path) -> Collection:
    return Collection.open(path, embedder=InMemoryEmbedder(32))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("dense", "spaces"):
        monkeypatch.setattr(f"groundkit_core.index.{module}.GRAPH_FROM", 500)
    opened(tmp_path / "c").add(documents(TEXTS))
    opened(tmp_path / "c").compact()
    return tmp_path / "c"


def recall(collection: Collection, held: dict[str, str], k: int = 10) -> float:
    """Mean share of the true best k that is found; each score is exact and in order."""
    shares = []
    for query in QUERIES:
        right = cosines(query, held, 32)
        best = set(sorted(right, key=lambda source: -right[source])[:k])
        results = collection.search(query, mode="dense", top_k=k).results
        assert len(results) == min(k, len(held))
        order = [(-result.score, result.citation.chunk_id) for result in results]
        assert order == sorted(order)
        for result in results:
            assert result.score == pytest.approx(right[result.citation.source], abs=1e-6)
        shares.append(len(best & {result.citation.source for result in results}) / k)
    return sum(shares) / len(shares)


def test_a_scan_becomes_a_graph_only_when_it_is_compacted(path: Path, tmp_path: Path) -> None:
    assert opened(path).info().vector_index == "graph"
    small = opened(tmp_path / "small")
    small.add(documents(dict(list(TEXTS.items())[:499])))
    small.compact()
    assert small.info().vector_index == "scan"
    large = opened(tmp_path / "large")
    large.add(documents(TEXTS))
    assert large.info().vector_index == "scan"


def test_a_graph_finds_what_a_scan_finds(path: Path) -> None:
    assert recall(opened(path), TEXTS) >= 0.98
    assert opened(path).check() == []


def test_what_is_added_and_removed_afterwards_counts(path: Path) -> None:
    new = {f"n{n}": " ".join(random.Random(9000 + n).sample(WORDS, 8)) for n in range(30)}
    opened(path).add(documents(new))
    gone = [f"s{n}" for n in range(0, 1200, 3)]
    opened(path).remove(gone)
    held = {source: text for source, text in {**TEXTS, **new}.items() if source not in gone}
    assert recall(opened(path), held) >= 0.98
    assert opened(path).check() == []


@pytest.mark.parametrize("left", [0.7, 0.3, 0.15])
def test_as_many_come_as_are_wanted_when_many_are_gone(left: float, path: Path) -> None:
    kept = [source for n, source in enumerate(TEXTS) if random.Random(n).random() < left]
    opened(path).remove([source for source in TEXTS if source not in set(kept)])
    held = {source: TEXTS[source] for source in kept}
    for k in (10, 100):
        assert recall(opened(path), held, k) >= 0.98


def test_a_text_finds_itself(path: Path) -> None:
    collection = opened(path)
    some = list(TEXTS)[::3]
    own = [
        source
        for source in some
        if found(collection.search(TEXTS[source], mode="dense", top_k=1)) == [source]
    ]
    assert len(own) >= 0.995 * len(some)


def test_compacting_again_changes_nothing(path: Path) -> None:
    opened(path).compact()
    before = sorted(file.name for file in (path / "segments").iterdir())
    assert len(before) == 2
    opened(path).compact()
    assert sorted(file.name for file in (path / "segments").iterdir()) == before
