"""Scores against the formula, a full scan and bm25s."""

import logging
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import numpy as np
import pytest
from groundkit_core import ChunkingConfig, Collection
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.index.bm25 import Statistics, search, statistics
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.index.lexical import LexicalIndex
from groundkit_core.terms import Analyzer
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.index.postings import COSTS, K1, VOCABULARY, B, Entry, Query, costs, scan, segment
from tests.core.index.support import documents


def kernel(
    segments: Sequence[Sequence[Entry]],
    query: Query,
    k: int,
    allowed: Sequence[bool] | None = None,
) -> list[tuple[float, int]]:
    return asked(opened(segments), segments, query, k, allowed)


def opened(segments: Sequence[Sequence[Entry]]) -> LexicalIndex:
    return LexicalIndex([segment(f"s{at}", chunks) for at, chunks in enumerate(segments)])


def asked(
    index: LexicalIndex,
    segments: Sequence[Sequence[Entry]],
    query: Query,
    k: int,
    allowed: Sequence[bool] | None = None,
) -> list[tuple[float, int]]:
    live = [chunk for chunks in segments for chunk in chunks if chunk.alive]
    weights = {VOCABULARY[term]: weight for term, weight in query.items()}
    stats = statistics(index, len(live), sum(chunk.length for chunk in live), weights)
    mask = None if allowed is None else np.array(allowed) & alive(segments)
    return [(hit.score, hit.key) for hit in search(index, weights, stats, k, mask)]


