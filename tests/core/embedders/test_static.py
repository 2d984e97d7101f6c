import asyncio
import importlib.util
import json
import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from groundkit_core.embedders.static import STATIC_DIMENSIONS, StaticEmbedder
from groundkit_core.embedding import EmbeddingIdentity, EmbeddingProtocol, identity_of
from groundkit_core.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingProviderNotConfiguredError,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.embedders.isolated import isolated
from tests.core.embedders.nearness import SENTENCES, paraphrases_are_nearer

if importlib.util.find_spec("wordllama") is None:
    pytest.skip("wordllama is not installed", allow_module_level=True)

EMBEDDER = StaticEmbedder()


def test_it_is_an_embedder_with_this_identity() -> None:
    assert isinstance(EMBEDDER, EmbeddingProtocol)
    assert identity_of(EMBEDDER) == EmbeddingIdentity(
        provider="static", model_name="wordllama-l2-supercat-256", dimensions=256
    )


def test_its_vectors_are_those_of_wordllama() -> None:
    texts = [*SENTENCES, "***", "ein Käse", "日本語のテキスト", "x" * 5000, "word " * 9000]
    code = """
import json, os, sys, wordllama
model = wordllama.WordLlama.load(
    cache_dir=os.path.dirname(wordllama.__file__), disable_download=True
)
print(json.dumps(model.embed(json.loads(sys.argv[1]), norm=True, batch_size=1).tolist()))
"""
    theirs = isolated(code, json.dumps(texts), sockets=True)  # its import binds one
    np.testing.assert_allclose(
        EMBEDDER.embed_now(texts, "document"), np.array(json.loads(theirs)), atol=1e-5
    )


def test_it_opens_no_socket_and_leaves_logging_and_imports_alone() -> None:
    code = """
import json, logging
from groundkit_core.embedders.static import StaticEmbedder
rows = StaticEmbedder().embed_now(["a pump", "a valve"], "document")
clients = {"wordllama", "requests", "urllib3", "httpx", "huggingface_hub"} & set(sys.modules)
print(json.dumps([rows.shape, logging.root.handlers, logging.root.level, sorted(clients)]))
"""
    assert json.loads(isolated(code)) == [[2, 256], [], logging.WARNING, []]


@pytest.mark.parametrize("library", ["wordllama", "tokenizers", "safetensors"])
def test_a_missing_library_is_named_with_the_command_that_brings_it(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        EmbeddingProviderNotConfiguredError,
        match=rf"needs {library}; install it with: pip install 'groundkit-core\[static\]'",
    ):
        StaticEmbedder()


def test_paraphrases_are_nearer_than_unrelated_sentences() -> None:
    vectors = EMBEDDER.embed_now(SENTENCES, "document")
    assert paraphrases_are_nearer(vectors) == [True] * 5


@pytest.mark.parametrize("dimensions", STATIC_DIMENSIONS)
def test_fewer_dimensions_are_the_leading_ones_at_length_one(dimensions: int) -> None:
    vectors = StaticEmbedder(dimensions).embed_now(SENTENCES, "document")
    leading = EMBEDDER.embed_now(SENTENCES, "document")[:, :dimensions]
    np.testing.assert_allclose(
        vectors, leading / np.linalg.norm(leading, axis=1)[:, None], atol=1e-6
    )


def test_dimensions_that_the_model_has_not_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="no 100 dimensions; one of: 64, 128, 256"):
        StaticEmbedder(100)


@settings(deadline=None)
@given(st.lists(st.text().filter(str.strip), max_size=5))
def test_every_text_that_is_not_blank_has_a_vector_of_length_one(texts: list[str]) -> None:
    rows = EMBEDDER.embed_now(texts, "query")
    assert rows.shape == (len(texts), 256)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("blank", ["", " \n\t", "\u3000"])
def test_a_blank_text_is_refused_by_its_number(blank: str) -> None:
    with pytest.raises(EmbeddingError, match="text 3 is blank"):
        EMBEDDER.embed_now(["a", "***", blank], "document")


def test_a_lone_surrogate_is_refused_by_its_number_and_place() -> None:
    with pytest.raises(EmbeddingError, match="text 2 has a lone surrogate at 4"):
        EMBEDDER.embed_now(["a", "pump\ud800"], "query")


def test_markup_that_spells_a_special_token_is_text() -> None:
    struck, plain = EMBEDDER.embed_now(["<s>gone</s>", "gone"], "document")
    assert EMBEDDER._tokenizer.encode("<s>", add_special_tokens=False).tokens == ["▁<", "s", ">"]
    assert struck @ plain < 0.99


def test_a_text_has_the_same_vector_whatever_stands_beside_it() -> None:
    together = EMBEDDER.embed_now(SENTENCES, "document")
    alone = np.vstack([EMBEDDER.embed_now([text], "document") for text in SENTENCES])
    np.testing.assert_array_equal(together, alone)


def test_awaiting_gives_the_same_vectors() -> None:
    awaited = asyncio.run(EMBEDDER.embed(SENTENCES, purpose="query"))
    np.testing.assert_array_equal(awaited, EMBEDDER.embed_now(SENTENCES, "query"))


def test_threads_may_share_it() -> None:
    expected = EMBEDDER.embed_now(SENTENCES, "document")
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(lambda _: EMBEDDER.embed_now(SENTENCES, "document"), range(40)):
            np.testing.assert_array_equal(rows, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_goes_on_with_it_and_nothing_is_printed() -> None:
    code = """
import os
from groundkit_core.embedders.static import StaticEmbedder
embedder = StaticEmbedder()
before = embedder.embed_now(["a pump", "a valve"], "document")
if child := os.fork():
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
else:
    same = (embedder.embed_now(["a pump", "a valve"], "document") == before).all()
    os._exit(7 if same else 1)
"""
    assert isolated(code) == "7"
