"""The real all-MiniLM-L6-v2, where the package index has it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from groundkit_core.embedders.onnx import OnnxEmbedder
from groundkit_core.embedding import EmbeddingProtocol

from tests.core.embedders.isolated import isolated
from tests.core.embedders.nearness import SENTENCES, paraphrases_are_nearer

onnxruntime = pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def embedder(minilm: Path) -> OnnxEmbedder:
    return OnnxEmbedder(minilm, max_tokens=256)


def test_its_size_is_384(embedder: OnnxEmbedder) -> None:
    assert isinstance(embedder, EmbeddingProtocol)
    assert embedder.dimensions == 384


def test_paraphrases_are_nearer_than_unrelated_sentences(embedder: OnnxEmbedder) -> None:
    assert paraphrases_are_nearer(embedder.embed_now(SENTENCES, "document")) == [True] * 5


def test_its_vectors_are_the_mean_of_its_token_vectors(
    embedder: OnnxEmbedder, minilm: Path
) -> None:
    session = onnxruntime.InferenceSession(str(minilm / "model.onnx"))
    tokenizer = tokenizers.Tokenizer.from_file(str(minilm / "tokenizer.json"))
    tokenizer.no_padding()
    texts = [*SENTENCES, " ".join(SENTENCES)]
    expected = []
    for text in texts:
        tokens = np.array([tokenizer.encode(text).ids])
        ones, zeros = np.ones_like(tokens), np.zeros_like(tokens)
        feeds = {"input_ids": tokens, "attention_mask": ones, "token_type_ids": zeros}
        expected.append(session.run(None, feeds)[0][0].mean(axis=0))
    found = embedder.embed_now(texts, "document")
    unit = np.array([row / np.linalg.norm(row) for row in expected])
    np.testing.assert_allclose(found, unit, atol=1e-5)


def test_a_text_is_the_same_alone_and_in_a_batch(embedder: OnnxEmbedder) -> None:
    texts = [" ".join(SENTENCES[n : n + 1 + n % 5]) for n in range(len(SENTENCES))]
    alone = np.vstack([embedder.embed_now([text], "document") for text in texts])
    np.testing.assert_allclose(embedder.embed_now(texts, "document"), alone, atol=1e-5)


def test_threads_may_share_it(embedder: OnnxEmbedder) -> None:
    expected = embedder.embed_now(SENTENCES[:3], "document")
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(lambda _: embedder.embed_now(SENTENCES[:3], "document"), range(8)):
            np.testing.assert_array_equal(rows, expected)


def test_it_opens_no_socket_survives_a_fork_and_prints_nothing(minilm: Path) -> None:
    code = """
import os
from groundkit_core.embedders.onnx import OnnxEmbedder
embedder = OnnxEmbedder(sys.argv[1])
before = embedder.embed_now(["a pump", "a valve"], "document")
clients = {"requests", "urllib3", "httpx", "huggingface_hub"} & set(sys.modules)
if not hasattr(os, "fork"):
    print(before.shape, sorted(clients), 7)
elif child := os.fork():
    print(before.shape, sorted(clients), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
else:
    same = (embedder.embed_now(["a pump", "a valve"], "document") == before).all()
    os._exit(7 if same else 1)
"""
    assert isolated(code, minilm) == "(2, 384) [] 7"
