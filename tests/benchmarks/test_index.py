import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks import index_sides
from benchmarks.__main__ import main
from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus, Queries, eight_parts, word, write_corpus, zipf_corpus
from benchmarks.index_corpus import zipf_blocks as blocks
from benchmarks.index_queries import Ask, Hits, check_parity, interleaved, throughput
from benchmarks.report import BenchmarkError


class Given:
    """Gives the same hits for every query, after the turns of an idle loop."""

    def __init__(self, hits: Hits, turns: int = 0) -> None:
        self._hits, self._turns = hits, turns

    def asked(self, terms: Sequence[int]) -> Ask:  # noqa: ARG002
        def ask() -> Hits:
            sum(range(self._turns))
            return self._hits

        return ask

    def batch(self, queries: Queries, threads: int) -> None:
        pass


def test_made_up_passages_are_the_same_each_time_and_begin_alike_at_any_size() -> None:
    ((few, few_lengths),) = blocks(50)
    (many, many_lengths), (more, _) = islice(blocks(10_050), 2)
    assert np.array_equal(few, many[: len(few)])
    assert np.array_equal(few_lengths, many_lengths[:50])
    assert not np.array_equal(more[:1_000], many[:1_000])
    assert many_lengths.mean() == pytest.approx(100, abs=1)


def test_the_words_follow_the_law_of_zipf() -> None:
    ((ids, _),) = blocks(10_000)
    counts = np.bincount(ids)
    for rank in (2, 5, 20):
        assert counts[0] / counts[rank - 1] == pytest.approx(rank, rel=0.1)


def test_a_corpus_keeps_its_passages_as_ids_as_lists_and_as_words(tmp_path: Path) -> None:
    passages = [np.array([7, 3, 7], np.int32), np.array([3], np.int32), np.array([9, 0], np.int32)]
    lengths = np.array([3, 1, 2])
    made = write_corpus(
        tmp_path / "corpus", "three", [(np.concatenate(passages), lengths)], 12, [[9, 5], [5]]
    )
    corpus = Corpus(made.folder)
    # The terms 0, 3, 7 and 9 occur, and are numbered in that order.
    assert (corpus.size, corpus.tokens, corpus.terms) == (3, 6, 4)
    assert corpus.lists(0, 3) == [[2, 1, 2], [1], [3, 0]]
    assert corpus.ids(1, 3).tolist() == [1, 3, 0]
    assert corpus.texts(2, 3) == [f"{word(3)} {word(0)}"]
    assert corpus.queries == [[3]]


def test_queries_are_words_of_passages_and_leave_out_the_most_frequent(tmp_path: Path) -> None:
    corpus = zipf_corpus(tmp_path / "corpus", 100)
    held = [set(terms) for terms in corpus.lists(0, 100)]
    for terms in corpus.queries[:50]:
        assert 1 <= len(terms) <= 7
        assert min(terms) >= 100
        assert any(set(terms) <= passage for passage in held)
    assert {len(terms) for terms in corpus.long_queries[:50]} == {30}


def test_no_word_is_two_terms_to_any_tokenizer() -> None:
    words = [word(term) for term in range(200_000)]
    assert len(set(words)) == len(words)
    assert all(each.isalpha() and each.islower() for each in words)


def test_the_eight_parts_are_of_two_kinds_so_that_tantivy_leaves_them_apart() -> None:
    parts = eight_parts(10_000)
    assert [at for part in parts for at in part] == list(range(10_000))
    assert Counter(map(len, parts)) == {1_800: 4, 700: 4}


@pytest.mark.parametrize(
    "wrong",
    [
        [(4, 3.0), (1, 2.0)],
        [(4, 3.0)],
        [(4, 3.0), (1, 2.0001), (2, 1.0)],
        [(1, 2.0), (4, 3.0), (2, 1.0)],
    ],
)
def test_a_wrong_ranking_stops_the_run(wrong: Hits) -> None:
    oracle = Given([(4, 3.0), (1, 2.0), (2, 1.0)])
    # Of two passages with one score either may come first, and bm25s counts in single precision.
    right = Given([(4, 3.000001), (9, 2.0), (2, 1.0)])
    check_parity({("right", 1): right}, oracle, [[0]])
    with pytest.raises(BenchmarkError, match=r"wrong, 8 segments: .* for the terms \[5, 6\]"):
        check_parity({("right", 1): right, ("wrong", 8): Given(wrong)}, oracle, [[5, 6]])


def test_a_slow_side_is_asked_until_it_has_used_its_time() -> None:
    sides = {("fast", 1): Given([]), ("slow", 1): Given([], turns=200_000)}
    found = interleaved(sides, [[0]] * 40, budget=0.01)
    assert found["fast", 1].queries == 40
    assert 1 <= found["slow", 1].queries < 40
    assert 0 < found["fast", 1].p50 <= found["fast", 1].p95 < found["slow", 1].p50


def test_throughput_counts_queries_a_second() -> None:
    assert throughput(Given([]), [[0]] * 10, 1) > 10


@pytest.mark.parametrize("missing", index_sides.MODULES)
def test_a_missing_peer_is_an_error_that_names_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in index_sides.MODULES:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    index_sides.check_peers()
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(BenchmarkError, match=f"^{missing} cannot be measured here"):
        index_sides.check_peers()


def test_without_fts5_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bare:
        def execute(self, sql: str) -> None:  # noqa: ARG002
            raise sqlite3.OperationalError("no such module: fts5")

        def close(self) -> None:
            pass

    for name in index_sides.MODULES:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sqlite3, "connect", lambda _: Bare())
    with pytest.raises(BenchmarkError, match="FTS5 cannot be measured here: no such module"):
        index_sides.check_peers()


def test_an_unknown_size_is_refused_before_anything_is_built() -> None:
    with pytest.raises(SystemExit, match="7 is no size; one of: 10000, 100000, 1000000"):
        main(["index", "--size", "7"])


def test_a_clock_runs_only_inside() -> None:
    clock = Clock()
    with clock:
        time.sleep(0.02)
    between = clock.seconds
    time.sleep(0.02)
    with clock:
        sum(range(100_000))
    assert 0.02 <= between < clock.seconds
    assert 0 < clock.cpu < clock.seconds
