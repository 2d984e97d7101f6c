from pathlib import Path

import pytest

from benchmarks.index_bm25s import Bm25s
from benchmarks.index_clock import Clock
from benchmarks.index_collection import InCollection, SearchIn, contents_of, make_empty
from benchmarks.index_corpus import Corpus, zipf_corpus
from benchmarks.index_edits import Edit, added, changed
from benchmarks.index_filters import FILTERS
from benchmarks.index_fts5 import Fts5
from benchmarks.index_groundkit import Kernel, Segments, eight_files, mapped, merge_seconds
from benchmarks.index_parity import check_filters, check_parity
from benchmarks.index_process import built, searched
from benchmarks.index_queries import Hits, Searcher
from benchmarks.index_sides import FTS5, folder_of
from benchmarks.report import BenchmarkError

SIZE = 300
Answers = list[tuple[list[int], set[int]]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return zipf_corpus(tmp_path_factory.mktemp("made") / "corpus", SIZE)


@pytest.fixture(scope="module")
def rare(corpus: Corpus) -> Answers:
    """Queries with the passages that hold one of their terms: so few that every side finds all."""
    held = list(map(set, corpus.lists(0, SIZE)))
    found = [
        (terms, {passage for passage, its in enumerate(held) if not its.isdisjoint(terms)})
        for terms in corpus.queries[:200]
    ]
    return [(terms, passages) for terms, passages in found if len(passages) <= 10]


def passages(hits: Hits) -> set[int]:
    return {passage for passage, _ in hits}


def test_every_way_to_build_and_cut_gives_the_scores_of_bm25s(
    corpus: Corpus, tmp_path: Path
) -> None:
    oracle, collection = Bm25s("numpy"), InCollection()
    for name in ("bm25s", "collection", "eight"):
        (tmp_path / name).mkdir()
    oracle.build(corpus, tmp_path / "bm25s", Clock())
    collection.build(corpus, tmp_path / "collection", Clock())
    contents = contents_of(tmp_path / "collection")
    assert (contents.chunks, contents.terms) == (SIZE, corpus.tokens)
    files = eight_files(corpus, contents, tmp_path / "eight")
    eight = mapped(tmp_path / "eight", files)
    assert [segment.size for segment in eight] == [54] * 4 + [21] * 4
    searchers: dict[tuple[str, int], Searcher] = {
        ("kernel", 1): Kernel(corpus, contents.lexical.segments),
        ("kernel", 8): Kernel(corpus, eight),
        ("whole", 1): collection.open(corpus, tmp_path / "collection"),
        ("whole", 8): SearchIn.over(tmp_path / "collection", eight),
    }
    peer = oracle.open(corpus, tmp_path / "bm25s")
    queries = [*corpus.queries[:40], *corpus.long_queries[:10]]
    check_parity(searchers, peer, queries)
    check_filters({**searchers, ("bm25s", 1): peer}, peer, queries)
    for terms in queries[:10]:
        first, *others = (searcher.asked(terms)() for searcher in searchers.values())
        assert all(found == first for found in others)
    assert merge_seconds(tmp_path / "eight", files) > 0


@pytest.mark.parametrize("step", [SIZE, 100])
def test_segments_built_at_once_or_in_steps_hold_the_same(
    corpus: Corpus, tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.index_groundkit._AT_ONCE", step)
    Segments(at_once=False).build(corpus, tmp_path, Clock())
    (file,) = tmp_path.iterdir()
    once = tmp_path / "once"
    once.mkdir()
    Segments(at_once=True).build(corpus, once, Clock())
    # A file is named by what it holds.
    assert [path.name for path in once.iterdir()] == [file.name]


def test_fts5_finds_the_passages_that_hold_a_rare_word(
    corpus: Corpus, rare: Answers, tmp_path: Path
) -> None:
    Fts5().build(corpus, tmp_path, Clock())
    search = Fts5().open(corpus, tmp_path)
    assert len(rare) > 10
    for terms, wanted in rare:
        hits = search.asked(terms)()
        assert passages(hits) == wanted
        assert [score for _, score in hits] == sorted((s for _, s in hits), reverse=True)
    check_filters({("FTS5", 1): search}, search, [*corpus.queries[:40], *corpus.long_queries[:5]])


@pytest.mark.parametrize("eight", [False, True])
def test_tantivy_finds_them_too(corpus: Corpus, rare: Answers, tmp_path: Path, eight: bool) -> None:
    pytest.importorskip("tantivy")
    from benchmarks.index_tantivy import Tantivy

    side = Tantivy(eight=eight)
    side.build(corpus, tmp_path, Clock())
    search = side.open(corpus, tmp_path)
    for terms, wanted in rare:
        assert passages(search.asked(terms)()) == wanted
    check_filters({("both", 1): search}, search, [*corpus.queries[:40], *corpus.long_queries[:5]])


@pytest.mark.parametrize("name", ["FTS5", "tantivy", "groundkit"])
def test_changed_and_added_passages_are_found(
    corpus: Corpus, rare: Answers, tmp_path: Path, name: str
) -> None:
    if name == "tantivy":
        pytest.importorskip("tantivy")
        from benchmarks.index_tantivy import Tantivy

        side: Tantivy | Fts5 | InCollection = Tantivy()
    else:
        side = Fts5() if name == "FTS5" else InCollection()
    side.build(corpus, tmp_path, Clock())
    # A passage loses its rare words, and one more gets them.
    terms, (holder,) = next((terms, held) for terms, held in rare if len(held) == 1)
    (before,) = corpus.texts(holder, holder + 1)
    (other,) = corpus.texts((holder + 1) % SIZE, (holder + 1) % SIZE + 1)
    side.commit(tmp_path, [Edit(holder, before, other), Edit(SIZE, None, before)])
    assert passages(side.open(corpus, tmp_path).asked(terms)()) == {SIZE}


def test_changes_are_spread_and_additions_follow(corpus: Corpus) -> None:
    changes, more = changed(corpus, 7), added(corpus, 400)
    assert [each.passage for each in changes] == [42 * at for at in range(7)]
    for each in changes:
        assert [each.before] == corpus.texts(each.passage, each.passage + 1)
        assert each.after != each.before
    assert [each.passage for each in more] == list(range(SIZE, SIZE + 400))
    assert {each.before for each in more} == {None}
    assert len({each.after for each in more}) == 400


def test_a_process_of_its_own_builds_and_another_searches(corpus: Corpus, tmp_path: Path) -> None:
    made = built(FTS5, corpus, tmp_path)
    assert (folder_of(tmp_path, FTS5) / "fts5.db").exists()
    found = searched(FTS5, corpus, tmp_path)
    assert 0 < made["seconds"] < 60
    assert found["open"] > 0 < found["first"]
    assert all(found[kept.name] > 0 for kept in FILTERS)
    if Path("/proc/self/status").exists():
        assert made["peak"] > found["private"] > 5


def test_a_side_that_fails_stops_the_run_and_says_why(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match=r"FTS5 failed to search:(?s:.)*unable to open"):
        searched(FTS5, corpus, tmp_path)


def test_an_empty_collection_is_there_and_holds_nothing(tmp_path: Path) -> None:
    make_empty(tmp_path)
    contents = contents_of(tmp_path)
    assert (contents.chunks, contents.lexical.segments) == (0, ())
