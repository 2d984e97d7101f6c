"""Rebuilding what is damaged: segments from passages, passages from their sources."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from groundkit_core.config import ExtractionConfig
from groundkit_core.errors import CollectionCorruptError, SourceError
from groundkit_core.ids import hash_bytes
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.index.changes import Change
from groundkit_core.index.check import (
    damaged_metadata,
    damaged_passages,
    damaged_segments,
    database_findings,
)
from groundkit_core.index.given import Given, changed, damaged, read_json
from groundkit_core.index.intake import chunked
from groundkit_core.index.store import Store
from groundkit_core.index.writer import Writer
from groundkit_core.loading.read import Loaded, load_document, load_snapshot
from groundkit_core.loading.records import load_records
from groundkit_core.loading.snapshot import Snapshot
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
    done += _forget_damaged(store)
    untold = set(damaged_metadata(store))
    sources = untold | {source for source, _ in damaged_passages(store)}
    reader = FileReader(roots)
    return done + [
        _read_again(writer, source, reader, told=source not in untold) for source in sorted(sources)
    ]


def _forget_damaged(store: Store) -> list[str]:
    """Drop metadata of no document, and what was given to paths but cannot be read."""
    done = []
    with store.write():
        run = store.connection.execute
        gone = run("DELETE FROM field WHERE doc NOT IN (SELECT doc FROM document)").rowcount
        if gone:
            done.append(f"{gone} values of metadata of no document dropped")
        for label, below in list(damaged(store)):
            run(
                "DELETE FROM given WHERE CAST(label AS BLOB)=? AND CAST(below AS BLOB)=?",
                (label, below),
            )
            done.append(f"the metadata given to {label!a} {below!a} dropped; give it again: --meta")
    return done


def _read_again(writer: Writer, source: str, reader: FileReader, *, told: bool) -> str:
    """Replace all passages of a source by what it holds now; `told` keeps its metadata."""
    store = writer.store
    part_of = store.rows("SELECT part_of FROM document WHERE source=?", source)[0][0]
    file = part_of or source
    try:
        loaded, change = _loaded_again(writer, source, part_of, reader)
    except SourceError as error:
        # Whatever it is when it comes back, the next run must not take it for unchanged.
        with store.write():
            for table, name in (("document", source), ("file", file)):
                run = store.connection.execute
                run(f"UPDATE {table} SET fingerprint='' WHERE source=?", (name,))
        return f"not repaired: {source}: its source cannot be read again: {error}"
    if told:
        written = store.rows("SELECT metadata FROM document WHERE source=?", source)[0][0]
        metadata = read_json(written)
    else:
        metadata = changed(loaded.document.metadata, Given(store).of(file))
    document = loaded.document.model_copy(update={"metadata": metadata})
    change = replace(
        change, document=document, afresh=True, blocks=loaded.blocks, pages=loaded.pages
    )
    change = chunked(change, writer.manifest.chunking)
    writer.commit([change])
    return f"{source}: {len(change.chunks)} passages made again from the source"


def _loaded_again(
    writer: Writer, source: str, part_of: str | None, reader: FileReader
) -> tuple[Loaded, Change]:
    """What a source holds now, and the change that takes it, by no fingerprint that a run knows."""
    extraction = writer.manifest.extraction
    kept = writer.store.rows(
        "SELECT body, fetched, media_type, encoding, hash FROM snapshot JOIN document USING (doc) "
        "WHERE source=?",
        source,
    )
    if kept:
        body, fetched, media_type, encoding, held = kept[0]
        if hash_bytes(body) != held:
            raise SourceError("its kept bytes are damaged; ingest the URL again")
        snapshot = Snapshot(source, source, media_type, encoding, body, fetched)
        again, hashed = load_snapshot(snapshot, extraction), hash_bytes(body)
        return again, Change(again.document, (), hashed, hashed, snapshot=snapshot)
    data = reader.read(part_of or source)
    hashed, root = hash_bytes(data), source.partition("/")[0]
    loaded: Loaded | None = None
    identity = writer.store.rows("SELECT extractor FROM document WHERE source=?", source)[0][0]
    if part_of is None:
        # As it was read, whatever was set since.
        html: Literal["main", "full"] = "full" if "content=full" in identity else "main"
        loaded = load_document(source, data, ExtractionConfig(html=html))
    else:
        parts = load_records(part_of, data, identity)[0]
        loaded = next((part for part in parts if part.document.source == source), None)
    if loaded is None:
        raise SourceError("the file no longer has this record")
    return loaded, Change(loaded.document, (), hashed, hashed, root, part_of=part_of)
