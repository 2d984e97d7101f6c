from pathlib import Path

import numpy as np
import pytest
from groundkit_core.blocking import result_of
from groundkit_core.errors import EmbeddingError
from groundkit_core.testing import InMemoryEmbedder

from benchmarks.cached import CachedEmbedder


def test_a_second_embedder_takes_from_disk_what_the_first_embedded(tmp_path: Path) -> None:
    first, second = InMemoryEmbedder(), InMemoryEmbedder()
    texts = ["a pump", "a valve", "a pump"]
    made = result_of(CachedEmbedder(first, tmp_path).embed(texts, purpose="document"))
    assert first.asked == ["a pump", "a valve"]
    cached = CachedEmbedder(second, tmp_path)
    found = result_of(cached.embed([*texts, "a hose"], purpose="document"))
    assert second.asked == ["a hose"]
    assert np.array_equal(found[:3], made)
    assert np.array_equal(found, InMemoryEmbedder().embed_now([*texts, "a hose"], "document"))
    assert (cached.cached, cached.embedded) == (3, 1)


def test_queries_and_other_models_have_vectors_of_their_own(tmp_path: Path) -> None:
    embedder = InMemoryEmbedder(query_prefix="query: ")
    cached = CachedEmbedder(embedder, tmp_path)
    document = result_of(cached.embed(["a pump"], purpose="document"))
    query = result_of(cached.embed(["a pump"], purpose="query"))
    assert not np.array_equal(document, query)
    other = InMemoryEmbedder(query_prefix="query: ", model_name="other")
    result_of(CachedEmbedder(other, tmp_path).embed(["a pump"], purpose="query"))
    assert other.asked == ["a pump"]


def test_finished_vectors_are_kept_when_the_embedder_fails(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(40)]
    with pytest.raises(EmbeddingError, match="text 9 is blank"):
        result_of(
            CachedEmbedder(InMemoryEmbedder(), tmp_path).embed([*texts, " "], purpose="query")
        )
    again = InMemoryEmbedder()
    result_of(CachedEmbedder(again, tmp_path).embed(texts, purpose="query"))
    assert again.asked == texts[32:]
