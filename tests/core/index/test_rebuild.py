"""Whatever a collection went through, it answers as one that was built at once."""

import random
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from groundkit_core import ChunkingConfig, Collection, Document, RetrievalResult
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.index.support import documents, found, write

Step = dict[str, tuple[str, str | None]] | frozenset[str] | str

SMALL = ChunkingConfig(size=6)
WORDS = ("pump", "valve", "hose", "seven bar", "retry_limit", "the", "of", "茶壶", "café")
QUERIES = (*WORDS, "pump hose", "valve valve bar", "the of", "retry limit pump", "absent", "茶")

sources = st.sampled_from("abcdef")
paragraphs = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
headings = st.sampled_from(WORDS).map("# {}".format)
texts = st.lists(st.one_of(paragraphs, headings), max_size=6).map("\n\n".join)
titles = st.one_of(st.none(), st.sampled_from(WORDS))
steps: st.SearchStrategy[Step] = st.one_of(
    st.dictionaries(sources, st.tuples(texts, titles), min_size=1, max_size=4),
    st.dictionaries(sources, st.tuples(texts, titles), min_size=1, max_size=4),
    st.frozensets(sources, min_size=1, max_size=3),
    st.sampled_from(["reopen", "reindex", "compact"]),
)


def markdown(held: dict[str, tuple[str, str | None]]) -> list[Document]:
    return [
        Document.from_text(source, text, title=title, media_type="text/markdown")
        for source, (text, title) in held.items()
    ]


def answers(collection: Collection) -> list[tuple[RetrievalResult, ...]]:
    return [
        collection.search(query, top_k=k, all_copies=copies).results
        for query in QUERIES
        for k, copies in ((100, True), (100, False), (2, False))
    ]


@settings(max_examples=40, deadline=None)
@given(st.lists(steps, min_size=1, max_size=12))
def test_any_history_ends_in_the_answers_of_a_rebuild(history: Sequence[Step]) -> None:
    held: dict[str, tuple[str, str | None]] = {}
    with TemporaryDirectory() as folder:
        collection = Collection.open(Path(folder) / "grown")
        collection.add([], chunking=SMALL)
        for step in history:
            if isinstance(step, dict):
                collection.add(markdown(step))
                held |= step
            elif isinstance(step, frozenset):
                gone = sorted(step & held.keys())
                collection.remove(gone)
                held = {source: text for source, text in held.items() if source not in gone}
            elif step == "reopen":
                collection = Collection.open(collection.path)
            elif step == "reindex":
                collection.reindex()
            else:
                collection.compact()
                assert collection.info().segments <= 1
        rebuilt = Collection.open(Path(folder) / "rebuilt")
        rebuilt.add(reversed(markdown(held)), chunking=SMALL)

        assert answers(collection) == answers(rebuilt)
        assert list(collection.passages()) == list(rebuilt.passages())
        assert collection.info().chunks == rebuilt.info().chunks
        assert collection.info().terms == rebuilt.info().terms
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
