"""Reading one file, and making a document of its bytes."""

import os
import stat

from groundkit_core.contracts import Document
from groundkit_core.errors import RefusedError, SourceError
from groundkit_core.ids import document_id
from groundkit_core.loading.detect import decode
from groundkit_core.loading.formats import format_of

__all__ = ["load_document", "read_file"]

_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"):
    _FLAGS |= getattr(os, _name, 0)


def read_file(path: str, limit: int) -> bytes:
    """The bytes of a regular file of at most `limit` bytes that nobody changes meanwhile."""
    try:
        with os.fdopen(os.open(path, _FLAGS), "rb") as stream:
            before = os.fstat(stream.fileno())
            if not stat.S_ISREG(before.st_mode):
                raise SourceError("it is no regular file")
            if before.st_size > limit:
                raise RefusedError(f"{before.st_size} bytes, the limit is {limit}")
            data = stream.read(limit + 1)
            after = os.fstat(stream.fileno())
    except OSError as error:
        raise SourceError(f"unreadable: {error.strerror}") from None
    if (before.st_size, before.st_mtime_ns) != (len(data), after.st_mtime_ns):
        raise SourceError("it changed while it was read")
    return data


def load_document(source: str, data: bytes) -> tuple[Document, list[str]]:
    """The document that a file's bytes hold, and what a user should know of it."""
    found = format_of(source, data)
    decoded = decode(data)
    warnings = []
    if decoded.guessed:
        warnings.append(f"encoding guessed: {decoded.encoding}")
    if not decoded.text.strip():
        warnings.append("it holds no text")
    document = Document(
        id=document_id(source),
        source=source,
        text=decoded.text,
        media_type=found.media_type,
        extractor=found.identity,
        encoding=decoded.encoding,
    )
    return document, warnings
