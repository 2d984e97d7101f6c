"""Tokenizers of embedders, as the tokenizers library reads them."""

from pathlib import Path
from typing import TYPE_CHECKING

from groundkit_core.errors import EmbeddingError, EmbeddingProviderNotConfiguredError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["load_tokenizer", "missing_extra"]


def missing_extra(extra: str, library: str) -> EmbeddingProviderNotConfiguredError:
    """The error for an extra that is not installed."""
    return EmbeddingProviderNotConfiguredError(
        f"the {extra} embedder needs {library}; "
        f"install it with: pip install 'groundkit-core[{extra}]'"
    )


def load_tokenizer(path: Path, extra: str) -> "Tokenizer":
    """The tokenizer in a file, without padding; special tokens that a text spells are text."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise missing_extra(extra, "tokenizers") from None
    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more precise
        raise EmbeddingError(f"{path}: this is no tokenizer") from error
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer
