"""Chat, embeddings and URL fetch: the only groundkit package with outbound connections."""

__all__: list[str] = []
