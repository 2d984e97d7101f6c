"""The two protocols of an embedding server, so that each fault is tried over both."""

import asyncio
import json
import math
import traceback
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np
import pytest
from groundkit_core.embedding import EmbeddingProtocol, Purpose, Vectors
from groundkit_core.errors import GroundkitError
from groundkit_providers.embeddings import OllamaEmbedder, OpenAICompatibleEmbedder

from tests.providers.dialects import KEY
from tests.providers.faulty_server import Behaviour, Request, reply

__all__ = [
    "DIMENSIONS",
    "EMBED_DIALECTS",
    "TEXTS",
    "EmbedDialect",
    "embed",
    "embed_failure",
    "expected",
    "sent_texts",
    "serving",
    "vector_of",
    "with_both",
]

DIMENSIONS = 4
TEXTS = [
    'What did "Ms Canary Prompt" order?\nNine copper kettles, paid in cash.',
    "The canary system of Harbour Lane answers slowly.",
    "Für die Kanäle: 四十一 lanterns, \x00\u2028 and 🙂 in plain sight.",
]


class Settings(TypedDict, total=False):
    """Settings that both embedders have."""

    dimensions: int | None
    document_prefix: str
    query_prefix: str
    batch_size: int
    timeout_seconds: float
    allow_private_endpoint: bool


class EmbedDialect:
    """One protocol: the client that speaks it and the bodies that go to and fro."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = "/api/embed" if name == "ollama" else "/v1/embeddings"

    def __repr__(self) -> str:
        return self.name

    def embedder(
        self, base_url: str, **settings: Unpack[Settings]
    ) -> OllamaEmbedder | OpenAICompatibleEmbedder:
        """A client that may speak with loopback."""
        settings.setdefault("dimensions", DIMENSIONS)
        if self.name == "ollama":
            return OllamaEmbedder(model_name="nomic", base_url=base_url, **settings)
        settings.setdefault("allow_private_endpoint", True)
        return OpenAICompatibleEmbedder(model_name="some-model", base_url=base_url, **settings)

    def answer(self, vectors: Sequence[object]) -> dict[str, Any]:
        """The body of a whole reply; where vectors are numbered, the last one comes first."""
        if self.name == "ollama":
            return {"model": "nomic", "embeddings": list(vectors), "prompt_eval_count": 3}
        numbered: list[dict[str, Any]] = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        return {"object": "list", "data": numbered[::-1], "usage": {"total_tokens": 3}}

    def complaint(self, words: str) -> dict[str, object]:
        """The body of an error."""
        return {"error": words if self.name == "ollama" else {"message": words, "code": "bad"}}


EMBED_DIALECTS = [EmbedDialect("ollama"), EmbedDialect("openai")]
with_both = pytest.mark.parametrize("dialect", EMBED_DIALECTS, ids=repr)


def vector_of(text: str) -> list[float]:
    """Four numbers that tell texts apart, of a length that is not 1."""
    data = text.encode()
    return [float(len(data)), float(sum(data) % 97), -float(data[0]), float(data[-1]) / 3]


def expected(texts: Sequence[str]) -> Vectors:
    """What an embedder makes of the vectors of these texts."""
    rows = [vector_of(text) for text in texts]
    return np.array([[x / math.hypot(*row) for x in row] for row in rows], dtype=np.float32)


def sent_texts(request: Request) -> list[str]:
    """The texts that one request carries."""
    texts = request.json["input"]
    assert isinstance(texts, list)
    return texts


def serving(
    dialect: EmbedDialect, *, inputs: int = 10_000, tokens: int = 10_000, status: int = 400
) -> Behaviour:
    """A server that refuses a request of more texts, or more words in all, than it permits."""

    def behave(request: Request) -> None:
        texts = sent_texts(request)
        if len(texts) > inputs or sum(len(text.split()) for text in texts) > tokens:
            reply({"detail": "too many"}, status=status)(request)
        else:
            reply(dialect.answer([vector_of(text) for text in texts]))(request)

    return behave


def embed(
    embedder: EmbeddingProtocol, texts: Sequence[str] = TEXTS, purpose: Purpose = "document"
) -> Vectors:
    """One call in an event loop of its own."""
    return asyncio.run(embedder.embed(list(texts), purpose=purpose))


def embed_failure(embedder: EmbeddingProtocol, texts: Sequence[str] = TEXTS) -> GroundkitError:
    """The one error of a call, once nothing confidential is found in or behind it."""
    with pytest.raises(GroundkitError) as caught:
        embed(embedder, texts)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = "".join([str(error), repr(error), *traceback.format_exception(error)])
    for text in (KEY, *texts):
        assert text not in shown
        assert json.dumps(text)[1:-1] not in shown
        assert text.splitlines()[0] not in shown
    assert str(error).isprintable()
    return error
