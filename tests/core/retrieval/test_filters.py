"""A search finds passages of the documents that a filter lets through, and of no others."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from groundkit_core import ChunkingConfig, Collection, Document, SearchResponse
from groundkit_core.contracts import SearchMode
from groundkit_core.errors import RetrievalError
from groundkit_core.retrieval.filters import AllOf, AnyOf, Condition, Filter, NoneOf, read
from groundkit_core.testing import InMemoryEmbedder
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.index.support import found, places
from tests.core.retrieval.filtering import Refused, allowed, filters, metadata

pytest.importorskip("faiss", reason="vectors are searched by faiss")

WORDS = ("valve", "hose", "bar", "bolt")
SOURCES = [*"abcdefgh", "docs/a.md", "docs/b_c.txt", "docs/bXc.txt", "茶/1"]
FOUR_WORDS = ChunkingConfig(strategy="fixed", size=4)


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    """One to four passages each, some of them the same in several documents."""
    held = []
    for source in draw(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=9, unique=True)):
        passages = draw(st.lists(st.tuples(*[st.sampled_from(WORDS)] * 3), min_size=1, max_size=4))
        held.append(
            Document.from_text(
                source,
                " ".join(f"pump {' '.join(words)}" for words in passages),
                title=draw(st.none() | st.sampled_from(["a", "Ab", "茶"])),
                media_type=draw(st.sampled_from(["text/plain", "text/markdown"])),
                metadata=draw(metadata),
            )
        )
    return held


def built(path: Path, held: Sequence[Document], *, compacted: bool) -> Collection:
    """A collection of these documents with dead passages and, unless compacted, many segments."""
    collection = Collection.open(path, embedder=InMemoryEmbedder(16))
    other = {"text": "pump gone pump of old", "metadata": {"gone": 1}}
    gone = [document.model_copy(update=other) for document in held]
    gone.append(Document.from_text("gone", "pump gone gone", metadata={"gone": 1}))
    collection.add([*gone[::2], *held[1::2]], chunking=FOUR_WORDS)
    collection.add(held[::3])
    collection.add(held)
    collection.remove({"gone"} & {each.source for each in gone[::2]})
    if compacted:
        collection.compact()
    return Collection.open(path, embedder=InMemoryEmbedder(16))


def searched(
    collection: Collection,
    mode: SearchMode,
    asked: Filter | None,
    k: int = 100,
    *,
    all_copies: bool = True,
) -> SearchResponse:
    return collection.search(
        "pump valve bolt", top_k=k, mode=mode, filters=asked, all_copies=all_copies
    )


def assert_found(collection: Collection, held: Sequence[Document], asked: Filter) -> None:
    """The ranking under a filter is the whole one without what the filter leaves out."""
    try:
        passing = allowed(held, asked)
    except Refused:
        with pytest.raises(RetrievalError, match="key"):
            searched(collection, "bm25", asked)
        return
    legs: dict[SearchMode, list[tuple[float, str]]] = {}
    modes: tuple[SearchMode, ...] = ("bm25", "dense")
    for mode in modes:
        whole = searched(collection, mode, None)
        wanted = [r for r in whole.results if r.citation.source in passing]
        for k in (1, 3, 100):
            response = searched(collection, mode, asked, k)
            assert places(response) == [(r.score, r.citation.chunk_id) for r in wanted[:k]]
        legs[mode] = [(r.score, r.citation.chunk_id) for r in wanted]
    hybrid = searched(collection, "hybrid", asked)
    assert dict(_by_id(hybrid)) == pytest.approx(_fused(legs.values()))
    assert_copies(collection, held, asked, passing)


def _by_id(response: SearchResponse) -> Iterable[tuple[str, float]]:
    return ((chunk, score) for score, chunk in places(response))


def _fused(legs: Iterable[Sequence[tuple[float, str]]]) -> Mapping[str, float]:
    scores: dict[str, float] = {}
    for leg in legs:
        for rank, (_, chunk) in enumerate(leg, start=1):
            scores[chunk] = scores.get(chunk, 0) + 1 / (60 + rank)
    return scores


def assert_copies(
    collection: Collection, held: Sequence[Document], asked: Filter, passing: set[str]
) -> None:
    """Each text is found once, with its other places in documents that pass."""
    modes: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
    apart = searched(collection, "bm25", asked).results
    everywhere: dict[str, set[str]] = {}
    for result in apart:
        everywhere.setdefault(result.content, set()).add(result.citation.chunk_id)
    for mode in modes:
        for result in searched(collection, mode, asked, all_copies=False).results:
            listed = [result.citation, *result.copies]
            assert {each.source for each in listed} <= passing
            assert {each.chunk_id for each in listed} == everywhere[result.content]
            assert len(listed) == len(everywhere[result.content])
            assert result.metadata == next(
                each.metadata for each in held if each.source == result.citation.source
            )


@settings(max_examples=15, deadline=None)
@given(st.data(), documents(), st.booleans())
def test_what_is_found_is_what_passes_ranked_as_without_a_filter(
    data: st.DataObject, held: list[Document], compacted: bool
) -> None:
    asked = data.draw(st.lists(filters(held), min_size=1, max_size=10))
    with TemporaryDirectory() as folder:
        collection = built(Path(folder) / "c", held, compacted=compacted)
        for each in asked:
            assert_found(collection, held, each)
        assert collection.check() == []


@settings(deadline=None)
@given(documents().flatmap(filters))
def test_a_filter_in_json_is_the_same_filter(asked: Filter) -> None:
    assert read(asked.model_dump_json()) == asked
    assert read(asked.model_dump_json(exclude_none=True)) == asked


def test_few_allowed_passages_among_many_better_ones_are_all_found(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c", embedder=InMemoryEmbedder(16))
    best = [
        Document.from_text(f"best{n}", f"pump valve {n}", metadata={"n": n}) for n in range(300)
    ]
    rest = [
        Document.from_text(f"r{n}", f"pump and much else besides {n} {'x ' * n}", metadata={"r": n})
        for n in range(12)
    ]
    collection.add(best)
    collection.add(rest)
    asked = Condition(key="r", at_least=0)
    modes: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
    for mode in modes:
        for k in (1, 5, 12, 100):
            response = collection.search("pump valve", top_k=k, mode=mode, filters=asked)
            assert len(response.results) == min(k, 12)
            assert set(found(response)) <= {f"r{n}" for n in range(12)}
    fused = collection.search("pump valve", top_k=12, mode="hybrid", filters=asked).results
    for leg in ("bm25", "dense"):
        assert sorted(result.components[leg].rank for result in fused) == [*range(1, 13)]


def test_a_text_that_also_stands_elsewhere_is_cited_where_it_is_allowed(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c", embedder=InMemoryEmbedder(16))
    collection.add(
        [Document.from_text(f"s{n}", "the same pump", metadata={"n": n}) for n in range(6)]
    )
    modes: tuple[SearchMode, ...] = ("bm25", "dense", "hybrid")
    for mode in modes:
        for n in range(6):
            alone = Condition(key="n", equals=n)
            (result,) = collection.search("pump", mode=mode, filters=alone).results
            assert (result.citation.source, result.copies) == (f"s{n}", ())
        two = Condition(key="n", one_of=(1, 4))
        (result,) = collection.search("pump", mode=mode, filters=two).results
        assert sorted([result.citation.source, *(c.source for c in result.copies)]) == ["s1", "s4"]


def test_one_value_of_several_has_to_be_all_that_is_asked(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add([Document.from_text("a", "pump", metadata={"n": [1, 9], "tag": ["ax", "yb"]})])
    between = Condition(key="n", above=1, below=9)
    both = AllOf(all_of=(Condition(key="n", above=1), Condition(key="n", below=9)))
    assert found(collection.search("pump", filters=between)) == []
    assert found(collection.search("pump", filters=both)) == ["a"]
    assert found(collection.search("pump", filters=Condition(key="tag", glob="a*b"))) == []
    assert found(collection.search("pump", filters=Condition(key="tag", glob="a*", above="a")))


def test_a_document_without_a_key_passes_what_excludes_its_values(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    collection.add(
        [
            Document.from_text("a", "pump one", metadata={"tag": ["x", "y"]}),
            Document.from_text("b", "pump two", metadata={"tag": "y"}),
            Document.from_text("c", "pump three"),
        ]
    )

    def passing(asked: Filter) -> set[str]:
        return set(found(collection.search("pump", filters=asked)))

    no_x = NoneOf(none_of=(Condition(key="tag", equals="x"),))
    assert passing(no_x) == {"b", "c"}
    assert passing(NoneOf(none_of=(no_x,))) == {"a"}
    assert passing(NoneOf(none_of=(no_x, Condition(key="tag", equals="y")))) == set()
    assert passing(Condition(key="tag", exists=False)) == {"c"}
    assert passing(AnyOf(any_of=(no_x, Condition(key="tag", equals="x")))) == {"a", "b", "c"}


def test_numbers_compare_exactly_whatever_their_size(tmp_path: Path) -> None:
    values: list[int | float] = [2**53, 2**53 + 1, 2**63 - 1, float(2**63), -(2**63), 1e308, 0.1]
    collection = Collection.open(tmp_path / "c")
    collection.add(
        [Document.from_text(f"s{n}", f"pump {n}", metadata={"n": v}) for n, v in enumerate(values)]
    )

    def passing(**asked: int | float) -> set[str]:
        return set(found(collection.search("pump", filters=Condition(key="n", **asked))))  # type: ignore[arg-type]

    for limit in [*values, float(2**53), 0.1 + 2**-56, 0]:
        assert passing(equals=limit) == {f"s{n}" for n, v in enumerate(values) if v == limit}
        assert passing(at_least=limit) == {f"s{n}" for n, v in enumerate(values) if v >= limit}
        assert passing(below=limit) == {f"s{n}" for n, v in enumerate(values) if v < limit}


def test_a_number_a_text_and_a_boolean_of_one_look_are_three_things(tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    values: dict[str, object] = {"number": 1, "text": "1", "boolean": True, "float": 1.0}
    collection.add(
        [Document.from_text(name, f"pump {name}", metadata={"k": v}) for name, v in values.items()]
    )

    def passing(value: bool | int | float | str) -> set[str]:
        asked = Condition(key="k", equals=value)
        return set(found(collection.search("pump", filters=asked)))

    assert passing(1) == passing(1.0) == {"number", "float"}
    assert passing("1") == {"text"}
    assert passing(True) == {"boolean"}
    assert passing(False) == set()
