"""Models small enough to calculate by hand, as folders that an embedder opens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

onnx = pytest.importorskip("onnx")
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("onnxruntime")

__all__ = ["BIAS", "POSITIONS", "TOKENS", "WORDS", "ids", "tiny_model", "tiny_tokenizer"]

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "pump", "valve", "say :")
_RANDOM = np.random.default_rng(5)
TOKENS = _RANDOM.normal(size=(16, 6)).astype(np.float32)
POSITIONS = _RANDOM.normal(size=(64, 6)).astype(np.float32)
BIAS = _RANDOM.normal(size=6).astype(np.float32)


def ids(text: str) -> list[int]:
    """The tokens of a text with the special ones around it."""
    return [2, *(WORDS.index(word) if word in WORDS else 1 for word in text.split()), 3]


def tiny_tokenizer(folder: Path, *, special: bool = True, limit: int | None = None) -> None:
    """Words between white space; a word that is not known is [UNK]."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    if special:
        tokenizer.add_special_tokens(list(WORDS[:4]))
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    if limit:
        tokenizer.enable_truncation(limit)
        tokenizer.enable_padding(length=limit)
    tokenizer.save(str(folder / "tokenizer.json"))


def tiny_model(
    folder: Path,
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    outputs: Sequence[str] = ("last_hidden_state",),
    integers: str = "INT64",
    quantised: bool = False,
    tokens: NDArray[np.float32] = TOKENS,
) -> Path:
    """Token vectors from a table, plus position vectors where the graph asks for positions.

    An output with three dimensions holds them, `sentence_embedding` and `pooler_output` their sum
    over a text plus a bias. A quantised graph rounds by the range of the whole batch.
    """
    nodes = [_node("Gather", ["tokens", "input_ids"], "hidden")]
    last = "hidden"
    for name, table in (("position_ids", "positions"), ("token_type_ids", "kinds")):
        if name in inputs:
            nodes += [
                _node("Gather", [table, name], f"{name}_rows"),
                _node("Add", [last, f"{name}_rows"], f"{name}_added"),
            ]
            last = f"{name}_added"
    if quantised:
        nodes += [
            onnx.helper.make_node("DynamicQuantizeLinear", [last], ["q", "scale", "zero"]),
            _node("DequantizeLinear", ["q", "scale", "zero"], "dequantised"),
        ]
        last = "dequantised"
    nodes.append(_node("Identity", [last], "vectors"))
    if "attention_mask" in inputs:
        nodes += [
            _node("Cast", ["attention_mask"], "mask", to=onnx.TensorProto.FLOAT),
            _node("Unsqueeze", ["mask", "last_axis"], "mask_column"),
            _node("Mul", ["vectors", "mask_column"], "shown"),
            _node("ReduceSum", ["shown", "middle_axis"], "summed", keepdims=0),
            _node("Add", ["summed", "bias"], "text"),
        ]
    pooled = ("sentence_embedding", "pooler_output")
    nodes += [_node("Identity", ["text" if n in pooled else "vectors"], n) for n in outputs]
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_model(nodes, inputs, outputs, integers, tokens), str(folder / "model.onnx"))
    tiny_tokenizer(folder)
    return folder


def _model(
    nodes: list[Any],
    inputs: Sequence[str],
    outputs: Sequence[str],
    integers: str,
    tokens: NDArray[np.float32],
) -> Any:
    make, kind = onnx.helper.make_tensor_value_info, getattr(onnx.TensorProto, integers)
    constants = {
        "tokens": tokens,
        "positions": POSITIONS,
        "kinds": np.zeros((2, tokens.shape[1]), dtype=np.float32),
        "bias": BIAS,
        "last_axis": np.array([-1]),
        "middle_axis": np.array([1]),
    }
    shapes = {"sentence_embedding": ["batch", "size"], "pooler_output": ["batch", "size"]}
    graph = onnx.helper.make_graph(
        nodes,
        "tiny",
        [make(name, kind, ["batch", "sequence"]) for name in inputs],
        [
            make(name, onnx.TensorProto.FLOAT, shapes.get(name, ["batch", "sequence", "size"]))
            for name in outputs
        ],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opsets = [onnx.helper.make_opsetid("", 17)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _node(kind: str, inputs: list[str], output: str, **attributes: int) -> Any:
    return onnx.helper.make_node(kind, inputs, [output], **attributes)
