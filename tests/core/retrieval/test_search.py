"""From a query to ranked results."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from groundkit_core import Collection, Document, RetrievalResult, Retriever
from groundkit_core.config import MAX_QUERY_LEN, MAX_TOP_K
from groundkit_core.errors import CollectionNotFoundError, RetrievalError
from groundkit_core.ids import chunk_id, content_hash, document_id
from groundkit_core.testing import MappingReader
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.index.support import documents, found, write


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection.open(tmp_path / "c")


def test_a_response_says_all_there_is_to_say(tmp_path: Path) -> None:
    text = "# Manual\n\n## Torque\n\nTurn the bolt.\n\n## Other\n\nNothing.\n"
    docs = write(tmp_path / "docs", {"a.md": text})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    response = collection.search("bolt", top_k=3)
    (result,) = response.results
    content = "# Manual\n\n## Torque\n\nTurn the bolt."
    document = document_id("docs/a.md")

    assert response.model_dump(exclude={"results"}) == {
        "schema_version": 1,
        "query": "bolt",
        "mode": "bm25",
        "top_k": 3,
        "collection": "c",
        "generation": 1,
        "truncated": False,
        "next_cursor": None,
    }
    assert result.model_dump(exclude={"score"}) == {
        "rank": 1,
        "content": content,
        "title": "Manual",
        "metadata": {},
        "link": None,
        "verification": None,
        "copies": (),
        "similar": (),
        "components": {},
        "highlights": (),
        "cut": False,
        "omitted": 0,
        "citation": {
            "document_id": document,
            "chunk_id": chunk_id(document, content, 0),
            "source": "docs/a.md",
            "start": 0,
            "end": 35,
            "unit": "code_point",
            "source_class": "text",
            "extractor": "markdown@1",
            "encoding": "utf-8",
            "content_hash": content_hash(content),
            "heading_path": ("Manual", "Torque"),
            "lines": (1, 5),
            "pages": None,
        },
    }
    assert result.score > 0
    assert text[0:35] == content


@pytest.mark.parametrize(
    "query", ["", " ", "\n\t \u00a0\u2003", "x" * (MAX_QUERY_LEN + 1), "a\ud800"]
)
def test_a_query_that_cannot_be_asked_is_an_error(query: str, collection: Collection) -> None:
    collection.add(documents({"a": "pump"}))
    with pytest.raises(RetrievalError):
        collection.search(query)


@pytest.mark.parametrize("top_k", [0, -1, MAX_TOP_K + 1, 10**30])
def test_top_k_outside_its_limits_is_an_error(top_k: int, collection: Collection) -> None:
    collection.add(documents({"a": "pump"}))
    with pytest.raises(RetrievalError, match=rf"top_k is {top_k}, it must be 1 to 100"):
        collection.search("pump", top_k=top_k)


@pytest.mark.parametrize("mode", ["dense", "hybrid", "sparse"])
def test_a_mode_that_the_collection_lacks_is_an_error(mode: Any, collection: Collection) -> None:
    collection.add(documents({"a": "pump"}))
    with pytest.raises(RetrievalError, match=mode):
        collection.search("pump", mode=mode)


def test_a_bad_request_is_told_before_any_work(collection: Collection) -> None:
    requests: list[dict[str, Any]] = [
        {"query": ""},
        {"query": "x", "top_k": 0},
        {"query": "x", "mode": "dense"},
    ]
    for request in requests:
        with pytest.raises(RetrievalError):
            collection.search(**request)
    with pytest.raises(CollectionNotFoundError):
        collection.search("x")


def test_the_longest_query_and_the_largest_k_are_allowed(collection: Collection) -> None:
    collection.add(documents({f"d{n}": f"pump {n}" for n in range(150)}))
    query = ("pump " * MAX_QUERY_LEN)[:MAX_QUERY_LEN]

    assert len(collection.search(query, top_k=MAX_TOP_K).results) == MAX_TOP_K
    assert len(collection.search(query, top_k=1).results) == 1
    assert len(collection.search(query).results) == 10


@pytest.mark.parametrize("query", ["?!", "\u200b", "***", "\u0301", "。、", "😀"])
def test_a_query_without_words_finds_nothing(query: str, collection: Collection) -> None:
    collection.add(documents({"a": "pump ?! *** 😀", "b": "茶。、"}))

    assert collection.search(query).results == ()


def test_equal_texts_are_one_result_that_lists_its_copies(collection: Collection) -> None:
    collection.add(documents({"a": "the pump", "b": "the pump", "c": "the pump", "d": "the valve"}))
    (result,) = collection.search("pump").results
    apart = collection.search("pump", all_copies=True)

    assert sorted([result.citation.source, *(c.source for c in result.copies)]) == ["a", "b", "c"]
    assert [c.source for c in result.copies] == sorted(c.source for c in result.copies)
    assert {c.content_hash for c in result.copies} == {result.citation.content_hash}
    assert sorted(found(apart)) == ["a", "b", "c"]
    assert [r.copies for r in apart.results] == [(), (), ()]
    assert apart.results[0].citation == result.citation


def test_equal_passages_of_one_document_are_one_result(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": "# X\n\nPump.\n\n# X\n\nPump.\n\n# Y\n\nPump.\n"})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    results = collection.search("pump").results

    assert [[r.citation.start, *(c.start for c in r.copies)] for r in results] in (
        [[0, 12], [24]],
        [[12, 0], [24]],
        [[24], [0, 12]],
        [[24], [12, 0]],
    )


def test_copies_do_not_crowd_out_other_texts(collection: Collection) -> None:
    copies = {f"copy {n}": "pump pump pump" for n in range(60)}
    others = {f"other {n}": f"pump valve {n} " + "hose " * n for n in range(12)}
    collection.add(documents(copies | others))
    results = collection.search("pump", top_k=5).results

    assert results[0].citation.source.startswith("copy")
    assert len(results[0].copies) == 59
    assert [r.citation.source for r in results[1:]] == [f"other {n}" for n in range(4)]


def test_a_copy_far_below_does_not_cost_the_best_its_place(collection: Collection) -> None:
    copies = [
        Document.from_text("best", "pump", title="pump"),
        Document.from_text("second", "pump", title="pump valve"),
        Document.from_text("far", "pump", title="hose " * 200),
    ]
    collection.add([*copies, *documents({f"other {n}": f"pump {n} bar" for n in range(4)})])
    first, *_ = collection.search("pump", top_k=2).results

    assert first.citation.source == "best"
    assert {copy.source for copy in first.copies} == {"second", "far"}


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["pump", "pump valve", "pump pump", "valve", "hose pump valve bar"]),
            st.sampled_from([None, "pump", "valve pump", "hose " * 50]),
        ),
        min_size=1,
        max_size=25,
    ),
    st.integers(1, 6),
)
def test_collapsing_drops_later_copies_and_nothing_else(
    held: Sequence[tuple[str, str | None]], k: int
) -> None:
    with TemporaryDirectory() as folder:
        collection = Collection.open(Path(folder) / "c")
        collection.add(
            Document.from_text(f"d{n}", text, title=title) for n, (text, title) in enumerate(held)
        )
        apart = collection.search("pump valve", top_k=100, all_copies=True).results
        collapsed = collection.search("pump valve", top_k=k).results
    firsts: dict[str, RetrievalResult] = {}
    for result in apart:
        firsts.setdefault(result.content, result)

    assert [(r.citation, r.score) for r in collapsed] == [
        (r.citation, r.score) for r in list(firsts.values())[:k]
    ]
    assert [r.rank for r in collapsed] == list(range(1, len(collapsed) + 1))
    for result in collapsed:
        assert 1 + len(result.copies) == [text for text, _ in held].count(result.content)


def test_ties_stand_in_the_order_of_their_ids(collection: Collection) -> None:
    collection.add(documents({f"d{n}": f"pump x{n}" for n in range(50)}))
    results = collection.search("pump", top_k=50).results
    ids = [result.citation.chunk_id for result in results]

    assert len({result.score for result in results}) == 1
    assert ids == sorted(ids)
    for k in (1, 7, 49):
        assert collection.search("pump", top_k=k).results == results[:k]


def test_ten_runs_give_one_answer(collection: Collection) -> None:
    collection.add(documents({f"d{n}": f"pump {'valve ' * (n % 7)} x{n}" for n in range(40)}))
    responses = [collection.search("pump valve x3", top_k=40) for _ in range(5)]
    responses += [
        Collection.open(collection.path).search("pump valve x3", top_k=40) for _ in range(5)
    ]

    assert all(response == responses[0] for response in responses)


def test_more_is_only_added_behind(collection: Collection) -> None:
    collection.add(documents({f"d{n}": f"pump {'valve ' * (n % 9)} x{n}" for n in range(60)}))
    longest = collection.search("pump valve", top_k=60).results
    for k in range(1, 60):
        assert collection.search("pump valve", top_k=k).results == longest[:k]


def test_a_response_survives_json(collection: Collection) -> None:
    collection.add(documents({"a": "pump 茶 👩‍👩‍👧", "b": "pump 茶 👩‍👩‍👧"}))
    response = collection.search("pump")

    assert type(response).model_validate_json(response.model_dump_json()) == response


def test_matches_are_spans_of_the_words_that_were_found(collection: Collection) -> None:
    collection.add(documents({"a": "x"}))
    text = "The Pumps were pumping; a pump's café in 厨房里."

    def matched(query: str) -> list[str]:
        (spans,) = collection.matches(query, [text])
        return [text[start:end] for start, end in spans]

    assert matched("pump") == ["Pumps", "pumping", "pump"]
    assert matched("cafe") == ["café"]
    assert matched("厨房") == ["厨房"]
    assert matched("zebra") == []
    assert collection.matches("pump", []) == []
    assert [len(spans) for spans in collection.matches("pump", ["a pump", "x", text])] == [1, 0, 3]


def verified_collection(tmp_path: Path) -> Collection:
    rows = {"a": "pump one", "b": "pump two"}
    collection = Collection.open(tmp_path / "v", reader=MappingReader(rows))
    collection.add(documents(rows))
    rows["b"] = "valve two"
    return collection


def test_verify_labels_each_result(tmp_path: Path) -> None:
    collection = verified_collection(tmp_path)
    plain, labelled = collection.search("pump"), collection.search("pump", verify=True)
    verdicts = {
        result.citation.source: result.verification and result.verification.status
        for result in labelled.results
    }

    assert [result.verification for result in plain.results] == [None, None]
    assert verdicts == {"a": "verified", "b": "drifted"}
    assert [
        result.model_copy(update={"verification": None}) for result in labelled.results
    ] == list(plain.results)


@pytest.mark.parametrize("verify", [False, True])
def test_an_awaited_search_gives_the_same(verify: bool, tmp_path: Path) -> None:
    collection = verified_collection(tmp_path)
    retriever = Retriever(collection, verify=verify)

    async def both() -> tuple[object, object]:
        return (
            await retriever.search("pump", top_k=2),
            collection.search("pump", top_k=2, verify=verify),
        )

    awaited, within_a_running_loop = asyncio.run(both())
    assert awaited == within_a_running_loop == collection.search("pump", top_k=2, verify=verify)


def test_many_awaited_searches_at_once(tmp_path: Path) -> None:
    collection = verified_collection(tmp_path)
    retriever = Retriever(collection)

    async def many() -> list[object]:
        return list(await asyncio.gather(*(retriever.search("pump") for _ in range(20))))

    assert asyncio.run(many()) == [collection.search("pump")] * 20


def test_an_awaited_search_raises_the_same_errors(collection: Collection) -> None:
    with pytest.raises(RetrievalError):
        asyncio.run(Retriever(collection).search(""))
    with pytest.raises(CollectionNotFoundError):
        asyncio.run(Retriever(collection).search("pump"))


def test_searching_imports_neither_bm25s_nor_asyncio(collection: Collection) -> None:
    from tests.core.index.support import python

    collection.add(documents({"a": "pump"}))
    said = python(
        """
        import sys
        from groundkit_core import Collection
        before = "asyncio" in sys.modules
        print(len(Collection.open(sys.argv[1]).search("pump", verify=True).results))
        print([m for m in ("bm25s", "numba", "filelock", "pathspec") if m in sys.modules])
        print("asyncio" in sys.modules and not before)
        """,
        collection.path,
    )

    assert said.split("\n") == ["1", "[]", "False"]
