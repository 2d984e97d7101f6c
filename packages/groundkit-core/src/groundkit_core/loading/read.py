"""Reading one file, and making a document of its bytes."""

import os
import stat
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace

from groundkit_core.chunking.blocks import Block
from groundkit_core.config import ExtractionConfig
from groundkit_core.contracts import Document
from groundkit_core.errors import RefusedError, SourceError
from groundkit_core.ids import document_id
from groundkit_core.loading.detect import decode
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.formats import (
    USUAL,
    Format,
    check_installed,
    fetched_format,
    format_of,
)
from groundkit_core.loading.front_matter import front_matter
from groundkit_core.loading.snapshot import Snapshot
from groundkit_core.loading.worker import Worker

__all__ = ["Loaded", "extract", "load_document", "load_extracted", "load_snapshot", "read_file"]

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
    """A document, what a user should know of it, and why a part of it is missing, if one is.

    `blocks` and `pages` are what its extractor knows; a text's blocks are found when it is cut.
    """

    document: Document
    warnings: tuple[str, ...] = ()
    partial: str | None = None
    blocks: tuple[Block, ...] | None = None
    pages: tuple[int, ...] = ()


def load_document(
    source: str,
    data: bytes,
    config: ExtractionConfig = USUAL,
    worker: Worker | None = None,
) -> Loaded:
    """The document that a file's bytes hold; without a `worker` one is started where needed."""
    found = format_of(source, data, config)
    if found.kind == "extracted":
        return load_extracted(source, data, found, config, worker)
    return _load_text(source, data, found, config)


def _load_text(
    source: str, data: bytes, found: Format, config: ExtractionConfig, declared: str | None = None
) -> Loaded:
    decoded = decode(data, declared)
    warnings = [f"encoding guessed: {decoded.encoding}"] if decoded.guessed else []
    if not decoded.text.strip():
        warnings.append("it holds no text")
    media_type = found.media_type(source)
    front = front_matter(decoded.text) if media_type == "text/markdown" else None
    document = Document(
        id=document_id(source),
        source=source,
        text=decoded.text,
        title=front.title if front else None,
        media_type=media_type,
        extractor=found.identity(config),
        encoding=decoded.encoding,
        metadata=front.metadata if front else {},
    )
    return Loaded(document, tuple(warnings), front.problem if front else None)


def load_snapshot(
    snapshot: Snapshot, config: ExtractionConfig, worker: Worker | None = None
) -> Loaded:
    """The document that a URL's body holds."""
    found = fetched_format(snapshot.url, snapshot.media_type, snapshot.body, config)
    if found.kind == "extracted":
        loaded = load_extracted(
            snapshot.url, snapshot.body, found, config, worker, declared=snapshot.charset
        )
    else:
        loaded = _load_text(snapshot.url, snapshot.body, found, config, snapshot.charset)
    document = loaded.document.model_copy(update={"source_class": "snapshot"})
    return replace(loaded, document=document)


def load_extracted(
    source: str,
    data: bytes,
    found: Format,
    config: ExtractionConfig,
    worker: Worker | None = None,
    *,
    declared: str | None = None,
) -> Loaded:
    """The document that an extractor makes of the bytes; `declared` is a codec that HTTP named."""
    extracted = extract(found, data, found.options(config), worker, declared=declared)
    warnings = extracted.warnings
    if not extracted.text.strip():
        warnings = (*warnings, "it holds no text")
    document = Document(
        id=document_id(source),
        source=source,
        text=extracted.text,
        title=extracted.title,
        media_type=found.media_type(source),
        source_class="extracted",
        extractor=found.identity(config),
        encoding=extracted.encoding,
    )
    return Loaded(document, warnings, extracted.partial, extracted.blocks, extracted.pages)


def extract(
    found: Format,
    data: bytes,
    options: Mapping[str, object],
    worker: Worker | None = None,
    *,
    encoding: str | None = None,
    declared: str | None = None,
) -> Extracted:
    """What the reader of a format with its options gives, in a process of its own."""
    check_installed(found)
    told: dict[str, object] = {}
    if found.name == "html":
        told = {"full": "content" in options, "encoding": encoding, "declared": declared}
    with nullcontext(worker) if worker else Worker() as running:
        extracted = running.extract(f"{__package__}.{found.name}", data, told)
    try:
        (extracted.text + (extracted.title or "")).encode()
    except UnicodeEncodeError:
        raise RefusedError(f"{found.called}: its text holds lone surrogates") from None
    return extracted
