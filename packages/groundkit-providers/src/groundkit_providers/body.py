"""The body of a reply as it arrives: decompressed, and never more than a limit."""

import zlib

from groundkit_core.errors import RefusedError, SourceError

from groundkit_providers.scrub import scrubbed

__all__ = ["Body"]


class Body:
    """Grows by each block that arrives; errors begin with `shown`."""

    def __init__(self, shown: str, coding: str, limit: int) -> None:
        self._shown, self._limit = shown, limit
        self._data = bytearray()
        self._coding = coding.strip().lower().removeprefix("x-") or "identity"
        self._inflate = zlib.decompressobj(31) if self._coding == "gzip" else None
        if self._coding not in ("identity", "gzip", "deflate"):
            raise RefusedError(f"{shown}: compressed as {scrubbed(coding)}, which is not read")

    def add(self, block: bytes) -> None:
        """Take the next bytes of the reply."""
        self._data += block if self._coding == "identity" else self._inflated(block)
        if len(self._data) > self._limit:
            raise RefusedError(f"{self._shown}: larger than {self._limit} bytes")

    def whole(self) -> bytes:
        """All of it, once the reply has ended."""
        if self._coding != "identity" and not (self._inflate and self._inflate.eof):
            raise SourceError(f"{self._shown}: its compressed reply ends too early")
        return bytes(self._data)

    def _inflated(self, block: bytes) -> bytes:
        if self._inflate is None:
            # Some servers send the bare stream; its first byte is never that of a zlib header.
            self._inflate = zlib.decompressobj(15 if block[0] & 15 == 8 else -15)
        room = self._limit + 1 - len(self._data)
        try:
            found = self._inflate.decompress(block, room)
        except zlib.error:
            found = None
        if found is None or self._inflate.unused_data:
            raise SourceError(f"{self._shown}: its reply is no valid {self._coding} data")
        return found
