"""Search by vectors is exact, whatever a collection went through."""

import functools
import itertools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from groundkit_core import Collection, RetrievalResult
from groundkit_core.embedding import Vectors
from groundkit_core.index.faiss_bridge import Scan, serialised_scan
from groundkit_core.testing import InMemoryEmbedder
from groundkit_core.vectors import unit_vectors
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.index.support import documents, found, places

pytest.importorskip("faiss", reason="vectors are searched by faiss")

Step = dict[str, str] | frozenset[str] | str

WORDS = ("pump", "valve", "hose", "seven", "bar", "retry", "café", "茶壶", "bolt")
QUERIES = ("pump", "valve hose", "café bar seven", "absent words", "茶壶")

sources = st.sampled_from("abcdefgh")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
steps: st.SearchStrategy[Step] = st.one_of(
    st.dictionaries(sources, texts, min_size=1, max_size=4),
    st.dictionaries(sources, texts, min_size=1, max_size=4),
    st.frozensets(sources, min_size=1, max_size=3),
    st.sampled_from(["reopen", "reindex", "compact", "embed later"]),
)


def opened(path: Path, dimensions: int = 16) -> Collection:
    return Collection.open(path, embedder=InMemoryEmbedder(dimensions))


TIE = float.fromhex("0x1.dcap-4")
"""Lies in the middle of two numbers of half precision; the even one is the lower."""


@functools.cache
def ties_go_up() -> bool:
    """How the engine rounds, which depends on the processor."""
    return float(Scan(serialised_scan(np.array([[TIE]], np.float32))).vectors()[0, 0]) > TIE


def rounded(vectors: Vectors) -> Vectors:
    """Vectors in half precision."""
    nearest = vectors.astype(np.float16).astype(np.float32)
    bits = vectors.view(np.uint32)
    tie = (bits & 0x1FFF == 0x1000) & (np.abs(vectors) >= 2**-14)
    up = ((bits + 0x1000) & 0xFFFFE000).view(np.float32)
    return np.where(tie & ties_go_up(), up, nearest)


def test_rounding_here_is_that_of_the_engine() -> None:
    vectors = np.random.default_rng(1).normal(0, 0.2, (2000, 8)).astype(np.float32)
    vectors[:, 0] = np.float32(TIE)
    assert np.array_equal(Scan(serialised_scan(vectors)).vectors(), rounded(vectors))


def cosines(query: str, held: Mapping[str, str], dimensions: int = 16) -> dict[str, float]:
    """Scores by source as a scan over all rounded vectors gives them."""
    embedder = InMemoryEmbedder(dimensions)
    given = embedder.embed_now([query, *held.values()], "document")
    asked, *vectors = unit_vectors(given, 1 + len(held), dimensions, "")
    scores = rounded(np.array(vectors)).astype(np.float64) @ asked
    return dict(zip(held, scores.tolist(), strict=True))


def assert_exact(collection: Collection, held: Mapping[str, str], dimensions: int = 16) -> None:
    for query in QUERIES:
        expected = cosines(query, held, dimensions) if held else {}
        for k in (1, 3, 100):
            results = collection.search(query, mode="dense", top_k=k, all_copies=True).results
            assert_best(results, expected, k)


def assert_best(results: Sequence[RetrievalResult], expected: Mapping[str, float], k: int) -> None:
    """The results are the best k, each with its score, in order of score and chunk id."""
    sources = [result.citation.source for result in results]
    assert len(set(sources)) == len(sources) == min(k, len(expected))
    best = sorted(expected.values(), reverse=True)[:k]
    assert [result.score for result in results] == pytest.approx(best, abs=1e-6)
    for result in results:
        assert result.score == pytest.approx(expected[result.citation.source], abs=1e-6)
    order = [(-result.score, result.citation.chunk_id) for result in results]
    assert order == sorted(order)


def assert_sound(collection: Collection, distinct: int) -> None:
    assert collection.check() == []
    assert collection.info().vectors == distinct


@settings(max_examples=25, deadline=None)
@given(st.lists(steps, min_size=1, max_size=14))
def test_any_history_gives_what_a_scan_over_all_vectors_gives(history: Sequence[Step]) -> None:
    held = {"a": "pump valve"}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c"
        collection = opened(path)
        collection.add(documents(held))
        for step in history:
            if isinstance(step, dict):
                collection.add(documents(step))
                held |= step
            elif isinstance(step, frozenset):
                gone = sorted(step & held.keys())
                collection.remove(gone)
                held = {source: text for source, text in held.items() if source not in gone}
            elif step == "reopen":
                collection = opened(path)
            elif step == "reindex":
                collection.reindex()
            elif step == "compact":
                collection.compact()
            else:
                Collection.open(path).add(documents({"z": "later pump"}))
                collection.add(documents({}))
                held["z"] = "later pump"
        assert_exact(collection, held)
        assert_exact(opened(path), held)
        assert_sound(collection, len(set(held.values())))


