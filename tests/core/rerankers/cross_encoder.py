"""A cross-encoder whose score is known: words shared, less a thousandth of the largest word id."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

onnx = pytest.importorskip("onnx", reason="it builds the model")
tokenizers = pytest.importorskip("tokenizers", reason="groundkit-core[onnx] is missing")
pytest.importorskip("onnxruntime", reason="groundkit-core[onnx] is missing")
TensorProto, helper, numpy_helper = onnx.TensorProto, onnx.helper, onnx.numpy_helper

__all__ = ["SPECIAL", "VOCABULARY", "WORDS", "expected", "save_model", "save_tokenizer", "windows"]

OWN = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
MARKS = ["[", "]", "SEP"]
WORDS = [f"w{number}" for number in range(40)]
VOCABULARY = {word: number for number, word in enumerate([*OWN, *MARKS, *WORDS])}
SPECIAL = 3
"""What the template adds to a pair: one [CLS] and two [SEP]."""

HEADS = {
    "one": [("Identity", ["score"], "logits")],
    "two": [
        ("Mul", ["score", "minus_two"], "lower"),
        ("Concat", ["lower", "score"], "logits"),
    ],
    "three": [("Concat", ["score", "score", "score"], "logits")],
    "nan": [("Mul", ["score", "nan"], "logits")],
    "infinite": [("Div", ["score", "nothing"], "logits")],
}


def save_tokenizer(folder: Path, *, truncation: int | None = None, template: bool = True) -> None:
    """Write a tokenizer of whole words that joins a pair as BERT's does."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.add_special_tokens(OWN)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    if template:
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[(name, VOCABULARY[name]) for name in ("[CLS]", "[SEP]")],
        )
    if truncation:
        tokenizer.enable_truncation(truncation)
        tokenizer.enable_padding(length=truncation)
    tokenizer.save(str(folder / "tokenizer.json"))


def save_model(
    folder: Path,
    *,
    positions: int = 512,
    head: str = "one",
    integer: int = TensorProto.INT64,
    extra_inputs: Sequence[str] = (),
    outputs: Sequence[str] = ("logits",),
) -> None:
    """Write a model that fails beyond its positions and lets a batch change every score in it."""
    constants: dict[str, NDArray[Any]] = {
        "first_word": np.array(len(OWN), np.int64),
        "column": np.array([2], np.int64),
        "row": np.array([1], np.int64),
        "inner": np.array([1, 2], np.int64),
        "axis": np.array(1, np.int64),
        "one": np.array(1, np.int64),
        "thousandth": np.array(0.001, np.float32),
        "minus_two": np.array(-2, np.float32),
        "nan": np.array(np.nan, np.float32),
        "nothing": np.array(0, np.float32),
        "table": np.zeros((positions, 1), np.float32),
    }
    steps = [
        ("Cast", ["input_ids"], "ids"),
        ("Cast", ["attention_mask"], "mask"),
        ("Cast", ["token_type_ids"], "type"),
        ("GreaterOrEqual", ["ids", "first_word"], "word"),
        ("Equal", ["type", "one"], "second"),
        ("Not", ["second"], "first"),
        ("And", ["word", "first"], "asked"),
        ("And", ["word", "second"], "held"),
        ("Unsqueeze", ["ids", "column"], "down"),
        ("Unsqueeze", ["ids", "row"], "across"),
        ("Equal", ["down", "across"], "equal"),
        ("Unsqueeze", ["asked", "column"], "asked_down"),
        ("Unsqueeze", ["held", "row"], "held_across"),
        ("And", ["equal", "asked_down"], "left"),
        ("And", ["left", "held_across"], "shared"),
        ("Float", ["shared"], "ones"),
        ("ReduceSum", ["ones", "inner"], "count_flat"),
        ("Unsqueeze", ["count_flat", "row"], "count"),
        ("CumSum", ["mask", "axis"], "counted"),
        ("Sub", ["counted", "one"], "places"),
        ("Gather", ["table", "places"], "placed"),
        ("ReduceSum", ["placed", "row"], "no_shift"),
        ("Float", ["ids"], "sizes"),
        ("ReduceMax", ["sizes"], "largest"),
        ("Mul", ["largest", "thousandth"], "malus"),
        ("Sub", ["count", "malus"], "unplaced"),
        ("Add", ["unplaced", "no_shift"], "score"),
        *HEADS[head],
    ]
    inputs = ["input_ids", "attention_mask", "token_type_ids", *extra_inputs]
    graph = helper.make_graph(
        [_node(*step) for step in steps],
        "overlap",
        [helper.make_tensor_value_info(name, integer, ["n", "length"]) for name in inputs],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "numbers"])
            for name in outputs
        ],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))


def _node(kind: str, inputs: list[str], output: str) -> Any:
    attributes: dict[str, Any] = {}
    if kind in {"Cast", "Float"}:
        attributes["to"] = TensorProto.INT64 if kind == "Cast" else TensorProto.FLOAT
        kind = "Cast"
    elif kind in {"ReduceSum", "ReduceMax"}:
        attributes["keepdims"] = 0
    elif kind == "Concat":
        attributes["axis"] = 1
    return helper.make_node(kind, inputs, [output], **attributes)


def windows(words: Sequence[str], size: int, overlap: int) -> Iterator[Sequence[str]]:
    """Runs of `size` words, each beginning `size - overlap` after the last, to the final word."""
    start = 0
    while start + size < len(words):
        yield words[start : start + size]
        start += size - overlap
    yield words[start : start + size]


def expected(query: Sequence[str], passage: Sequence[str]) -> float:
    """The model's score of one window, in plain Python."""
    shared = sum(asked == held for asked in query for held in passage)
    largest = max(VOCABULARY[word] for word in [*OWN[2:], *query, *passage])
    return shared - 0.001 * largest
