import json
from pathlib import Path

import pytest
from groundkit_core.embedders.onnx_settings import OnnxSettings, onnx_settings
from groundkit_core.errors import ConfigurationError


def written(folder: Path, **files: object) -> Path:
    """The folder with JSON files; `__` in a name stands for a slash."""
    for name, content in files.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_folder_without_settings_has_none(tmp_path: Path) -> None:
    assert onnx_settings(tmp_path, {}) == OnnxSettings()


def test_embedding_json_holds_every_setting(tmp_path: Path) -> None:
    given = {
        "name": "tiny",
        "pooling": "last",
        "document_prefix": "d: ",
        "query_prefix": "q: ",
        "max_tokens": 9,
    }
    assert onnx_settings(written(tmp_path, embedding=given), {}) == OnnxSettings.model_validate(
        given
    )


def test_flags_win_over_embedding_json_and_it_over_sentence_transformers(tmp_path: Path) -> None:
    written(
        tmp_path,
        embedding={"query_prefix": "own", "max_tokens": 2, "name": None},
        **{"1_Pooling__config": {"pooling_mode_cls_token": True}},
        config_sentence_transformers={"prompts": {"query": "theirs", "passage": "p: "}},
        sentence_bert_config={"max_seq_length": 3},
    )
    found = onnx_settings(tmp_path, {"max_tokens": 1, "pooling": None, "document_prefix": ""})
    assert found == OnnxSettings(pooling="cls", query_prefix="own", max_tokens=1)


@pytest.mark.parametrize(
    ("mode", "pooling"),
    [
        ("pooling_mode_cls_token", "cls"),
        ("pooling_mode_mean_tokens", "mean"),
        ("pooling_mode_lasttoken", "last"),
    ],
)
def test_sentence_transformers_files_are_understood(
    tmp_path: Path, mode: str, pooling: str
) -> None:
    modes = dict.fromkeys(
        ["pooling_mode_cls_token", "pooling_mode_mean_tokens", "pooling_mode_max_tokens"], False
    )
    written(
        tmp_path,
        **{"1_Pooling__config": {"word_embedding_dimension": 6, **modes, mode: True}},
        config_sentence_transformers={"prompts": {"query": "q: ", "document": "d: "}},
        sentence_bert_config={"max_seq_length": 3, "do_lower_case": False},
    )
    assert onnx_settings(tmp_path, {}) == OnnxSettings.model_validate(
        {"pooling": pooling, "query_prefix": "q: ", "document_prefix": "d: ", "max_tokens": 3}
    )


@pytest.mark.parametrize(
    "modes", [["max_tokens"], ["mean_tokens", "max_tokens"], ["mean_tokens", "cls_token"]]
)
def test_a_pooling_that_is_not_known_must_be_overruled(tmp_path: Path, modes: list[str]) -> None:
    on = {f"pooling_mode_{mode}": True for mode in modes}
    written(tmp_path, **{"1_Pooling__config": on})
    with pytest.raises(ConfigurationError, match="pooling: Input should be 'mean', 'cls' or 'last"):
        onnx_settings(tmp_path, {})
    assert onnx_settings(tmp_path, {"pooling": "mean"}).pooling == "mean"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"poolling": "cls"}, "poolling: Extra inputs are not permitted"),
        ({"pooling": "max"}, "pooling: Input should be 'mean', 'cls' or 'last'"),
        ({"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
        ({"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
        ({"query_prefix": 1}, "query_prefix: Input should be a valid string"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(
    tmp_path: Path, given: dict[str, object], problem: str
) -> None:
    with pytest.raises(ConfigurationError, match=problem) as raised:
        onnx_settings(written(tmp_path, embedding=given), {})
    assert str(tmp_path) in str(raised.value)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "\udcff"])
def test_a_file_that_is_no_json_object_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "embedding.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigurationError, match=r"embedding\.json: it"):
        onnx_settings(tmp_path, {})
