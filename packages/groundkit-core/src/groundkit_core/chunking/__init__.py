"""Cutting a document's text into passages that are slices of it."""

from groundkit_core.chunking.chunks import chunk_document

__all__ = ["chunk_document"]