def alive(segments: Sequence[Sequence[Entry]]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([chunk.alive for chunks in segments for chunk in chunks])


@st.composite
def postings(draw: st.DrawFn) -> list[list[Entry]]:
    sizes = draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    ids = draw(st.permutations(range(sum(sizes))))
    tfs = st.tuples(*[st.sampled_from((0, 0, 0, 1, 1, 2, 9))] * len(VOCABULARY))
    spare = st.sampled_from((0, 0, 1, 5, 200))
    chunks = []
    for id_ in ids:
        tf = draw(tfs)
        chunks.append(Entry(tf, max(1, sum(tf) + draw(spare)), id_, draw(st.integers(0, 4)) > 0))
    ends = np.cumsum([0, *sizes]).tolist()
    return [chunks[a:b] for a, b in pairwise(ends)]


queries = st.dictionaries(
    st.integers(0, len(VOCABULARY) - 1),
    st.sampled_from((1.0, 1.0, 2.0, 3.0, 0.5, 1 / 3, 1e-9)),
    min_size=1,
)


@settings(max_examples=300, deadline=None)
@given(postings(), queries, st.integers(1, 20), st.sampled_from(COSTS), st.data())
def test_the_best_k_are_those_of_a_full_scan(
    segments: list[list[Entry]],
    query: Query,
    k: int,
    its: Mapping[str, int],
    data: st.DataObject,
) -> None:
    chunks = [chunk for held in segments for chunk in held]
    masks = st.lists(st.booleans(), min_size=len(chunks), max_size=len(chunks))
    allowed = data.draw(st.none() | masks)
    with costs(its):
        found = kernel(segments, query, k, allowed)

    assert found == scan(chunks, query, k, allowed)


@settings(max_examples=80, deadline=None)
@given(postings(), queries)
def test_segments_score_as_one(segments: list[list[Entry]], query: Query) -> None:
    chunks = [chunk for held in segments for chunk in held]
    live = [chunk for chunk in chunks if chunk.alive]

    assert kernel(segments, query, 40) == kernel([live], query, 40)


@pytest.mark.parametrize("k", [1, 3, 10, 100])
@pytest.mark.parametrize("seed", range(6))
def test_pruning_loses_nothing_on_skewed_postings(seed: int, k: int) -> None:
    chance = random.Random(seed)
    rates = (0.9, 0.5, 0.2, 0.05, 0.02, 0.01, 0.004)
    chunks = []
    for id_ in chance.sample(range(10**6), 1500):
        tf = tuple(chance.choice((1, 1, 2, 5)) * (chance.random() < rate) for rate in rates)
        length = max(1, sum(tf) + chance.randrange(100))
        chunks.append(Entry(tf, length, id_, chance.random() < 0.9))
    cuts = [0, *sorted(chance.sample(range(1, 1500), chance.randrange(6))), 1500]
    segments = [chunks[a:b] for a, b in pairwise(cuts)]
    index = opened(segments)
    for _ in range(6):
        query = Counter(chance.choices(range(len(VOCABULARY)), k=chance.randrange(1, 8)))
        allowed = [chance.random() < 0.3 for _ in chunks] if chance.random() < 0.5 else None
        with costs(COSTS[seed]):
            found = asked(index, segments, query, k, allowed)

        assert found == scan(chunks, query, k, allowed)


def test_a_score_is_the_lucene_formula() -> None:
    chunks = [
        Entry((2, 1, 0, 0, 0, 0, 0), 3, 0, True),
        Entry((0, 1, 0, 0, 0, 0, 0), 5, 1, True),
        Entry((0, 0, 1, 0, 0, 0, 0), 10, 2, True),
    ]
    average = (3 + 5 + 10) / 3
    idf_0 = log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    idf_1 = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    first = idf_0 * 2 / (2 + K1 * (1 - B + B * 3 / average)) + 2 * idf_1 * 1 / (
        1 + K1 * (1 - B + B * 3 / average)
    )
    second = 2 * idf_1 * 1 / (1 + K1 * (1 - B + B * 5 / average))

    hits = kernel([chunks], {0: 1, 1: 2}, 10)

    assert [id_ for _, id_ in hits] == [0, 1]
    assert [score for score, _ in hits] == pytest.approx([first, second], rel=1e-14)


def test_a_term_that_every_chunk_holds_still_scores_above_zero() -> None:
    chunks = [Entry((1, 0, 0, 0, 0, 0, 0), 1, id_, True) for id_ in range(3)]

    assert kernel([chunks], {0: 1}, 10) == [
        (log(1 + 0.5 / 3.5) / (1 + K1), id_) for id_ in range(3)
    ]


def test_a_term_that_no_chunk_holds_finds_nothing() -> None:
    empty = Statistics(0, 0, {VOCABULARY[0]: 0})

    assert search(LexicalIndex([]), {VOCABULARY[0]: 1}, empty, 10) == []
    assert kernel([[Entry((1, 0, 0, 0, 0, 0, 0), 1, 0, False)]], {0: 1}, 10) == []


def test_a_search_that_failed_leaves_nothing_to_the_next() -> None:
    sound = [Entry((1, 1, 0, 0, 0, 0, 0), 2, id_, True) for id_ in range(3)]
    broken = segment("x.lex", [Entry((1, 0, 1, 0, 0, 0, 0), 2, 9, True)])
    broken.ordinals = np.array([1, 1], np.uint32)
    index = LexicalIndex([segment("s", sound), broken])
    both, lone = ({VOCABULARY[term]: 1.0 for term in terms} for terms in ((0, 1), (1,)))
    before = search(index, lone, statistics(index, 4, 8, lone), 10)
    # The heavier term is scored before the damage to the other is met.
    with costs({"_AT_ONCE": 3}), pytest.raises(CollectionCorruptError, match=r"x\.lex"):
        search(index, both, statistics(index, 4, 8, both), 10)

    assert search(index, lone, statistics(index, 4, 8, lone), 10) == before
    assert [hit.key for hit in before] == [0, 1, 2]


WORDS = [
    "pump",
    "valve",
    "retry_limit",
    "ZQ-0054",
    "e-mail",
    "getUserName",
    "café",
    "cafés",
    "naïve",
    "R",
    "the",
    "of",
    "not",
    "it",
    "running",
    "runs",
    "2026.4.10",
    "src/app/conf.py",
    "茶壶在厨房",
    "หนังสือ",
    "ключ",
    "मेरा",
    "5GB",
    "@acme/tools",
]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), min_size=1, max_size=12),
    st.lists(st.sampled_from([*WORDS, "absent"]), min_size=1, max_size=8),
    st.sampled_from(["english", "german", "none"]),
    st.integers(1, 4),
)
def test_scores_equal_those_of_bm25s_on_the_same_terms(
    corpus: list[list[str]], asked: list[str], language: str, commits: int
) -> None:
    texts = {f"d{at}": " ".join(words) for at, words in enumerate(corpus)}
    query = " ".join(asked)
    whole = ChunkingConfig(size=1000)
    with TemporaryDirectory() as folder:
        collection = Collection.open(Path(folder) / "c")
        parts = documents(texts)
        for start in range(commits):
            collection.add(parts[start::commits], language=language, chunking=whole)
        response = collection.search(query, top_k=100, all_copies=True)
        peer = collection.export_bm25s(Path(folder) / "peer")
    scores = {result.citation.source: result.score for result in response.results}

    assert peer == len(corpus)
    assert scores == pytest.approx(bm25s_scores(texts, query, language), rel=1e-5, abs=0)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


def bm25s_scores(texts: dict[str, str], query: str, language: str) -> dict[str, float]:
    """The scores of each query term, weighted and added up."""
    analyzer = Analyzer(language, stop_words(language))
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    index.index([analyzer.terms(text) for text in texts.values()], show_progress=False)
    total = np.zeros(len(texts))
    for term, weight in analyzer.query_terms(query).items():
        if term in index.vocab_dict:
            total += weight * index.get_scores([term]).astype(np.float64)
    return {source: score for source, score in zip(texts, total.tolist(), strict=True) if score > 0}


def test_a_word_asked_twice_counts_twice(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump valve", "b": "hose"}))
    (once,), (twice,) = (collection.search(q).results for q in ("pump", "pump pump"))

    assert twice.score == 2 * once.score


def test_bm25s_is_kept_quiet() -> None:
    assert logging.getLogger("bm25s").level == logging.WARNING
