"""Texts as an embedder takes them."""

import re
from collections.abc import Sequence

from groundkit_core.embedding import EmbeddingProtocol, Purpose
from groundkit_core.errors import EmbeddingError

__all__ = ["prepared_texts"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def prepared_texts(
    embedder: EmbeddingProtocol, texts: Sequence[str], purpose: Purpose
) -> list[str]:
    """The texts with the prefix of their purpose; `EmbeddingError` for one that has no meaning.

    That is a text of white space, and one with a lone surrogate, which no tokenizer reads.
    """
    who = f"{embedder.provider} {embedder.model_name}"
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            raise EmbeddingError(f"{who}: text {number} is blank", place=number)
        if (surrogate := _SURROGATE.search(text)) is not None:
            said = f"{who}: text {number} has a lone surrogate at {surrogate.start()}"
            raise EmbeddingError(said, place=number)
    prefix = embedder.document_prefix if purpose == "document" else embedder.query_prefix
    return [prefix + text for text in texts]
