"""Words and vectors fused: the formula by hand, copies, and the right to find nothing."""

import itertools
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from groundkit_core import Collection, Document, Retriever, SearchResponse
from groundkit_core.blocking import result_of
from groundkit_core.contracts import Component, SearchMode
from groundkit_core.errors import EmbeddingError, RetrievalError
from groundkit_core.retrieval.legs import FUSION_DEPTH, Fusion
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.embedders import BrokenEmbedder, FailingEmbedder

pytest.importorskip("faiss", reason="vectors are searched by faiss")

TEXTS = {
    "a": "The pump stops at seven bar.",
    "b": "Pump pump pump.",
    "c": "The valve opens at nine bar.",
    "d": "Hose and bolt.",
    "e": "A bar of soap beside the pump house, at seven in the morning.",
    "f": "Nothing in common here.",
}


def opened(path: Path, texts: dict[str, str] | None = None) -> Collection:
    collection = Collection.open(path, embedder=InMemoryEmbedder(64))
    held = TEXTS if texts is None else texts
    collection.add([Document.from_text(source, text) for source, text in held.items()])
    return collection


def ranks(response: SearchResponse) -> dict[str, tuple[int, float]]:
    """Rank and score by source."""
    return {r.citation.source: (r.rank, r.score) for r in response.results}


def ordered(response: SearchResponse) -> list[str]:
    return [result.citation.source for result in response.results]


@pytest.mark.parametrize("query", ["pump seven bar", "valve", "soap house", "Nothing pump"])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.5, 1.0), (0.25, 2.0)])
def test_a_score_is_the_sum_over_both_rankings(
    query: str, weights: tuple[float, float], tmp_path: Path
) -> None:
    collection = opened(tmp_path / "c")
    words = ranks(collection.search(query, top_k=100))
    near = ranks(collection.search(query, top_k=100, mode="dense"))
    assert len(near) == len(TEXTS)
    fused = collection.search(query, top_k=100, mode="hybrid", fusion=Fusion(weights))
    expected = {
        source: sum(
            weight / (60 + held[source][0])
            for weight, held in zip(weights, (words, near), strict=True)
            if source in held
        )
        for source in near
    }
    assert {r.citation.source: r.score for r in fused.results} == pytest.approx(expected)
    for result in fused.results:
        source = result.citation.source
        assert result.components == {
            name: Component(rank=held[source][0], score=held[source][1])
            for name, held in (("bm25", words), ("dense", near))
            if source in held
        }
    order = [(-result.score, result.citation.chunk_id) for result in fused.results]
    assert order == sorted(order)
    assert [result.rank for result in fused.results] == [*range(1, len(TEXTS) + 1)]


@pytest.mark.parametrize("mode", ["bm25", "dense"])
def test_a_single_ranking_has_no_components(mode: SearchMode, tmp_path: Path) -> None:
    results = opened(tmp_path / "c").search("pump", mode=mode).results
    assert results
    assert all(result.components == {} for result in results)


