"""How the vectors of an ONNX model are made, from files beside it and from flags."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from groundkit_core.contracts import Contract
from groundkit_core.embedders.pooling import Pooling
from groundkit_core.errors import ConfigurationError

__all__ = ["OnnxSettings", "onnx_settings"]

_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_mean_tokens": "mean",
}


class OnnxSettings(Contract):
    """What `embedding.json` may hold; None leaves the choice to the model's other files."""

    name: str | None = None
    pooling: Pooling | None = None
    document_prefix: str = ""
    query_prefix: str = ""
    max_tokens: int | None = Field(default=None, ge=1)


def onnx_settings(folder: Path, flags: Mapping[str, object]) -> OnnxSettings:
    """Flags over `embedding.json` over the files that sentence-transformers writes."""
    found: dict[str, object] = {}
    for source in (_foreign(folder), _object(folder / "embedding.json"), flags):
        found |= {key: value for key, value in source.items() if value is not None}
    try:
        return OnnxSettings.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    raise ConfigurationError(f"settings of the model in {folder}: {problem}")


def _foreign(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    if pooling := _object(folder / "1_Pooling" / "config.json"):
        modes = [key for key, on in pooling.items() if key.startswith("pooling_mode_") and on]
        # A mode that is not known here is no valid pooling, so it must be overruled.
        found["pooling"] = "+".join(_POOLINGS.get(mode, mode) for mode in modes)
    prompts = _object(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict):
        found["query_prefix"] = prompts.get("query")
        found["document_prefix"] = prompts.get("document", prompts.get("passage"))
    found["max_tokens"] = _object(folder / "sentence_bert_config.json").get("max_seq_length")
    return found


def _object(path: Path) -> dict[str, object]:
    """The JSON object in a file, empty if there is no file."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: it cannot be read as JSON") from error
    if not isinstance(found, dict):
        raise ConfigurationError(f"{path}: it is no JSON object")
    return found
