"""Search for callers that await."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from groundkit_core.contracts import SearchMode, SearchResponse
from groundkit_core.embedding import EmbeddingProtocol
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.diversity import Diversity
from groundkit_core.retrieval.legs import Fusion
from groundkit_core.retrieval.search import Query

if TYPE_CHECKING:
    from groundkit_core.retrieval.filters import Filter

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
        diversity: Diversity | None = None,
    ) -> None:
        self._collection = collection
        self._embedder = embedder if embedder is not None else collection.embedder
        self._verify = verify
        self._fusion = fusion or Fusion()
        self._diversity = diversity or Diversity()

    async def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: SearchMode = "bm25",
        filters: "Filter | None" = None,
    ) -> SearchResponse:
        """The best passages for a query in the documents that pass `filters`, best first."""
        return (await self.search_many([query], top_k=top_k, mode=mode, filters=filters))[0]

    async def search_many(
        self,
        queries: Iterable[str],
        *,
        top_k: int | None = None,
        mode: SearchMode = "bm25",
        filters: "Filter | None" = None,
    ) -> list[SearchResponse]:
        """A response for each query, all from one generation."""
        asked = [
            Query(
                query,
                top_k,
                mode,
                fusion=self._fusion,
                filters=filters,
                diversity=self._diversity,
            )
            for query in queries
        ]
        if mode != "bm25":
            asked = await self._collection.with_vectors(asked, self._embedder)
        return self._collection.run(asked, verify=self._verify)
