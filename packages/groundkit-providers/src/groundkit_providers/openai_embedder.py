"""The embeddings API that OpenAI, many clouds and most local servers speak."""

from groundkit_core.errors import EmbeddingError

from groundkit_providers.http import Reply
from groundkit_providers.http_embedder import HttpEmbedder
from groundkit_providers.replies import FromServer, parsed
from groundkit_providers.servers import OpenAICompatModel
from groundkit_providers.settings import DEFAULT_API_KEY_ENV

__all__ = ["OpenAICompatibleEmbedder"]


class OpenAICompatibleEmbedder(HttpEmbedder, OpenAICompatModel):
    """Vectors of a model behind the OpenAI-compatible API of a cloud or of your own server."""

    _path = "/v1/embeddings"

    def __init__(
        self,
        *,
        model_name: str,
        base_url: str,
        api_key_env: str | None = DEFAULT_API_KEY_ENV,
        dimensions: int | None = None,
        document_prefix: str = "",
        query_prefix: str = "",
        batch_size: int = 32,
        timeout_seconds: float = 60.0,
        allow_private_endpoint: bool = False,
    ) -> None:
        super().__init__(
            model_name=model_name,
            base_url=base_url,
            api_key_env=api_key_env,
            timeout_seconds=timeout_seconds,
            allow_private_endpoint=allow_private_endpoint,
        )
        self._set_up(dimensions, document_prefix, query_prefix, batch_size)

    def _body(self, texts: list[str]) -> dict[str, object]:
        return {"model": self._model_name, "input": texts, "encoding_format": "float"}

    def _vectors(self, reply: Reply) -> list[list[float]]:
        complaint = self._said("sent a reply of another shape", reply)
        entries = parsed(_OpenAIVectors, reply, complaint, EmbeddingError).data
        entries = sorted(entries, key=lambda entry: entry.index)
        if [entry.index for entry in entries] != list(range(len(entries))):
            raise EmbeddingError(self._said("numbered its vectors wrongly, so none can be placed"))
        return [entry.embedding for entry in entries]


class _OpenAIVector(FromServer):
    index: int
    embedding: list[float]


class _OpenAIVectors(FromServer):
    data: list[_OpenAIVector]
