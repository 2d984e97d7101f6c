"""What a filter lets through, as a collection changes beneath it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from groundkit_core import Collection, Document
from groundkit_core.contracts import SearchMode
from groundkit_core.index.allowed import Allowed
from groundkit_core.index.view import Reader
from groundkit_core.retrieval.filters import AllOf, AnyOf, Condition, Filter, NoneOf
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.support import documents, found, write

pytest.importorskip("faiss", reason="vectors are searched by faiss")

MODES: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")


def opened(path: Path) -> Collection:
    return Collection.open(path, embedder=InMemoryEmbedder(16))


def numbered(numbers: range, text: str = "pump") -> list[Document]:
    return [Document.from_text(f"s{n}", f"{text} {n}", metadata={"n": n}) for n in numbers]


def passing(collection: Collection, asked: Filter, mode: SearchMode) -> set[str]:
    return set(found(collection.search("pump", top_k=100, mode=mode, filters=asked)))


Change = Callable[[Collection], object]
CHANGES: dict[str, Change] = {
    "added": lambda c: c.add(numbered(range(20, 24))),
    "replaced": lambda c: c.add(numbered(range(3, 6), "pump again")),
    "other metadata": lambda c: c.add(
        [Document.from_text("s4", "pump again 4", metadata={"n": 40}), *numbered(range(1, 2))]
    ),
    "removed": lambda c: c.remove(["s3", "s20"]),
    "added again": lambda c: c.add(numbered(range(2, 4))),
    "reindexed": lambda c: c.reindex(),
    "compacted": lambda c: c.compact(),
    "lexical only": lambda c: Collection.open(c.path).add(numbered(range(50, 52))),
    "embedded": lambda c: c.embed(),
    "another embedder": lambda c: c.change_embedder(InMemoryEmbedder(24, model_name="other")),
    "emptied": lambda c: c.remove([s for s in _numbers(c) if s != "s1"]),
}


def _numbers(collection: Collection) -> dict[str, int]:
    """The number that each document has, read without a filter."""
    results = collection.search("pump", top_k=100).results
    held = {each.citation.source: each.metadata["n"] for each in results}
    return {source: n for source, n in held.items() if isinstance(n, int)}


def test_a_filter_keeps_up_with_every_change(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    collection.add(numbered(range(12)))
    even = Condition(key="n", one_of=tuple(range(0, 100, 2)))
    low = Condition(key="n", below=4)
    lexical_only = False
    for name, change in CHANGES.items():
        change(collection)
        lexical_only = name == "lexical only" or (lexical_only and name != "embedded")
        held = _numbers(collection)
        evens = {source for source, n in held.items() if n % 2 == 0}
        lows = {source for source, n in held.items() if n < 4}
        for each in (collection, Collection.open(tmp_path / "c", embedder=collection.embedder)):
            for mode in MODES[: 1 if lexical_only else 3]:
                assert passing(each, even, mode) == evens, name
                assert passing(each, low, mode) == lows, name
                assert passing(each, NoneOf(none_of=(even,)), mode) == held.keys() - evens, name
                assert passing(each, AllOf(all_of=(even, low)), mode) == evens & lows, name
        assert collection.check() == []


def test_a_document_that_loses_its_metadata_no_longer_passes(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    collection.add(numbered(range(4)))
    asked = Condition(key="n", at_least=2)
    assert passing(collection, asked, "hybrid") == {"s2", "s3"}
    collection.add([Document.from_text("s2", "pump 2")])
    assert passing(collection, asked, "hybrid") == {"s3"}


def test_of_a_text_in_many_documents_only_the_allowed_places_are_found(tmp_path: Path) -> None:
    files = {
        "one.md": "# One\n\npump\n",
        "two.md": "# Two\n\npump\n",
        "copy/one.md": "# One\n\npump\n",
    }
    docs = write(tmp_path / "docs", files)
    collection = opened(tmp_path / "index" / "c")
    collection.ingest([docs])
    collection.ingest([docs / "copy"], metadata={"copy": True})
    for mode in MODES:
        (result,) = collection.search(
            "pump", mode=mode, filters=Condition(key="copy", equals=True)
        ).results
        assert (result.citation.source, result.copies) == ("docs/copy/one.md", ())
        two = Condition(key="title", equals="Two")
        assert found(collection.search("pump", mode=mode, filters=two)) == ["docs/two.md"]


def test_passages_without_a_word_are_in_no_ones_way(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    texts = {"marks": "*** --- ***", "more": "???", "s": "pump", "empty": ""}
    collection.add(
        [Document.from_text(s, text, metadata={"size": len(text)}) for s, text in texts.items()]
    )
    anything = Condition(key="size", at_least=0)
    wordless = Condition(key="source", one_of=("marks", "more", "empty"))
    for mode in MODES:
        assert passing(collection, anything, mode) == {"s"}
        assert passing(collection, wordless, mode) == set()


def test_texts_that_came_back_take_no_place_twice(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    collection.add(numbered(range(40)))
    collection.remove([f"s{n}" for n in range(12)])
    collection.add(numbered(range(12)))
    asked = Condition(key="n", at_least=0)
    for k in (10, 20, 40):
        results = collection.search("pump 5", top_k=k, mode="dense", filters=asked).results
        assert len(results) == k
        whole = collection.search("pump 5", top_k=k, mode="dense").results
        assert results == whole


def test_a_filter_that_lets_nothing_through_finds_nothing(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    collection.add(numbered(range(5)))
    nothing = Condition(key="n", above=99)
    for mode in MODES:
        assert collection.search("pump", mode=mode, filters=nothing).results == ()


def allowed(reader: Reader, asked: Filter) -> Allowed:
    return reader.run(lambda view: view.allowed(asked))


def test_the_masks_are_of_live_rows_only(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(numbered(range(6)))
    collection.add(numbered(range(2, 4), "hose"))
    collection.remove(["s0"])
    reader = Reader(collection.path)
    asked = allowed(reader, Condition(key="n", below=4))
    rows = dict(reader.run(lambda view: view.store.rows("SELECT source, doc FROM document")))
    assert np.flatnonzero(asked.documents).tolist() == sorted(rows[s] for s in ("s1", "s2", "s3"))
    index = reader.run(lambda view: view.contents.lexical)
    seqs = np.concatenate([segment.seq for segment in index.segments])[asked.passages]
    live = reader.run(
        lambda view: view.store.rows(
            "SELECT seq FROM chunk JOIN document USING (doc) WHERE source IN ('s1', 's2', 's3')"
        )
    )
    assert sorted(seqs.tolist()) == sorted(seq for (seq,) in live)


def test_a_filter_is_evaluated_once_a_generation(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(numbered(range(6)))
    reader = Reader(collection.path)
    first = allowed(reader, Condition(key="n", at_least=2))
    assert allowed(reader, Condition(key="n", at_least=2)) is first
    collection.add(numbered(range(6, 7)))
    second = allowed(reader, Condition(key="n", at_least=2))
    assert (first.documents.sum(), second.documents.sum()) == (4, 5)


def test_filters_that_look_alike_are_not_taken_for_each_other(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    values: dict[str, object] = {"int": 1, "text": "1", "bool": True, "word": "true", "glob": "*"}
    collection.add(
        [Document.from_text(name, f"pump {name}", metadata={"k": v}) for name, v in values.items()]
    )
    one, word = Condition(key="k", equals=1), Condition(key="k", equals="true")
    expected: list[tuple[Filter, set[str]]] = [
        (one, {"int"}),
        (Condition(key="k", equals=1.0), {"int"}),
        (Condition(key="k", equals="1"), {"text"}),
        (Condition(key="k", equals=True), {"bool"}),
        (word, {"word"}),
        (Condition(key="k", equals="*"), {"glob"}),
        (Condition(key="k", prefix="*"), {"glob"}),
        (Condition(key="k", glob="*"), {"text", "word", "glob"}),
        (AllOf(all_of=(one, word)), set()),
        (AnyOf(any_of=(one, word)), {"int", "word"}),
        (NoneOf(none_of=(one, word)), {"text", "bool", "glob"}),
    ]
    for _ in range(2):
        for asked, sources in expected:
            assert passing(collection, asked, "bm25") == sources


def test_the_last_eight_filters_are_kept(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(numbered(range(20)))
    reader = Reader(collection.path)
    asked = [Condition(key="n", equals=n) for n in range(20)]
    made = [allowed(reader, each) for each in asked]
    kept = reader.run(lambda view: list(view.contents.filtered.values()))
    assert all(one is other for one, other in zip(kept, made[-8:], strict=True))


def test_threads_with_more_filters_than_are_kept_get_each_their_own(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    collection.add(numbered(range(40)))

    def ask(n: int) -> bool:
        n %= 40
        return passing(collection, Condition(key="n", one_of=(n,)), MODES[n % 3]) == {f"s{n}"}

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(400)))


def test_documents_that_are_no_files_pass_by_their_source(tmp_path: Path) -> None:
    collection = opened(tmp_path / "c")
    collection.add(documents({"row/1": "pump", "row/2": "pump two", "rows": "pump three"}))
    asked = Condition(key="source", prefix="row/")
    for mode in MODES:
        assert passing(collection, asked, mode) == {"row/1", "row/2"}
