"""All segments of a generation as one: masks, keys, and searches of a corpus that needs pruning."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import log
from pathlib import Path
from threading import Barrier

import bm25s
import numpy as np
import pytest
from groundkit_core import Collection, Document
from groundkit_core.index.bm25 import Hit, search, statistics
from groundkit_core.index.changes import embed_key, indexed_text
from groundkit_core.index.counting import ChunkKeys, build_arrays, count
from groundkit_core.index.lexical import LexicalIndex, LexicalSegment
from groundkit_core.index.segment_file import Array
from groundkit_core.index.view import Reader
from groundkit_core.terms import term_hash

from tests.core.index.postings import K1, VOCABULARY, B, Entry, segment
from tests.core.index.support import documents

Hits = list[tuple[float, int]]

SIZE, TERMS = 6_000, 3_000
HASHES = [term_hash(f"word {n}") for n in range(TERMS)]


class Corpus:
    """Passages of words that are the rarer the higher their numbers, some of them dead."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        law = np.cumsum(1 / np.arange(1, TERMS + 1))
        self.texts = [
            law.searchsorted(rng.random(length) * law[-1]).tolist()
            for length in rng.integers(5, 60, SIZE).tolist()
        ]
        self.alive = rng.random(SIZE) < 0.95
        self.allowed = rng.random(SIZE) < 0.1
        self.queries = [
            rng.choice(TERMS, size, replace=False, p=np.diff(law, prepend=0) / law[-1]).tolist()
            for size in (1, 2, 3, 3, 4, 5, 6, 8, 12, 30, 60, 60)
        ]
        self.cuts = [0, *sorted(rng.choice(np.arange(1, SIZE), 5, replace=False).tolist()), SIZE]
        self.terms = sum(len(text) for text in self.living())

    def living(self) -> list[list[int]]:
        return [text for text, alive in zip(self.texts, self.alive, strict=True) if alive]

    def index(self, cuts: Sequence[int]) -> LexicalIndex:
        return LexicalIndex([self._segment(start, end) for start, end in pairwise(cuts)])

    def _segment(self, start: int, end: int) -> LexicalSegment:
        used = sorted({term for text in self.texts[start:end] for term in text})
        place = {term: at for at, term in enumerate(used)}
        ids = [[place[term] for term in text] for text in self.texts[start:end]]
        rows = np.arange(start, end, dtype=np.uint64)
        keys = ChunkKeys(rows, rows, rows, rows * 7919 % SIZE, rows)
        arrays = build_arrays(count(ids, [HASHES[term].to_bytes(8) for term in used]), keys)
        return LexicalSegment("x.lex", arrays, np.flatnonzero(~self.alive[start:end]))

    def ask(self, index: LexicalIndex, query: Sequence[int], k: int, mask: Array | None) -> Hits:
        weights = {HASHES[term]: 1.0 for term in query}
        stats = statistics(index, int(self.alive.sum()), self.terms, weights)
        return [(hit.score, hit.seq) for hit in search(index, weights, stats, k, mask)]

    def scan(self, query: Sequence[int], mask: Array) -> Hits:
        """All that is alive and in the mask, every term of it added in order."""
        chunks = int(self.alive.sum())
        norms = np.array([len(text) for text in self.texts]) * (K1 * B / (self.terms / chunks))
        norms += K1 * (1 - B)
        held = {term: np.array([text.count(term) for text in self.texts]) for term in query}
        weights = []
        for term, tf in held.items():
            df = int(((tf > 0) & self.alive).sum())
            weights.append((-log(1 + (chunks - df + 0.5) / (df + 0.5)), HASHES[term], term))
        sums = np.zeros(SIZE)
        for weight, _, term in sorted(weights):
            sums += -weight * (held[term] / (held[term] + norms))
        kept = np.flatnonzero((sums > 0) & self.alive & mask).tolist()
        return sorted(
            ((sums[at], at) for at in kept), key=lambda hit: (-hit[0], hit[1] * 7919 % SIZE)
        )


@pytest.fixture(scope="module", params=range(2))
def corpus(request: pytest.FixtureRequest) -> Corpus:
    return Corpus(request.param)


def test_any_cut_gives_every_bit_of_a_full_scan(corpus: Corpus) -> None:
    one, many = corpus.index([0, SIZE]), corpus.index(corpus.cuts)
    for query in corpus.queries:
        for mask in (None, corpus.allowed & corpus.alive):
            wanted = corpus.scan(query, np.ones(SIZE, bool) if mask is None else mask)
            for k in (1, 2, 5, 10, 20):
                assert corpus.ask(one, query, k, mask) == wanted[:k]
                assert corpus.ask(many, query, k, mask) == wanted[:k]