def test_a_removed_vector_is_never_found_again(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    held = {"a": "pump", "b": "valve", "c": "hose"}
    collection.add(documents(held))
    collection.remove(["b"])
    collection.add(documents({"d": "bolt"}))
    held = {"a": "pump", "c": "hose", "d": "bolt"}

    for each in (collection, opened(tmp_path / "c")):
        for source, text in held.items():
            response = each.search(text, mode="dense", top_k=10)
            assert found(response)[0] == source
            assert sorted(found(response)) == sorted(held)
            assert response.results[0].score == pytest.approx(1, abs=1e-3)
        assert_exact(each, held)


def test_a_text_that_comes_back_is_found_once(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    collection.add(documents({"a": "pump", "b": "valve"}))
    for _ in range(3):
        collection.remove(["b"])
        collection.add(documents({"b": "valve"}))
    assert_exact(collection, {"a": "pump", "b": "valve"})
    assert_sound(collection, 2)


def test_a_collection_of_none_has_no_neighbours(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    collection.add(documents({"a": "pump"}))
    collection.remove(["a"])
    assert collection.search("pump", mode="dense").results == ()
    assert collection.search("pump", mode="hybrid").results == ()
    assert_sound(collection, 0)


@pytest.mark.parametrize("dimensions", [1, 3, 7, 384])
def test_any_number_of_dimensions_is_exact(dimensions: int, tmp_path: Path) -> None:
    rng = random.Random(dimensions)
    held = {f"s{n}": " ".join(rng.sample(WORDS, 3)) + f" w{n}" for n in range(40)}
    collection = opened(tmp_path / "c", dimensions)
    collection.add(documents(held))
    collection.remove([f"s{n}" for n in range(0, 40, 3)])
    left = {f"s{n}": held[f"s{n}"] for n in range(40) if n % 3}
    assert_exact(collection, left, dimensions)


def test_texts_equally_near_are_in_order_of_chunk_id_at_any_depth(tmp_path: Path) -> None:
    orders = list(itertools.permutations(WORDS[:4]))
    collection = opened(tmp_path / "c")
    for n in range(0, 24, 6):
        held = {f"s{m}": " ".join(orders[m]) for m in range(n, n + 6)}
        collection.add(documents({**held, f"far{n}": f"bolt w{n}"}))
    query = " ".join(WORDS[:4])
    whole = places(collection.search(query, mode="dense", top_k=100))
    assert len({score for score, _ in whole[:24]}) == 1
    assert whole == sorted(whole, key=lambda place: (-place[0], place[1]))
    for _ in range(2):
        for k in (1, 2, 5, 20, 25):
            assert places(collection.search(query, mode="dense", top_k=k)) == whole[:k]
        collection.compact()


def test_merging_changes_no_bit_of_a_score(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c", 384)
    for n in range(5):
        collection.add(documents({f"{n}-{m}": f"w{n} w{m} w{n * m}" for m in range(9)}))
    collection.remove(["1-1", "3-8"])
    before = [collection.search(f"w{n}", mode="dense", top_k=50).results for n in range(9)]
    collection.compact()
    after = [collection.search(f"w{n}", mode="dense", top_k=50).results for n in range(9)]
    assert after == before
    assert_sound(collection, len({f"w{n} w{m} w{n * m}" for n in range(5) for m in range(9)}) - 2)


def test_many_small_commits_leave_few_segments(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c", 4)
    segments = tmp_path / "c" / "segments"
    most = 0
    for n in range(200):
        collection.add(documents({f"s{n % 150}": f"pump w{n}"}))
        most = max(most, len(list(segments.glob("*.vec"))))
    assert most <= 16
    assert_sound(collection, 150)
    assert_exact(collection, {f"s{n % 150}": f"pump w{n}" for n in range(200)}, 4)


def vec_files(collection: Collection) -> int:
    return len(list((collection.path / "segments").glob("*.vec")))


def test_compacting_leaves_one_file_and_nothing_else(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    for n in range(5):
        collection.add(documents({f"s{n}": f"pump w{n}"}))
    collection.remove(["s1"])
    collection.compact()
    assert vec_files(collection) == 1
    collection.compact()
    assert vec_files(collection) == 1
    assert_exact(collection, {f"s{n}": f"pump w{n}" for n in (0, 2, 3, 4)})


def test_merging_leaves_no_file_that_nothing_names(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    for n in range(8):
        collection.add(documents({f"s{n}": f"pump w{n}"}))
    assert vec_files(collection) == 1


def test_vector_files_cost_no_more_than_the_plain_vectors(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c", 384)
    collection.add(documents({f"s{n}": f"pump w{n}" for n in range(2000)}))
    size = sum(file.stat().st_size for file in (tmp_path / "c" / "segments").glob("*.vec"))
    assert size <= 1.3 * 4 * 384 * 2000
    assert size <= 0.6 * 4 * 384 * 2000


def test_a_path_that_is_not_ascii_works(tmp_path: Path) -> None:
    path = tmp_path / "索引 ü" / "x"
    opened(path).add(documents({"a": "pump", "b": "valve"}))
    assert found(opened(path).search("valve", mode="dense"))[0] == "b"
