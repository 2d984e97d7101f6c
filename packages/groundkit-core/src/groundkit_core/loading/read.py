"""Reading one file, and making a document of its bytes."""

import os
import stat
from dataclasses import dataclass

from groundkit_core.contracts import Document
from groundkit_core.errors import RefusedError, SourceError
from groundkit_core.ids import document_id
from groundkit_core.loading.detect import decode
from groundkit_core.loading.formats import format_of
from groundkit_core.loading.front_matter import front_matter

__all__ = ["Loaded", "load_document", "read_file"]

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


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document, what a user should know of it, and why a part of it is missing, if one is."""

    document: Document
    warnings: tuple[str, ...] = ()
    partial: str | None = None


def load_document(source: str, data: bytes) -> Loaded:
    """The document that a file's bytes hold."""
    found = format_of(source, data)
    decoded = decode(data)
    warnings = []
    if decoded.guessed:
        warnings.append(f"encoding guessed: {decoded.encoding}")
    if not decoded.text.strip():
        warnings.append("it holds no text")
    front = front_matter(decoded.text) if found.media_type == "text/markdown" else None
    document = Document(
        id=document_id(source),
        source=source,
        text=decoded.text,
        title=front.title if front else None,
        media_type=found.media_type,
        extractor=found.identity,
        encoding=decoded.encoding,
        metadata=front.metadata if front else {},
    )
    return Loaded(document, tuple(warnings), front.problem if front else None)
