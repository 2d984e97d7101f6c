"""Whatever a collection went through, it answers as one that was built at once."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import numpy as np
import pytest
from groundkit_core import ChunkingConfig, Collection, Document, RetrievalResult
from groundkit_core.contracts import SearchMode
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.retrieval.filters import AllOf, AnyOf, Condition, Filter, NoneOf
from groundkit_core.terms import Analyzer
from groundkit_core.testing import InMemoryEmbedder
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.index.support import documents, found, places, write


@dataclass(frozen=True)
class Page:
    """What a source holds: its text, title and metadata."""

    text: str
    title: str | None = None
    tags: tuple[str, ...] = ()
    year: int = 2000


Step = dict[str, Page] | frozenset[str] | str
Filtered = tuple[Filter, Callable[[str, Page], bool]]
"""A filter, and what it means for a source and its page."""

SMALL = ChunkingConfig(size=6)
WORDS = ("pump", "valve", "hose", "seven bar", "retry_limit", "the", "of", "茶壶", "café")
QUERIES = (*WORDS, "pump hose", "valve valve bar", "the of", "retry limit pump", "absent", "茶")
SOURCES = ("a", "b", "docs/c", "docs/d", "docs/sub/e", "f")
TAGGED = Condition(key="tag", equals="x")
FILTERS: tuple[Filtered, ...] = (
    (TAGGED, lambda _, page: "x" in page.tags),
    (NoneOf(none_of=(TAGGED,)), lambda _, page: "x" not in page.tags),
    (Condition(key="source", prefix="docs/"), lambda source, _: source.startswith("docs/")),
    (
        AllOf(all_of=(Condition(key="tag", exists=True), Condition(key="year", above=2001))),
        lambda _, page: bool(page.tags) and page.year > 2001,
    ),
    (
        AnyOf(any_of=(Condition(key="source", glob="*/s*"), Condition(key="year", at_most=2000))),
        lambda source, page: "/s" in source or page.year <= 2000,
    ),
)

paragraphs = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
headings = st.sampled_from(WORDS).map("# {}".format)
texts = st.lists(st.one_of(paragraphs, headings), max_size=6).map("\n\n".join)
pages = st.builds(
    Page,
    texts,
    st.none() | st.sampled_from(WORDS),
    st.sampled_from(((), ("x",), ("y",), ("y", "x"))),
    st.integers(2000, 2003),
)
written = st.dictionaries(st.sampled_from(SOURCES), pages, min_size=1, max_size=4)
steps: st.SearchStrategy[Step] = st.one_of(
    written,
    written,
    st.frozensets(st.sampled_from(SOURCES), min_size=1, max_size=3),
    st.sampled_from(["reopen", "reindex", "compact"]),
)


def markdown(held: dict[str, Page]) -> list[Document]:
    return [
        Document.from_text(
            source,
            page.text,
            title=page.title,
            media_type="text/markdown",
            metadata={"tag": page.tags, "year": page.year},
        )
        for source, page in held.items()
    ]


def answers(collection: Collection) -> list[tuple[RetrievalResult, ...]]:
    return [
        collection.search(query, top_k=k, all_copies=copies).results
        for query in QUERIES
        for k, copies in ((100, True), (100, False), (2, False))
    ]


def taken(collection: Collection, step: Step, held: dict[str, Page]) -> Collection:
    """The collection, and in `held` what it holds, after a step."""
    if isinstance(step, dict):
        collection.add(markdown(step))
        held |= step
    elif isinstance(step, frozenset):
        collection.remove(sorted(step & held.keys()))
        for source in step:
            held.pop(source, None)
    elif step == "reopen":
        return Collection.open(collection.path, embedder=collection.embedder)
    elif step == "reindex":
        collection.reindex()
    else:
        collection.compact()
        assert len(list((collection.path / "segments").glob("*.lex"))) <= 1
    return collection


def known_filters(held: dict[str, Page]) -> tuple[Filtered, ...]:
    """The filters whose keys some document has; for the others a search is an error."""
    if not held:
        return ()
    return FILTERS if any(page.tags for page in held.values()) else (FILTERS[2], FILTERS[4])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(steps, min_size=1, max_size=12))
def test_any_history_ends_in_the_answers_of_a_rebuild(history: Sequence[Step]) -> None:
    held: dict[str, Page] = {}
    with TemporaryDirectory() as folder:
        collection = Collection.open(Path(folder) / "grown")
        collection.add([], chunking=SMALL)
        for step in history:
            collection = taken(collection, step, held)
        rebuilt = Collection.open(Path(folder) / "rebuilt")
        rebuilt.add(reversed(markdown(held)), chunking=SMALL)

        assert answers(collection) == answers(rebuilt)
        assert list(collection.passages()) == list(rebuilt.passages())
        assert collection.info().chunks == rebuilt.info().chunks
        assert collection.info().terms == rebuilt.info().terms
        assert collection.check() == []


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(steps, min_size=1, max_size=12))
def test_after_any_history_a_filter_gives_the_full_ranking_of_what_it_lets_through(
    history: Sequence[Step],
) -> None:
    held: dict[str, Page] = {}
    with TemporaryDirectory() as folder:
        collection = Collection.open(Path(folder) / "grown")
        collection.add([], chunking=SMALL)
        for step in history:
            collection = taken(collection, step, held)
            # A reader that goes on must not keep what a filter let through before.
            for filters, passes in known_filters(held):
                for query in ("pump", "valve valve bar"):
                    full = collection.search(query, top_k=100, all_copies=True).results
                    allowed = [
                        (result.score, result.citation.chunk_id)
                        for result in full
                        if passes(result.citation.source, held[result.citation.source])
                    ]
                    for k in (100, 2):
                        response = collection.search(
                            query, top_k=k, all_copies=True, filters=filters
                        )
                        assert places(response) == allowed[:k]


@settings(max_examples=15, deadline=None)
@given(st.lists(steps, min_size=1, max_size=12))
def test_after_any_history_bm25s_gives_the_same_scores(history: Sequence[Step]) -> None:
    held: dict[str, Page] = {"word": Page("pump")}
    analyzer = Analyzer("english", stop_words("english"))
    with TemporaryDirectory() as folder:
        collection = Collection.open(Path(folder) / "grown")
        collection.add(markdown(held), chunking=SMALL)
        for step in history:
            collection = taken(collection, step, held)
        collection.export_bm25s(Path(folder) / "peer")
        lines = (Path(folder) / "peer" / "corpus.jsonl").read_text().splitlines()
        ids = [json.loads(line)["id"] for line in lines]
        peer = bm25s.BM25.load(Path(folder) / "peer")
        for query in QUERIES:
            scores = np.zeros(len(ids))
            for term, weight in analyzer.query_terms(query).items():
                if term in peer.vocab_dict:
                    scores += weight * peer.get_scores([term])
            theirs = {id_: score for id_, score in zip(ids, scores, strict=True) if score > 0}
            results = collection.search(query, top_k=100, all_copies=True).results
            ours = {result.citation.chunk_id: result.score for result in results}
            assert ours == pytest.approx(theirs, rel=1e-5)


MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")


def random_step(chance: random.Random) -> Step:
    kind = chance.random()
    if kind < 0.6:
        return {
            source: Page(
                "\n\n".join(" ".join(chance.choices(WORDS, k=5)) for _ in range(3)),
                chance.choice((None, *WORDS)),
                chance.choice(((), ("x",), ("y", "x"))),
                chance.randrange(2000, 2004),
            )
            for source in chance.sample(SOURCES, 3)
        }
    if kind < 0.8:
        return frozenset(chance.sample(SOURCES, 2))
    return chance.choice(("reopen", "reindex", "compact"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_any_history_with_vectors_ends_in_the_answers_of_a_rebuild(
    seed: int, tmp_path: Path
) -> None:
    pytest.importorskip("faiss", reason="vectors are searched by faiss")
    chance, held = random.Random(seed), dict[str, Page]()
    collection = Collection.open(tmp_path / "grown", embedder=InMemoryEmbedder(16))
    collection.add([], chunking=SMALL)
    for turn in range(30):
        collection = taken(collection, random_step(chance), held)
        if turn % 5 < 4 or not held:
            continue
        rebuilt = Collection.open(tmp_path / f"rebuilt{turn}", embedder=InMemoryEmbedder(16))
        rebuilt.add(reversed(markdown(held)), chunking=SMALL)
        for mode in MODES:
            for query in ("pump hose", "valve valve bar", "茶壶", "retry limit pump"):
                for filters in (None, *(each for each, _ in known_filters(held))):
                    both = [
                        each.search(query, mode=mode, top_k=20, filters=filters).results
                        for each in (collection, rebuilt)
                    ]
                    assert both[0] == both[1]
        assert collection.check() == []


def test_several_segments_with_dead_passages_score_bit_for_bit_as_one(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "grown")
    for step in range(5):
        collection.add(documents({f"{step}.{n}": f"pump {'valve ' * n}" for n in range(6)}))
    collection.remove([f"{step}.{step}" for step in range(5)])
    collection.add(documents({f"{step}.5": "hose pump" for step in range(5)}))
    rebuilt = Collection.open(tmp_path / "rebuilt")
    kept = {f"{s}.{n}": f"pump {'valve ' * n}" for s in range(5) for n in range(5) if n != s}
    rebuilt.add(documents(kept | {f"{step}.5": "hose pump" for step in range(5)}))

    assert (collection.info().segments, rebuilt.info().segments) == (6, 1)
    assert answers(collection) == answers(rebuilt)


def test_merging_changes_no_answer(tmp_path: Path) -> None:
    chance = random.Random(1)
    grown = Collection.open(tmp_path / "grown")
    held: dict[str, str] = {}
    for step in range(40):
        changed = {f"{chance.randrange(30)}": " ".join(chance.choices(WORDS, k=step + 1))}
        grown.add(documents(changed))
        held |= changed
        if step % 3 == 2:
            gone = chance.choice(sorted(held))
            grown.remove([gone])
            del held[gone]
    before, segments = answers(grown), grown.info().segments
    rebuilt = Collection.open(tmp_path / "rebuilt")
    rebuilt.add(documents(held))
    grown.compact()

    assert 1 < segments < 20
    assert grown.info().segments == 1
    assert before == answers(grown) == answers(rebuilt)
    assert grown.check() == []


def test_small_commits_leave_a_large_segment_alone(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({f"{n}": f"pump {n}" for n in range(1500)}))
    large = {path.name for path in (tmp_path / "c" / "segments").iterdir()}
    for step in range(40):
        collection.add(documents({f"new {step}": "valve"}))

    assert large <= {path.name for path in (tmp_path / "c" / "segments").iterdir()}
    assert collection.info().segments < 20


def test_a_segment_goes_when_its_last_passage_does(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump", "b": "valve"}))
    collection.add(documents({"c": "hose"}))
    collection.remove(["a"])
    collection.remove(["b"])
    collection.add([])

    assert collection.info().segments == 1
    assert len(list((tmp_path / "c" / "segments").iterdir())) == 1
    assert found(collection.search("pump valve hose")) == ["c"]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_ingest_is_irrelevant(seed: int, tmp_path: Path) -> None:
    files = {f"{n:02}.md": f"# Page {n % 3}\n\npump valve {n % 4}\n" for n in range(20)}
    docs = write(tmp_path / "docs", files)
    at_once = Collection.open(tmp_path / "index" / "once")
    at_once.ingest([docs])
    one_by_one = Collection.open(tmp_path / "index" / "steps")
    for name in random.Random(seed).sample(list(files), len(files)):
        one_by_one.ingest([docs / name])

    assert at_once.info().segments == 1 < one_by_one.info().segments
    assert answers(one_by_one) == answers(at_once)


def test_reindex_to_another_language_answers_as_if_made_for_it(tmp_path: Path) -> None:
    texts = {"a": "Die Pumpen laufen.", "b": "Eine Pumpe läuft.", "c": "the running pumps"}
    changed = Collection.open(tmp_path / "changed")
    changed.add(documents(texts), language="english")
    changed.reindex(language="german")
    made = Collection.open(tmp_path / "made")
    made.add(documents(texts), language="german")

    for query in ("Pumpen", "Pumpe", "laufen", "die", "running"):
        assert changed.search(query).results == made.search(query).results
    assert changed.info().language == "german"
    assert changed.info().analysis == made.info().analysis


def test_replacing_a_text_by_itself_changes_nothing(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(documents({"a": "pump"}))
    report = collection.add(documents({"a": "pump"}))

    assert (report.generation, report.unchanged, report.files) == (1, 1, ())
