"""Rebuilding what is damaged: segments from passages, passages from their sources."""

from collections.abc import Mapping
from pathlib import Path

from groundkit_core.errors import CollectionCorruptError, SourceError
from groundkit_core.ids import hash_bytes
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.index.changes import Change
from groundkit_core.index.check import damaged_passages, damaged_segments, database_findings
from groundkit_core.index.sync import chunked
from groundkit_core.index.writer import Writer
from groundkit_core.loading.read import load_document
from groundkit_core.retrieval.sources import FileReader
from groundkit_core.terms import Analyzer

__all__ = ["repair"]


def repair(writer: Writer, roots: Mapping[str, Path]) -> list[str]:
    """Repair a collection whose database can be read; a sentence for each thing done or not."""
    store = writer.store
    if list(database_findings(store)):
        folders = ", ".join(sorted(map(str, roots.values()))) or "your documents"
        raise CollectionCorruptError(
            f"{store.path}: the database itself is damaged and cannot be repaired; "
            f"delete the collection and ingest again: {folders}"
        )
    done: list[str] = []
    # First, because replacing passages marks the old ones dead in their segments.
    if list(damaged_segments(store, "space IS NOT NULL")):
        dropped = writer.drop_damaged_vectors()
        done.append(f"{dropped} vectors of damaged segments dropped; run: grk ingest PATH --dense")
    lost = list(damaged_segments(store, "space IS NULL"))
    if lost:
        language = writer.manifest.language
        writer.reindex(Analyzer(language, stop_words(language)))
        done.append("all segments rebuilt from the stored passages: " + "; ".join(lost))
    sources = {source for source, _ in damaged_passages(store)}
    return done + [_read_again(writer, source, FileReader(roots)) for source in sorted(sources)]


def _read_again(writer: Writer, source: str, reader: FileReader) -> str:
    """Replace all passages of a source by what it holds now."""
    try:
        data = reader.read(source)
        document, _ = load_document(source, data)
    except SourceError as error:
        return f"not repaired: {source}: its source cannot be read again: {error}"
    chunking = writer.manifest.chunking
    digest = hash_bytes(data)
    fingerprint = f"{chunking.identity} {document.extractor} {digest}"
    root = source.partition("/")[0]
    change = chunked(Change(document, (), digest, fingerprint, root, afresh=True), chunking)
    writer.commit([change])
    return f"{source}: {len(change.chunks)} passages made again from the source"
