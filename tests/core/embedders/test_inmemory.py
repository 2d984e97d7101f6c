import asyncio

import numpy as np
import pytest
from groundkit_core.embedding import EmbeddingIdentity, EmbeddingProtocol, identity_of
from groundkit_core.errors import EmbeddingError
from groundkit_core.testing import InMemoryEmbedder
from hypothesis import given
from hypothesis import strategies as st


def test_it_is_an_embedder_with_the_identity_it_was_given() -> None:
    embedder = InMemoryEmbedder(4, model_name="m1", document_prefix="d: ", query_prefix="q: ")
    assert isinstance(embedder, EmbeddingProtocol)
    assert identity_of(embedder) == EmbeddingIdentity(
        provider="inmemory",
        model_name="m1",
        dimensions=4,
        document_prefix="d: ",
        query_prefix="q: ",
    )


def test_the_more_words_are_shared_the_nearer_the_texts() -> None:
    texts = ["pumps stop at noon", "pumps stop at night", "all pumps run", "markets fell sharply"]
    rows = InMemoryEmbedder(512).embed_now(texts, "document")
    nearness = rows[1:] @ rows[0]
    # Independent hashes are nearly orthogonal, so nearness is the share of terms in common.
    np.testing.assert_allclose(nearness, [3 / 4, 1 / 12**0.5, 0], atol=0.15)


def test_vectors_are_the_same_in_every_process() -> None:
    (row,) = InMemoryEmbedder(4).embed_now(["pump"], "document")
    np.testing.assert_allclose(row, [-0.08634157, 0.5632633, -0.59377658, 0.56807482], rtol=1e-6)


def test_another_model_gives_other_vectors_of_the_same_size() -> None:
    (first,) = InMemoryEmbedder(model_name="m1").embed_now(["a pump"], "document")
    (second,) = InMemoryEmbedder(model_name="m2").embed_now(["a pump"], "document")
    assert abs(first @ second) < 0.5


@pytest.mark.parametrize("purpose", ["document", "query"])
def test_the_prefix_of_the_purpose_goes_before_the_text(purpose: str) -> None:
    prefixed = InMemoryEmbedder(document_prefix="passage: ", query_prefix="query: ")
    word = {"document": "passage", "query": "query"}[purpose]
    rows = asyncio.run(prefixed.embed(["a pump"], purpose=purpose))  # type: ignore[arg-type]
    plain = InMemoryEmbedder().embed_now([f"{word}: a pump"], "document")
    np.testing.assert_array_equal(rows, plain)


@given(st.lists(st.text().filter(str.strip), max_size=5), st.integers(1, 8))
def test_every_text_that_is_not_blank_has_a_vector_of_length_one(
    texts: list[str], dimensions: int
) -> None:
    rows = InMemoryEmbedder(dimensions).embed_now(texts, "query")
    assert rows.shape == (len(texts), dimensions)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "reason"), [(" \n", "is blank"), ("a\udc80", "has a lone surrogate at 1")]
)
def test_a_text_without_meaning_is_refused_by_its_number(text: str, reason: str) -> None:
    embedder = InMemoryEmbedder()
    with pytest.raises(EmbeddingError, match=f"inmemory hashed-terms: text 2 {reason}"):
        embedder.embed_now(["a", text], "document")
    assert embedder.asked == []


def test_it_remembers_what_it_was_asked() -> None:
    embedder = InMemoryEmbedder(document_prefix="passage: ")
    embedder.embed_now(["a", "b"], "document")
    embedder.embed_now(["a"], "query")
    assert embedder.asked == ["a", "b", "a"]
