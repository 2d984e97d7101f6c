"""The `--rerank` options, and the reranker they ask for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from groundkit_core.retrieval.rerank import RerankerProtocol

__all__ = ["Rerank", "RerankModel", "reranker_for"]

Rerank = Annotated[
    bool, typer.Option("--rerank", help="Let a cross-encoder reorder what was found.")
]
RerankModel = Annotated[
    Path | None, typer.Option("--rerank-model", help="Folder of an ONNX cross-encoder.")
]


def reranker_for(wanted: bool, folder: Path | None) -> "RerankerProtocol | None":
    """The cross-encoder asked for, or None."""
    from groundkit_core.errors import ConfigurationError

    if not wanted and folder is None:
        return None
    if not (wanted and folder):
        raise ConfigurationError("--rerank and --rerank-model DIR need each other")
    from groundkit_core.rerankers.onnx import CrossEncoderReranker

    return CrossEncoderReranker(folder)
