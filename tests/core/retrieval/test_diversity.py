"""A cap per document and near-duplicates left out: a plain pass over the whole ranking."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from groundkit_core import ChunkingConfig, Collection, Document, RetrievalResult, Retriever
from groundkit_core.blocking import result_of
from groundkit_core.contracts import SearchMode, SearchResponse
from groundkit_core.errors import RetrievalError
from groundkit_core.retrieval.diversity import Diversity, resemblance, shingles
from groundkit_core.retrieval.filters import Condition
from groundkit_core.testing import InMemoryEmbedder
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("faiss", reason="vectors are searched by faiss")

MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
SIX_WORDS = ChunkingConfig(strategy="fixed", size=6)
QUERY = "pump valve hose"


def collection_of(path: Path, texts: Mapping[str, str], order: Iterable[str]) -> Collection:
    """Passages of six words, each document committed by itself."""
    collection = Collection.open(path, embedder=InMemoryEmbedder(32))
    for source in order:
        group = {"half": source < "m"}
        document = Document.from_text(source, texts[source], metadata=group)
        collection.add([document], chunking=SIX_WORDS)
    return collection


def some_texts(seed: int) -> dict[str, str]:
    """Few words in many orders: equal passages, similar ones and others, 90 at most."""
    rng = random.Random(seed)
    words = ["pump", "valve", "hose", "bar", "bolt", "seven"]
    passages = [rng.choices(words, k=6) for _ in range(12)]
    texts = {}
    for source in rng.sample("abcdefghijklmnopqrstuvwxyz", 9):
        said = []
        for _ in range(rng.randint(1, 10)):
            passage = list(rng.choice(passages))
            if rng.random() < 0.6:
                passage[rng.choice([0, 5])] = f"w{rng.randint(0, 30)}"
            said += passage
        texts[source] = " ".join(said)
    return texts


def three_words(text: str) -> set[tuple[str, ...]]:
    said = text.lower().split()
    return {tuple(said[at : at + 3]) for at in range(len(said) - 2)} or {tuple(said)}


def jaccard(one: str, other: str) -> float:
    left, right = three_words(one), three_words(other)
    return len(left & right) / len(left | right)


def plain_pass(
    ranked: Sequence[RetrievalResult], k: int, asked: Diversity, *, all_copies: bool = False
) -> list[tuple[str, list[str]]]:
    """Chunk ids that are kept, best first, each with those left out as similar to it."""
    kept: list[tuple[RetrievalResult, list[str]]] = []
    held: Counter[str] = Counter()
    for result in ranked:
        if len(kept) == k:
            break
        if not all_copies and any(other.content == result.content for other, _ in kept):
            continue
        if asked.near_duplicates is not None:
            like = [jaccard(result.content, other.content) for other, _ in kept]
            if max(like, default=0) >= asked.near_duplicates:
                kept[like.index(max(like))][1].append(result.citation.chunk_id)
                continue
        if held[result.citation.source] == asked.per_document:
            continue
        kept.append((result, []))
        held[result.citation.source] += 1
    return [(result.citation.chunk_id, left_out) for result, left_out in kept]


def given_by(response: SearchResponse) -> list[tuple[str, list[str]]]:
    return [
        (result.citation.chunk_id, [other.chunk_id for other in result.similar])
        for result in response.results
    ]


def search(collection: Collection, k: int = 100, **asked: Any) -> SearchResponse:
    return collection.search(QUERY, top_k=k, **asked)


ASKED = [
    Diversity(per_document=1),
    Diversity(per_document=3),
    Diversity(near_duplicates=0.3),
    Diversity(near_duplicates=0.5),
    Diversity(near_duplicates=1.0),
    Diversity(per_document=2, near_duplicates=0.5),
]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_kept_is_a_plain_pass_over_the_whole_ranking(seed: int, tmp_path: Path) -> None:
    texts = some_texts(seed)
    collection = collection_of(tmp_path / "c", texts, texts)
    half = Condition(key="half", equals=True)
    for mode in MODES:
        for filters in (None, half):
            whole = search(collection, mode=mode, filters=filters, all_copies=True).results
            assert 0 < len(whole) < 100
            for asked in ASKED:
                for k in (1, 2, 5, 100):
                    found = search(collection, k, mode=mode, filters=filters, diversity=asked)
                    assert given_by(found) == plain_pass(whole, k, asked)
                    scores = {r.citation.chunk_id: r.score for r in whole}
                    assert all(r.score == scores[r.citation.chunk_id] for r in found.results)
                    assert [r.rank for r in found.results] == [*range(1, len(found.results) + 1)]


@pytest.mark.parametrize("per_document", [1, 2, 7])
def test_a_cap_counts_every_copy_where_all_are_listed(per_document: int, tmp_path: Path) -> None:
    texts = some_texts(5)
    collection = collection_of(tmp_path / "c", texts, texts)
    asked = Diversity(per_document=per_document)
    whole = search(collection, all_copies=True).results
    for k in (1, 4, 100):
        found = search(collection, k, diversity=asked, all_copies=True)
        assert given_by(found) == plain_pass(whole, k, asked, all_copies=True)
        counted = Counter(result.citation.source for result in found.results)
        assert max(counted.values()) <= per_document


def test_the_order_of_ingest_changes_nothing(tmp_path: Path) -> None:
    texts = some_texts(6)
    responses = []
    for n in range(3):
        order = random.Random(n).sample(sorted(texts), len(texts))
        collection = collection_of(tmp_path / str(n) / "c", texts, order)
        if n == 2:
            collection.compact()
        responses.append(
            [search(collection, 6, mode=mode, diversity=ASKED[-1]).results for mode in MODES]
        )
    assert responses[0] == responses[1] == responses[2]


def crowd(path: Path, *, alike: bool) -> Collection:
    """A document whose 500 passages all rank first, and thirty that rank below."""
    passages = [f"pump pump pump valve hose {'' if alike else 'n'}{n}" for n in range(500)]
    collection = Collection.open(path, embedder=InMemoryEmbedder(32))
    collection.add([Document.from_text("crowd", " ".join(passages))], chunking=SIX_WORDS)
    others = [Document.from_text(f"s{n}", f"pump with much else {n} in") for n in range(30)]
    collection.add(others)
    return collection


@pytest.mark.parametrize("k", [1, 2, 3, 10, 32])
def test_a_document_with_500_better_passages_does_not_fill_the_results(
    k: int, tmp_path: Path
) -> None:
    collection = crowd(tmp_path / "c", alike=False)
    best = [r.citation.chunk_id for r in search(collection, 2).results]
    rest = [
        r.citation.chunk_id
        for r in search(collection, filters=Condition(key="source", prefix="s")).results
    ]
    found = search(collection, k, diversity=Diversity(per_document=2))
    assert [r.citation.chunk_id for r in found.results] == [*best, *rest][:k]


def test_what_exists_is_found_however_deep_it_ranks(tmp_path: Path) -> None:
    collection = crowd(tmp_path / "c", alike=False)
    for mode in MODES:
        for k in (1, 8, 31):
            found = search(collection, k, mode=mode, diversity=Diversity(per_document=1))
            assert len({result.citation.source for result in found.results}) == k


@pytest.mark.parametrize("mode", ["bm25", "dense"])
def test_fewer_results_are_the_first_of_more(mode: SearchMode, tmp_path: Path) -> None:
    rng = random.Random(1)
    words = ["pump", "valve", "hose", "bar", "bolt", "seven", "nine", "soap"]
    large = [f"{' '.join(rng.choices(words, k=5))} w{n}" for n in range(500)]
    small = [f"{' '.join(rng.choices(words, k=rng.randint(2, 9)))} z{n}" for n in range(60)]
    collection = Collection.open(tmp_path / "c", embedder=InMemoryEmbedder(32))
    collection.add([Document.from_text("large", " ".join(large))], chunking=SIX_WORDS)
    collection.add([Document.from_text(f"s{n}", text) for n, text in enumerate(small)])
    asked = Diversity(per_document=3)
    most = given_by(search(collection, 50, mode=mode, diversity=asked))
    for k in (5, 11, 15, 20, 40):
        found = given_by(search(collection, k, mode=mode, diversity=asked))
        assert [chunk for chunk, _ in found] == [chunk for chunk, _ in most[:k]]


def test_500_near_duplicates_are_one_result_that_lists_the_others_once(tmp_path: Path) -> None:
    collection = crowd(tmp_path / "c", alike=True)
    asked = Diversity(near_duplicates=0.6)
    alone = search(collection, 1, diversity=asked).results
    assert [len(result.similar) for result in alone] == [0]
    first, second = search(collection, 2, diversity=asked).results
    assert first.citation.source == "crowd"
    listed = [each.chunk_id for each in (first.citation, *first.similar)]
    assert len(set(listed)) == len(listed) == 500
    assert {each.source for each in first.similar} == {"crowd"}
    assert (second.citation.source[0], second.similar) == ("s", ())


def test_what_ranks_below_the_last_result_is_not_listed_as_similar(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    texts = {
        "first": "pump valve hose one two three",
        "like first": "pump valve hose one two thirty",
        "second": "hose and a pump beside it",
        "like second": "hose and a pump beside it all day and all night",
    }
    collection.add([Document.from_text(source, text) for source, text in texts.items()])

    def similar(k: int) -> dict[str, list[str]]:
        found = search(collection, k, diversity=Diversity(near_duplicates=0.3))
        return {r.citation.source: [c.source for c in r.similar] for r in found.results}

    ranked = [r.citation.source for r in search(collection).results]
    first, like = ranked[:2]
    assert {first, like} == {"first", "like first"}
    assert ranked[2:] == ["second", "like second"]
    assert similar(1) == {first: []}
    assert similar(2) == {first: [like], "second": []}
    assert similar(3) == {first: [like], "second": ["like second"]}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a b c d", "a b c d", 1),
        ("a b c d", "a b c e", 1 / 3),
        ("a b c d e f", "b c d e f g", 3 / 5),
        ("a b c", "c b a", 0),
        ("a b c a b c", "a b c", 1 / 3),
        ("a b", "a b", 1),
        ("a b", "a b c", 0),
        ("A, b: C!", "a b c", 1),
        ("retry_limit of 5 bar", "retry_limit of 5 bar", 1),
        ("Straße am Fluss", "STRASSE AM FLUSS", 1),
    ],
)
def test_resemblance_is_shared_runs_of_three_words_over_all(
    one: str, other: str, expected: float
) -> None:
    assert resemblance(shingles(one), shingles(other)) == expected
    assert resemblance(shingles(other), shingles(one)) == expected


short_words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=12).map(" ".join)


@given(short_words, short_words)
def test_resemblance_is_that_of_sets(one: str, other: str) -> None:
    assert resemblance(shingles(one), shingles(other)) == jaccard(one, other)


def test_composed_and_decomposed_text_is_the_same_wording() -> None:
    text = "le caf\u00e9 \u00e9tait ferm\u00e9"
    assert resemblance(shingles(text), shingles(normalize("NFD", text))) == 1


def test_a_sign_more_in_an_unspaced_script_leaves_most_of_the_wording() -> None:
    text = "茶壶在厨房的架子上钥匙挂在门后面水泵在七巴时停止"
    assert resemblance(shingles(text), shingles(f"{text}了")) > 0.8


def test_passages_without_a_word_resemble_nothing() -> None:
    assert resemblance(shingles("* * *"), shingles("---")) == 0


@pytest.mark.parametrize("per_document", [0, -1])
def test_a_cap_below_one_is_an_error(per_document: int) -> None:
    with pytest.raises(RetrievalError, match=f"per_document is {per_document}"):
        Diversity(per_document=per_document)


@pytest.mark.parametrize("share", [0.0, -0.5, 1.01, float("nan"), float("inf")])
def test_a_share_that_means_nothing_is_an_error(share: float) -> None:
    with pytest.raises(RetrievalError, match="near_duplicates is"):
        Diversity(near_duplicates=share)


def test_listing_all_copies_and_leaving_out_the_similar_is_an_error(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "none")
    with pytest.raises(RetrievalError, match="near-duplicates"):
        search(collection, diversity=Diversity(near_duplicates=0.5), all_copies=True)


def test_a_retriever_keeps_to_its_diversity(tmp_path: Path) -> None:
    texts = some_texts(7)
    collection = collection_of(tmp_path / "c", texts, texts)
    for mode in MODES:
        retriever = Retriever(collection, diversity=ASKED[-1])
        awaited = result_of(retriever.search(QUERY, top_k=20, mode=mode))
        assert awaited == search(collection, 20, mode=mode, diversity=ASKED[-1])
        assert any(result.similar for result in awaited.results)
