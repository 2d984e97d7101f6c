"""The model's name changes with everything that changes its vectors, and with nothing else."""

import shutil
from pathlib import Path

from groundkit_core.embedders.onnx import OnnxEmbedder

from tests.core.embedders.tiny_models import TOKENS, tiny_model, tiny_tokenizer


def test_the_name_tells_folder_pooling_and_limit(tmp_path: Path) -> None:
    name = OnnxEmbedder(tiny_model(tmp_path / "tiny"), max_tokens=9).model_name
    assert name.startswith("tiny@")
    assert name.endswith(":mean:9")


def test_a_copied_folder_has_the_same_name(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    copy = Path(shutil.copytree(folder, tmp_path / "elsewhere" / "tiny"))
    assert OnnxEmbedder(copy).model_name == OnnxEmbedder(folder).model_name


def test_other_weights_have_another_name(tmp_path: Path) -> None:
    first = OnnxEmbedder(tiny_model(tmp_path)).model_name
    assert OnnxEmbedder(tiny_model(tmp_path, tokens=TOKENS + 1)).model_name != first


def test_another_tokenizer_has_another_name(tmp_path: Path) -> None:
    first = OnnxEmbedder(tiny_model(tmp_path)).model_name
    tiny_tokenizer(tmp_path, special=False)
    assert OnnxEmbedder(tmp_path).model_name != first


def test_weights_beside_the_graph_count(tmp_path: Path) -> None:
    tiny_model(tmp_path)
    names = set()
    for content in (b"one", b"two"):
        (tmp_path / "model.onnx_data").write_bytes(content)
        names.add(OnnxEmbedder(tmp_path).model_name)
    assert len(names) == 2


def test_another_pooling_has_another_name(tmp_path: Path) -> None:
    tiny_model(tmp_path)
    assert OnnxEmbedder(tmp_path, pooling="cls").model_name != OnnxEmbedder(tmp_path).model_name
