"""Search for callers that await."""

from groundkit_core.contracts import SearchMode, SearchResponse
from groundkit_core.embedding import EmbeddingProtocol
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.legs import Fusion
from groundkit_core.retrieval.search import Query

__all__ = ["Retriever"]


class Retriever:
    """Searches a collection; `verify` labels each result by reading its source again.

    `embedder` (default: the collection's) makes the vectors of the modes `dense` and `hybrid`.
    """

    def __init__(
        self,
        collection: Collection,
        *,
        embedder: EmbeddingProtocol | None = None,
        verify: bool = False,
        fusion: Fusion | None = None,
    ) -> None:
        self._collection = collection
        self._embedder = embedder if embedder is not None else collection.embedder
        self._verify = verify
        self._fusion = fusion or Fusion()

    async def search(
        self, query: str, *, top_k: int | None = None, mode: SearchMode = "bm25"
    ) -> SearchResponse:
        """The best passages for a query, best first."""
        asked = Query(query, top_k, mode, fusion=self._fusion)
        if mode != "bm25":
            asked = await self._collection.with_vector(asked, self._embedder)
        return self._collection.run(asked, verify=self._verify)
