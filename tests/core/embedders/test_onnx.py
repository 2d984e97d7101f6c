import asyncio
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from groundkit_core.embedders.onnx import OnnxEmbedder
from groundkit_core.embedders.pooling import Pooling
from groundkit_core.embedding import Vectors
from groundkit_core.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingProviderNotConfiguredError,
)

from tests.core.embedders.tiny_models import (
    BIAS,
    POSITIONS,
    TOKENS,
    ids,
    tiny_model,
    tiny_tokenizer,
)

TEXTS = ["red", "green blue pump valve unheard", "pump pump"]


def unit(rows: list[Vectors]) -> Vectors:
    found: Vectors = np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32)
    return found


def embedded(folder: Path, texts: list[str] = TEXTS, pooling: Pooling | None = None) -> Vectors:
    return OnnxEmbedder(folder, pooling=pooling).embed_now(texts, "document")


EXPECTED = {
    "mean": unit([TOKENS[ids(text)].mean(axis=0) for text in TEXTS]),
    "cls": unit([TOKENS[ids(text)[0]] for text in TEXTS]),
    "last": unit([TOKENS[ids(text)[-1]] for text in TEXTS]),
    "sentence_embedding": unit([TOKENS[ids(text)].sum(axis=0) + BIAS for text in TEXTS]),
}


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_token_vectors_are_pooled_as_asked(tmp_path: Path, pooling: Pooling) -> None:
    rows = embedded(tiny_model(tmp_path), pooling=pooling)
    np.testing.assert_allclose(rows, EXPECTED[pooling], atol=1e-6)


@pytest.mark.parametrize(
    ("outputs", "pooling", "expected"),
    [
        (["last_hidden_state"], None, "mean"),
        (["anything"], None, "mean"),
        (["pooler_output", "last_hidden_state"], None, "mean"),
        (["token_embeddings", "sentence_embedding"], None, "sentence_embedding"),
        (["token_embeddings", "sentence_embedding"], "last", "last"),
        (["pooler_output"], None, "sentence_embedding"),
    ],
)
def test_the_graph_s_own_vector_of_a_text_is_taken_unless_a_pooling_is_set(
    tmp_path: Path, outputs: list[str], pooling: Pooling | None, expected: str
) -> None:
    rows = embedded(tiny_model(tmp_path, outputs=outputs), pooling=pooling)
    np.testing.assert_allclose(rows, EXPECTED[expected], atol=1e-6)


@pytest.mark.parametrize("integers", ["INT64", "INT32"])
@pytest.mark.parametrize(
    "inputs",
    [["input_ids"], ["input_ids", "attention_mask", "token_type_ids"], ["token_type_ids"]],
)
def test_a_graph_gets_the_inputs_it_asks_for(
    tmp_path: Path, inputs: list[str], integers: str
) -> None:
    wanted = list(dict.fromkeys(["input_ids", *inputs]))
    rows = embedded(tiny_model(tmp_path, inputs=wanted, integers=integers))
    np.testing.assert_allclose(rows, EXPECTED["mean"], atol=1e-6)


def test_positions_count_from_the_start_of_each_text(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, inputs=["input_ids", "position_ids"])
    expected = [(TOKENS[ids(text)] + POSITIONS[: len(ids(text))]).mean(axis=0) for text in TEXTS]
    np.testing.assert_allclose(embedded(folder), unit(expected), atol=1e-6)


def test_an_input_that_no_text_gives_is_refused_by_name(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, inputs=["input_ids", "past_key"])
    with pytest.raises(EmbeddingError, match="it asks for past_key as tensor"):
        OnnxEmbedder(folder)


def test_a_pooling_that_the_outputs_cannot_give_is_refused(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, outputs=["sentence_embedding"])
    with pytest.raises(EmbeddingError, match="its outputs are sentence_embedding; an embedder"):
        OnnxEmbedder(folder, pooling="mean")


