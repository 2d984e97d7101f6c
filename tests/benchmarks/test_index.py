import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
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
from benchmarks.index_filters import FILTERS, Filter, groups_of
from benchmarks.index_parity import check_filters, check_parity
from benchmarks.index_queries import Ask, Hits, at_once, interleaved, per_second
from benchmarks.report import BenchmarkError


class Given:
    """Gives the same hits for every query, or those of a filter, after turns of an idle loop."""

    def __init__(
        self, hits: Hits, turns: int = 0, kept: dict[Filter | None, Hits] | None = None
    ) -> None:
        self._hits, self._turns, self._kept = hits, turns, kept or {}

    def asked(self, terms: Sequence[int], kept: Filter | None = None) -> Ask:  # noqa: ARG002
        def ask() -> Hits:
            sum(range(self._turns))
            return self._kept.get(kept, self._hits)

        return ask

    def ranked(self, terms: Sequence[int]) -> Hits:  # noqa: ARG002
        return self._hits


class InOneCall(Given):
    """Takes many at once, on one thread."""

    most_threads = 1

    def batch(self, queries: Queries, threads: int) -> None:
        assert threads == 1
        for terms in queries:
            self.asked(terms)()


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


def test_all_queries_are_asked_under_the_filter() -> None:
    class Recording(Given):
        def asked(self, terms: Sequence[int], kept: Filter | None = None) -> Ask:
            asked.append(kept)
            return super().asked(terms, kept)

    asked: list[Filter | None] = []
    interleaved({("one", 1): Recording([])}, [[0]] * 5, 1.0, FILTERS[1])
    assert asked == [FILTERS[1]] * len(asked)
    assert len(asked) > 5


def test_a_filter_keeps_one_in_a_hundred_or_in_ten() -> None:
    for kept, wanted in zip(FILTERS, ([7, 107, 207], list(range(7, 250, 10))), strict=True):
        assert kept.passages(250).tolist() == wanted
        assert [at for at in range(250) if kept.holds(at)] == wanted
        assert [at for at in range(250) if groups_of(at)[kept.field] == kept.kept] == wanted
    assert [kept.name for kept in FILTERS] == ["1 % filter", "10 % filter"]


@pytest.mark.parametrize(
    "wrong",
    [
        [(7, 5.0), (17, 3.0)],
        [(7, 5.0), (17, 3.0), (8, 4.0)],
        [(17, 3.0), (7, 5.0), (27, 1.0)],
        [(7, 5.0), (17, 3.0), (28, 1.0)],
        [(7, 5.0), (17, 3.0), (37, 1.0)],
        [(7, 5.0), (17, 2.9), (27, 1.0)],
    ],
)
def test_wrong_hits_under_a_filter_stop_the_run(wrong: Hits) -> None:
    hundredth, tenth = FILTERS
    full = [(7, 5.0), (8, 4.0), (17, 3.0), (28, 1.0), (27, 1.0)]
    first: dict[Filter | None, Hits] = {
        hundredth: [(7, 5.0)],
        tenth: [(7, 5.0), (17, 3.000001), (27, 1.0)],
    }
    right = Given([], kept=first)
    check_filters({("right", 1): right}, Given(full), [[0]])
    sides = {("right", 1): right, ("wrong", 8): Given([], kept={**first, tenth: wrong})}
    with pytest.raises(BenchmarkError, match=r"wrong, 8 segments, 10 % filter: .* \[5, 6\]"):
        check_filters(sides, Given(full), [[5, 6]])


def test_queries_a_second_are_those_that_all_threads_answer() -> None:
    asked: list[int] = []
    asks = [partial(_note, asked, at) for at in range(7)]
    assert per_second(asks, 2) > 7
    assert sorted(asked) == list(range(7))


def _note(asked: list[int], at: int) -> Hits:
    asked.append(at)
    return []


def test_only_a_side_that_takes_many_queries_in_one_call_is_given_them_so() -> None:
    assert at_once(Given([]), [[0]] * 10, 1) is None
    assert at_once(InOneCall([]), [[0]] * 10, 2) is None
    found = at_once(InOneCall([]), [[0]] * 10, 1)
    assert isinstance(found, float)
    assert found > 10


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
