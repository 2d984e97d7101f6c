"""Ollama's own API for embeddings."""

from groundkit_core.errors import EmbeddingError

from groundkit_providers.http import Reply
from groundkit_providers.http_embedder import HttpEmbedder
from groundkit_providers.replies import FromServer, parsed
from groundkit_providers.servers import OllamaModel
from groundkit_providers.settings import DEFAULT_OLLAMA_BASE_URL

__all__ = ["OllamaEmbedder"]


class OllamaEmbedder(HttpEmbedder, OllamaModel):
    """Vectors of a model behind Ollama's own API; loopback needs no permission."""

    _path = "/api/embed"

    def __init__(
        self,
        *,
        model_name: str,
        base_url: str = DEFAULT_OLLAMA_BASE_URL,
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
            timeout_seconds=timeout_seconds,
            allow_private_endpoint=allow_private_endpoint,
        )
        self._set_up(dimensions, document_prefix, query_prefix, batch_size)

    def _body(self, texts: list[str]) -> dict[str, object]:
        # By default Ollama cuts a text that is too long, silently.
        return {"model": self._model_name, "input": texts, "truncate": False}

    def _vectors(self, reply: Reply) -> list[list[float]]:
        complaint = self._said("sent a reply of another shape", reply)
        return parsed(_OllamaVectors, reply, complaint, EmbeddingError).embeddings


class _OllamaVectors(FromServer):
    embeddings: list[list[float]]