def test_prefixes_go_before_texts_by_purpose(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    embedder = OnnxEmbedder(folder, document_prefix="red ", query_prefix="blue ")
    assert (embedder.document_prefix, embedder.query_prefix) == ("red ", "blue ")
    plain = OnnxEmbedder(folder)
    for purpose, word in (("document", "red"), ("query", "blue")):
        found = asyncio.run(embedder.embed(["pump"], purpose=purpose))  # type: ignore[arg-type]
        np.testing.assert_allclose(found, plain.embed_now([f"{word} pump"], "query"), atol=1e-6)


def test_what_is_over_the_limit_is_cut_and_counted(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tiny_model(tmp_path), max_tokens=4)
    rows = embedder.embed_now(["red green", "red green blue pump", "red green blue"], "document")
    assert embedder.truncated == 2
    np.testing.assert_allclose(rows, np.repeat(rows[:1], 3, axis=0), atol=1e-6)


def test_the_limit_is_the_flag_s_else_the_tokenizer_s_else_512(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    assert OnnxEmbedder(folder).max_tokens == 512
    tiny_tokenizer(folder, limit=7)
    assert OnnxEmbedder(folder).max_tokens == 7
    assert OnnxEmbedder(folder, max_tokens=9).max_tokens == 9


def test_padding_of_the_tokenizer_s_own_changes_nothing(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    tiny_tokenizer(folder, limit=30)
    np.testing.assert_allclose(embedded(folder), EXPECTED["mean"], atol=1e-6)


def test_a_limit_without_room_for_a_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="max_tokens is 2, of which the tokenizer takes 2"):
        OnnxEmbedder(tiny_model(tmp_path), max_tokens=2)


def test_a_text_is_the_same_alone_and_in_a_batch(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tiny_model(tmp_path, inputs=["input_ids", "position_ids"]))
    texts = [" ".join(["red", "pump", "valve"][: 1 + n % 3] * (1 + n % 9)) for n in range(40)]
    alone = np.vstack([embedder.embed_now([text], "document") for text in texts])
    np.testing.assert_allclose(embedder.embed_now(texts, "document"), alone, atol=1e-6)


def test_a_graph_that_rounds_by_the_whole_batch_gets_one_text_at_a_time(tmp_path: Path) -> None:
    wild = TOKENS.copy()
    wild[4] *= 50
    embedder = OnnxEmbedder(tiny_model(tmp_path, quantised=True, tokens=wild))
    alone = embedder.embed_now(["pump valve"], "document")
    together = embedder.embed_now(["pump valve", "red red"], "document")
    np.testing.assert_array_equal(together[:1], alone)


def test_no_texts_give_no_rows(tmp_path: Path) -> None:
    assert embedded(tiny_model(tmp_path), []).shape == (0, 6)


def test_a_text_without_any_token_is_refused_by_its_number(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    tiny_tokenizer(folder, special=False)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["normalizer"] = {"type": "Replace", "pattern": {"String": "*"}, "content": ""}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(EmbeddingError, match="text 2 has no token of the model"):
        embedded(folder, ["red", "***"])


@pytest.mark.parametrize(
    ("text", "reason"), [(" \n", "is blank"), ("a\udc80", "has a lone surrogate at 1")]
)
def test_a_text_without_meaning_is_refused_by_its_number(
    tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(EmbeddingError, match=f"text 2 {reason}"):
        embedded(tiny_model(tmp_path), ["red", text])


@pytest.mark.parametrize(("value", "shown"), [(0, "zeros"), (np.nan, "no numbers")])
def test_zeros_and_no_numbers_are_refused(tmp_path: Path, value: float, shown: str) -> None:
    broken = TOKENS.copy()
    broken[7] = value
    folder = tiny_model(tmp_path, tokens=broken)
    tiny_tokenizer(folder, special=False)
    with pytest.raises(EmbeddingError, match=f"vector of .*{shown}.* for text 2"):
        embedded(folder, ["red", "pump"])


def test_a_failing_run_is_an_error_that_names_the_model(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, inputs=["input_ids", "position_ids"])
    with pytest.raises(EmbeddingError, match=r"model\.onnx: onnxruntime failed with \w+ on 1 text"):
        embedded(folder, ["red " * (len(POSITIONS) + 1)])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (tiny_model(tmp_path) / name).unlink()
    with pytest.raises(EmbeddingProviderNotConfiguredError, match=f"there is no {name}"):
        OnnxEmbedder(tmp_path)


@pytest.mark.parametrize("content", [b"", b"no protobuf", b"\x08\x08" * 99])
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_broken_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tiny_model(tmp_path) / name).write_bytes(content)
    with pytest.raises(EmbeddingError, match=name):
        OnnxEmbedder(tmp_path)


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_library_is_named_with_the_command_that_brings_it(
    tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_model(tmp_path)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        EmbeddingProviderNotConfiguredError,
        match=rf"needs {library}; install it with: pip install 'groundkit-core\[onnx\]'",
    ):
        OnnxEmbedder(tmp_path)


def test_threads_below_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="threads is 0"):
        OnnxEmbedder(tiny_model(tmp_path), threads=0)
