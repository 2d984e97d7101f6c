import sys
from pathlib import Path

import numpy as np
import pytest
from groundkit_core.embedding import Vectors

from benchmarks import near
from benchmarks.__main__ import main
from benchmarks.dense_case import measured_case, slots_of
from benchmarks.dense_collection import in_collection
from benchmarks.dense_peers import Faiss
from benchmarks.dense_sides import Groundkit, missing_sides, present_sides
from benchmarks.near import SIGMA, K, augmented, measured, true_neighbours

DIMENSIONS = 32


def unit(rows: int, seed: int) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((rows, DIMENSIONS), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@pytest.fixture
def no_lance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)


def test_the_true_neighbours_are_the_allowed_rows_with_the_largest_products(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors, queries = unit(300, 1), unit(4, 2)
    allowed = np.arange(300) % 3 == 0
    scores = queries @ vectors.T
    every = np.argsort(-scores, axis=1)[:, :K]
    some = np.argsort(-np.where(allowed, scores, -np.inf), axis=1)[:, :K]
    for block in (7, 1_000):
        monkeypatch.setattr(near, "_BLOCK", block)
        assert np.array_equal(true_neighbours(vectors, queries), every)
        assert np.array_equal(true_neighbours(vectors, queries, allowed), some)


def test_augmented_vectors_are_the_given_ones_and_noisy_copies_of_length_one() -> None:
    vectors = unit(50, 13)
    found = augmented(vectors, 120)
    assert np.array_equal(found[:50], vectors)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    to_its_own = np.einsum("nd,nd->n", found[50:100], vectors)
    # The noise is orthogonal to its vector but for one dimension in all.
    assert to_its_own.mean() == pytest.approx(1 / np.sqrt(1 + DIMENSIONS * SIGMA**2), abs=0.01)
    assert not np.array_equal(found[100:120], found[50:70])


def test_recall_is_the_mean_share_of_true_neighbours() -> None:
    truth = [np.array([1, 2, 3, 4]), np.array([5, 6, 7, 8])]
    answers = {"half": np.array([1, 2, 7, 8]), "none": np.array([9])}
    searches = {name: lambda _, rows=rows: rows for name, rows in answers.items()}
    found = measured(searches, unit(2, 4), truth)
    assert found["half"].recall == (2 / 4 + 2 / 4) / 2
    assert found["none"].recall == 0
    assert 0 < found["half"].p50 <= found["half"].p95


@pytest.mark.parametrize("graph", [False, True])
def test_groundkit_and_faiss_find_the_same_rows(tmp_path: Path, graph: bool) -> None:
    vectors, queries = unit(1_100, 5), unit(5, 6)
    slots = slots_of(1_100)
    sides = []
    for make in (Groundkit, Faiss):
        folder = tmp_path / make.__name__
        folder.mkdir()
        side = make(folder, graph=graph)
        side.build(vectors[:1_000], slots[:1_000])
        side.add(vectors[1_000:], slots[1_000:])
        sides.append(side)
    for below in (100, 50, 10):
        allowed = slots < below
        ours, raw = (side.search(below, allowed) for side in sides)
        for query, truth in zip(queries, true_neighbours(vectors, queries, allowed), strict=True):
            assert set(ours(query)) == set(raw(query)) == set(truth)


def test_small_segments_are_merged_as_they_are_in_a_collection(tmp_path: Path) -> None:
    side = Groundkit(tmp_path, graph=False)
    vectors, queries = unit(1_600, 7), unit(3, 8)
    side.build(vectors[:800], slots_of(800))
    for start in range(800, 1_600, 100):
        side.add(vectors[start : start + 100], slots_of(100))
    # Eight of one tier become one, and the ninth stands beside it.
    assert len(side._held()) == 2
    for query, truth in zip(queries, true_neighbours(vectors, queries), strict=True):
        assert set(side.search()(query)) == set(truth)


@pytest.mark.usefixtures("no_lance")
def test_a_case_has_a_row_for_each_side_and_for_each_kind_of_search() -> None:
    case = measured_case(unit(1_100, 9), 100, unit(5, 10), graph=True)
    assert (case.size, case.kind) == (1_000, "graph")
    assert [row["side"] for row in case.indexes] == ["groundkit", "faiss"] == [*present_sides()]
    assert [row["rows"] for row in case.searches] == [
        "all",
        "filter 50 %",
        "filter 10 %",
        "filter 1 %",
        "+ 1,000 rows",
        "- 10 %",
    ]
    assert all(row["recall"] > 0.9 and row["faiss recall"] > 0.9 for row in case.searches)
    # Two bytes a number in the scan, one in the graph, and the links.
    assert all(row["/ float32"] > 3 / 4 for row in case.indexes)


def test_a_collection_finds_its_neighbours_before_and_after_changes() -> None:
    vectors = unit(330, 11)
    row = in_collection([f"text {n}" for n in range(330)], vectors, 30, unit(5, 12))
    assert (row["texts"], row["recall"], row["recall after"]) == (300, 1.0, 1.0)
    assert row["vector files"] > 1


@pytest.mark.usefixtures("no_lance")
def test_a_peer_that_is_not_installed_is_named_with_the_reason() -> None:
    assert list(present_sides()) == ["groundkit", "faiss"]
    assert missing_sides().keys() == {"lancedb"}
    assert "ModuleNotFoundError" in missing_sides()["lancedb"]


def test_an_unknown_size_is_refused_before_anything_is_read() -> None:
    with pytest.raises(SystemExit, match="7 is no size; one of: 10000, 50000, 1000000"):
        main(["dense", "--size", "7"])
