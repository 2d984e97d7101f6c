"""Search for callers that await."""

from groundkit_core.contracts import SearchMode, SearchResponse
from groundkit_core.index.collection import Collection

__all__ = ["Retriever"]


class Retriever:
    """Searches a collection; `verify` labels each result by reading its source again."""

    def __init__(self, collection: Collection, *, verify: bool = False) -> None:
        self._collection = collection
        self._verify = verify

    async def search(
        self, query: str, *, top_k: int | None = None, mode: SearchMode = "bm25"
    ) -> SearchResponse:
        """The best passages for a query, best first."""
        return self._collection.search(query, top_k=top_k, mode=mode, verify=self._verify)