def test_the_scores_are_those_of_bm25s_over_what_lives(corpus: Corpus) -> None:
    peer = bm25s.BM25(method="lucene", k1=K1, b=B)
    peer.index([[str(term) for term in text] for text in corpus.living()], show_progress=False)
    rows = np.flatnonzero(corpus.alive).tolist()
    index = corpus.index(corpus.cuts)
    for query in corpus.queries:
        scores = peer.get_scores([str(term) for term in query if str(term) in peer.vocab_dict])
        best = np.sort(scores)[::-1][:20]
        found = corpus.ask(index, query, 20, None)

        assert [score for score, _ in found] == pytest.approx(best[best > 0], rel=1e-5, abs=0)
        their_scores = dict(zip(rows, scores.tolist(), strict=True))
        assert [their_scores[at] for _, at in found] == pytest.approx(best[best > 0], rel=1e-5)


def test_threads_at_once_find_what_one_finds(corpus: Corpus) -> None:
    queries = [(query, k) for query in corpus.queries for k in (1, 10)]
    one = corpus.index(corpus.cuts)
    wanted = [corpus.ask(one, query, k, None) for query, k in queries]
    fresh = corpus.index(corpus.cuts)
    together = Barrier(4)

    def ask(turn: int) -> list[Hits]:
        together.wait(60)
        found = [corpus.ask(fresh, *queries[at - turn], None) for at in range(len(queries))]
        return [*found[turn:], *found[:turn]]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [wanted] * 4


def test_statistics_count_only_what_lives(corpus: Corpus) -> None:
    query = [term for terms in corpus.queries for term in terms]
    index = corpus.index(corpus.cuts)
    found = statistics(index, 1, 1, [HASHES[term] for term in query]).frequencies

    assert found == {HASHES[term]: sum(term in text for text in corpus.living()) for term in query}


def chunk(id_: int, *, alive: bool = True) -> Entry:
    return Entry((1, 0, 0, 0, 0, 0, 0), 1, id_, alive)


def test_a_mask_lets_through_the_living_of_some_documents() -> None:
    index = LexicalIndex(
        [
            segment("a", [chunk(4), chunk(2, alive=False)]),
            segment("b", [chunk(7), chunk(2), chunk(0)]),
        ]
    )

    assert index.size == 5
    assert index.mask(np.array([2, 4, 99])).tolist() == [True, False, False, True, False]
    assert index.mask(np.array([0], np.int64)).tolist() == [False] * 4 + [True]
    assert index.mask(np.empty(0, np.int64)).tolist() == [False] * 5
    assert index.embedded(np.array([True, False, True, False, True])).tolist() == [4, 7, 0]


def test_an_index_without_a_segment_has_empty_masks() -> None:
    index = LexicalIndex([])

    assert index.size == len(index.mask(np.array([1]))) == 0
    assert len(index.embedded(np.empty(0, dtype=bool))) == 0


def test_hits_carry_the_rows_of_chunk_and_document() -> None:
    index = LexicalIndex([segment("a", [chunk(4), chunk(2)]), segment("b", [chunk(7)])])
    query = {VOCABULARY[0]: 1.0}
    hits = search(index, query, statistics(index, 3, 3, query), 2)

    assert hits == [Hit(hits[0].score, key=n, content=n, seq=n, doc=n) for n in (2, 4)]


def embedded(collection: Collection) -> list[int]:
    index = Reader(collection.path).run(lambda view: view.contents.lexical)
    return [*map(int, index.embedded(np.ones(index.size, dtype=bool)))]


def test_segments_keep_the_keys_of_the_texts_that_are_embedded(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    titled = Document.from_text("b", "# Valve\n\nseven bar", title="T", media_type="text/markdown")
    collection.add([*documents({"a": "pump"}), titled])
    collection.add(documents({"c": "..."}))
    texts = [
        indexed_text(title, json.loads(headings), content)
        for title, headings, content in Reader(collection.path).run(
            lambda view: view.store.rows(
                "SELECT title, headings, content FROM chunk JOIN document USING (doc) ORDER BY seq"
            )
        )
    ]
    wanted = [int(embed_key(text)[:16] or "0", 16) for text in texts]

    assert embedded(collection) == wanted
    assert wanted[-1] == 0 < min(wanted[:-1])
    collection.reindex()
    assert embedded(collection) == wanted
    collection.compact()
    assert embedded(collection) == wanted