def test_a_weight_of_zero_takes_a_ranking_out(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    words = collection.search("pump bar", top_k=100)
    alone = collection.search("pump bar", top_k=100, mode="hybrid", fusion=Fusion((1, 0)))
    assert ordered(alone) == ordered(words)
    assert [r.score for r in alone.results] == [1 / (60 + r.rank) for r in words.results]
    near = collection.search("pump bar", top_k=100, mode="dense")
    alone = collection.search("pump bar", top_k=100, mode="hybrid", fusion=Fusion((0, 1)))
    assert ordered(alone) == ordered(near)
    assert collection.search("pump", mode="hybrid", fusion=Fusion((0, 0))).results == ()


@pytest.mark.parametrize(
    "fusion",
    [
        ((-1.0, 1.0), None),
        ((1.0, float("nan")), None),
        ((1.0, float("inf")), None),
        ((1.0, 1.0), float("nan")),
        ((1.0, 1.0), 1.5),
        ((1.0, 1.0), -1.5),
    ],
)
def test_weights_and_floors_that_mean_nothing_are_refused(
    fusion: tuple[tuple[float, float], float | None], tmp_path: Path
) -> None:
    with pytest.raises(RetrievalError):
        opened(tmp_path / "c").search("pump", mode="hybrid", fusion=Fusion(*fusion))


def test_a_floor_keeps_distant_neighbours_out(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    query = "pump seven bar"
    near = collection.search(query, mode="dense")
    scores = {result.citation.source: result.score for result in near.results}
    floor = sorted(scores.values())[3]
    kept = {source for source, score in scores.items() if score >= floor}
    assert len(kept) == 3
    words = {r.citation.source for r in collection.search(query).results}

    dense = collection.search(query, mode="dense", fusion=Fusion(min_similarity=floor))
    assert set(ordered(dense)) == kept
    assert ordered(dense) == ordered(near)[:3]
    hybrid = collection.search(query, mode="hybrid", fusion=Fusion(min_similarity=floor))
    assert set(ordered(hybrid)) == kept | words
    for result in hybrid.results:
        assert ("dense" in result.components) == (result.citation.source in kept)


def test_with_a_floor_an_unrelated_query_finds_nothing(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    query = "zebra quagga okapi"
    assert len(collection.search(query, mode="hybrid").results) == len(TEXTS)
    modes: tuple[SearchMode, ...] = ("dense", "hybrid")
    for mode in modes:
        floor = Fusion(min_similarity=0.6)
        assert collection.search(query, mode=mode, fusion=floor).results == ()
        retriever = Retriever(collection, fusion=floor)
        assert result_of(retriever.search(query, mode=mode)).results == ()
        assert ordered(collection.search(TEXTS["c"], mode=mode, fusion=floor))[0] == "c"


def test_the_same_text_in_two_places_is_one_result_that_lists_both(tmp_path: Path) -> None:
    texts = {**TEXTS, "copy/1": TEXTS["a"], "copy/2": TEXTS["a"]}
    collection = opened(tmp_path / "c", texts)
    places = {"a", "copy/1", "copy/2"}
    modes: tuple[SearchMode, ...] = ("dense", "hybrid")
    for mode in modes:
        first = collection.search(TEXTS["a"], mode=mode).results[0]
        assert {first.citation.source, *(c.source for c in first.copies)} == places
        collapsed = collection.search(TEXTS["a"], mode=mode, top_k=100)
        assert len({result.content for result in collapsed.results}) == len(collapsed.results) == 6
        listed = collection.search(TEXTS["a"], mode=mode, top_k=100, all_copies=True)
        assert sorted(ordered(listed)) == sorted(texts)
        assert set(ordered(listed)[:3]) == places
        assert len({result.citation.document_id for result in listed.results}) == len(texts)
        assert all(result.copies == () for result in listed.results)
        ids = [r.citation.chunk_id for r in listed.results if r.content == TEXTS["a"]]
        assert first.citation.chunk_id == min(ids)
        if mode == "dense":
            assert ids == sorted(ids)


def test_many_copies_do_not_crowd_out_the_other_texts(tmp_path: Path) -> None:
    copies = {f"copy/{n:03}": TEXTS["a"] for n in range(130)}
    collection = opened(tmp_path / "c", {**TEXTS, **copies})
    modes: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
    for mode in modes:
        response = collection.search("pump seven bar", mode=mode, top_k=3)
        assert len({result.content for result in response.results}) == 3
        assert max(len(result.copies) for result in response.results) == 130


def test_one_text_beneath_many_titles_does_not_crowd_out_the_others(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    titled = [Document.from_text(f"t{n}", TEXTS["a"], title=f"T{n}") for n in range(40)]
    collection.add(titled)
    modes: tuple[SearchMode, ...] = ("dense", "hybrid")
    for mode in modes:
        response = collection.search(TEXTS["a"], mode=mode, top_k=6)
        assert len(response.results) == 6


def test_as_many_results_come_as_there_are_texts(tmp_path: Path) -> None:
    texts = {f"s{n:03}": f"pump w{n}" for n in range(FUSION_DEPTH + 20)}
    collection = opened(tmp_path / "c", texts)
    modes: tuple[SearchMode, ...] = ("dense", "hybrid")
    for mode, k in itertools.product(modes, (1, 10, 100)):
        assert len(collection.search("pump w7", mode=mode, top_k=k).results) == k
    assert len(collection.search("w7", mode="hybrid", top_k=100).results) == 100


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_equal_scores_are_in_order_of_chunk_id(mode: SearchMode, tmp_path: Path) -> None:
    texts = {f"s{n}": " ".join(p) for n, p in enumerate(itertools.permutations(("x", "y", "z")))}
    collection = opened(tmp_path / "c", texts)
    whole = collection.search("x y z", mode=mode).results
    order = [(-result.score, result.citation.chunk_id) for result in whole]
    assert order == sorted(order)
    for k in range(1, 7):
        assert collection.search("x y z", mode=mode, top_k=k).results == whole[:k]


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_the_order_of_ingest_does_not_matter(mode: SearchMode, tmp_path: Path) -> None:
    found: set[str] = set()
    for n, order in enumerate([list(TEXTS), list(reversed(TEXTS)), sorted(TEXTS, key=TEXTS.get)]):  # type: ignore[arg-type]
        collection = Collection.open(tmp_path / f"c{n}", embedder=InMemoryEmbedder(64))
        for source in order:
            collection.add([Document.from_text(source, TEXTS[source])])
        results = collection.search("pump seven bar", mode=mode).results
        found.add("\n".join(result.model_dump_json() for result in results))
    assert len(found) == 1


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_bad_request_is_refused_before_anything_is_embedded(
    mode: SearchMode, tmp_path: Path
) -> None:
    collection = opened(tmp_path / "c")
    embedder = InMemoryEmbedder(64)
    reader = Collection.open(tmp_path / "c", embedder=embedder)
    for query, k in (("", 10), ("  ", 10), ("x" * 100_000, 10), ("pump", 0), ("pump", 101)):
        with pytest.raises(RetrievalError):
            reader.search(query, top_k=k, mode=mode)
        with pytest.raises(RetrievalError):
            result_of(Retriever(collection, embedder=embedder).search(query, top_k=k, mode=mode))
    assert embedder.asked == []


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_an_embedder_that_fails_at_the_query_fails_the_search(
    mode: SearchMode, tmp_path: Path
) -> None:
    opened(tmp_path / "c")
    spoiled: Iterable[InMemoryEmbedder] = (
        FailingEmbedder(1, dimensions=64),
        BrokenEmbedder(lambda rows: rows * np.nan, 64),
        BrokenEmbedder(lambda rows: rows * 0, 64),
        BrokenEmbedder(lambda rows: rows[:, :9], 64),
        BrokenEmbedder(lambda rows: np.concatenate([rows, rows]), 64),
    )
    for embedder in spoiled:
        with pytest.raises(EmbeddingError) as caught:
            Collection.open(tmp_path / "c", embedder=embedder).search("canary", mode=mode)
        assert "canary" not in str(caught.value)


def test_vectors_need_not_come_with_length_one(tmp_path: Path) -> None:
    right = ranks(opened(tmp_path / "c").search("pump seven", mode="dense"))
    long = BrokenEmbedder(lambda rows: rows.astype(np.float64) * 1000, 64)
    found = ranks(Collection.open(tmp_path / "c", embedder=long).search("pump seven", mode="dense"))
    assert {source: rank for source, (rank, _) in found.items()} == {
        source: rank for source, (rank, _) in right.items()
    }
    for source, (_, score) in found.items():
        assert score == pytest.approx(right[source][1], abs=1e-6)


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="there is no mode 'sparse'; it is bm25, dense or"):
        opened(tmp_path / "c").search("pump", mode="sparse")  # type: ignore[arg-type]


def test_results_are_verified_in_every_mode(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("The pump stops.\n")
    collection = Collection.open(tmp_path / "c", embedder=InMemoryEmbedder(64))
    collection.ingest([docs])
    modes: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
    for mode in modes:
        (result,) = collection.search("pump", mode=mode, verify=True).results
        assert result.verification is not None
        assert result.verification.status == "verified"
    (docs / "a.txt").write_text("Something else.\n")
    (result,) = collection.search("pump", mode="hybrid", verify=True).results
    assert result.verification is not None
    assert result.verification.status == "drifted"
