"""Doubles for code that uses groundkit."""

from collections.abc import Mapping

from groundkit_core.errors import SourceError

__all__ = ["MappingReader"]


class MappingReader:
    """A `SourceReader` over a mapping from source to text or bytes."""

    def __init__(self, sources: Mapping[str, str | bytes]) -> None:
        self.sources = sources

    def read(self, source: str) -> str | bytes:
        """What the mapping holds now."""
        try:
            return self.sources[source]
        except KeyError:
            raise SourceError("it is gone") from None
