"""Reading every byte of a collection to name what is damaged."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from groundkit_core.errors import CollectionCorruptError, CollectionIncompatibleError
from groundkit_core.ids import content_hash, hash_bytes
from groundkit_core.index.given import damaged, read_json
from groundkit_core.index.segment_file import SegmentFile, damaged_arrays
from groundkit_core.index.spaces import vector_findings
from groundkit_core.index.store import SEGMENTS, Store
from groundkit_core.metadata import Scalar, rows
from groundkit_core.retrieval.search import citation_of

__all__ = [
    "LISTED",
    "check",
    "damaged_files",
    "damaged_metadata",
    "damaged_passages",
    "damaged_segments",
    "database_findings",
]

LISTED = "SELECT file, bytes, checksum FROM segment"
"""What `damaged_files` takes."""


def check(path: Path) -> Iterator[str]:
    """What is wrong with the collection, one sentence a finding; nothing where it is sound."""
    try:
        store = Store.open_readable(path)
    except (CollectionCorruptError, CollectionIncompatibleError) as error:
        yield str(error)
        return
    try:
        with store.read():
            yield from database_findings(store)
            damaged = list(damaged_segments(store))
            yield from damaged
            for source, id_ in damaged_passages(store):
                yield f"passage {id_} of {source}: its text does not match its hash"
            for source in damaged_snapshots(store):
                yield f"the kept bytes of {source} are damaged; ingest the URL again"
            for source in damaged_metadata(store):
                yield f"the metadata of {source} is damaged"
            yield from _rows(store)
            if not damaged:
                yield from _vectors(store)
    except CollectionCorruptError as error:
        yield str(error)
    finally:
        store.close()


def database_findings(store: Store) -> Iterator[str]:
    """What SQLite itself finds wrong."""
    for (finding,) in store.rows("PRAGMA integrity_check"):
        if finding != "ok":
            yield f"{store.path / 'collection.db'}: {finding}"


def damaged_segments(store: Store, where: str = "true") -> Iterator[str]:
    """Segment files that are missing, cut or changed."""
    yield from damaged_files(store.path, store.rows(f"{LISTED} WHERE {where}"))


def damaged_files(path: Path, listed: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """Which of the listed segment files are missing, cut or changed."""
    folder = path / SEGMENTS
    for file, size, checksum in listed:
        if not isinstance(file, str):
            yield f"{path}: the list of segments is damaged"
            continue
        try:
            for name in damaged_arrays(folder, SegmentFile(file, size, checksum)):
                yield f"{folder / file}: array {name} does not match its checksum"
        except FileNotFoundError:
            if _is_named(path, file):
                yield f"{folder / file}: the file is missing"
        except OSError as error:
            yield f"{folder / file}: {error.strerror}"
        except CollectionCorruptError as error:
            yield str(error)


def _is_named(path: Path, file: str) -> bool:
    """Whether the newest generation has a segment; a writer may have merged it meanwhile."""
    with closing(Store.open_readable(path)) as newest:
        return bool(newest.rows("SELECT 1 FROM segment WHERE file=?", file))


def damaged_passages(store: Store) -> Iterator[tuple[str, str]]:
    """Sources and ids of passages whose stored text changed."""
    # As bytes, because damaged text need not be UTF-8.
    for source, id_, digest, content in store.connection.execute(
        "SELECT source, chunk.id, chunk.hash, CAST(content AS BLOB) "
        "FROM chunk JOIN document USING (doc)"
    ):
        if content_hash(content) != digest:
            yield source, id_


def damaged_snapshots(store: Store) -> Iterator[str]:
    """URLs whose kept bytes changed."""
    kept = "SELECT source, hash, body FROM snapshot JOIN document USING (doc)"
    for source, digest, body in store.connection.execute(kept):
        if not isinstance(body, bytes) or hash_bytes(body) != digest:
            yield source


def damaged_metadata(store: Store) -> Iterator[str]:
    """Sources of documents whose metadata cannot be read, or by which filters would go wrong."""
    # As bytes, because damaged text need not be UTF-8.
    found: dict[int, list[tuple[bytes, bytes, Any]]] = {}
    for doc, key, kind, value in store.rows(
        "SELECT doc, CAST(key AS BLOB), CAST(kind AS BLOB), "
        "CASE typeof(value) WHEN 'text' THEN CAST(value AS BLOB) WHEN 'blob' THEN NULL "
        "ELSE value END FROM field"
    ):
        found.setdefault(doc, []).append((key, kind, value))
    for doc, source, text in store.rows("SELECT doc, source, CAST(metadata AS BLOB) FROM document"):
        listed = found.pop(doc, [])
        try:
            held = rows(read_json(text.decode()))
        except (TypeError, ValueError):
            yield source
            continue
        # 1 and 1.0 are one row.
        wanted = {(key.encode(), kind.encode(), _stored(value)) for key, kind, value in held}
        if len(wanted) != len(listed) or wanted != set(listed):
            yield source


def _stored(value: Scalar) -> bytes | Scalar:
    return value.encode() if isinstance(value, str) else value


def _vectors(store: Store) -> Iterator[str]:
    try:
        yield from vector_findings(store)
    except (TypeError, ValueError):
        yield f"{store.path}: the list of vectors is damaged"


def _rows(store: Store) -> Iterator[str]:
    """Settings, rows and counts that do not fit together."""
    store.manifest()
    for label, path in store.rows("SELECT label, path FROM root"):
        if not isinstance(label, str) or not isinstance(path, str):
            yield f"{store.path}: the root {label!a} is damaged"
    for label, below in damaged(store):
        yield f"{store.path}: the metadata given to {label!a} {below!a} is damaged"
    for (doc,) in store.rows("SELECT doc FROM document ORDER BY doc"):
        try:
            for row in store.fetch("doc", [doc]):
                citation_of(row)
        except CollectionCorruptError as error:
            yield f"{store.path}: {error}"
    orphans = "SELECT count(*) FROM chunk WHERE doc NOT IN (SELECT doc FROM document)"
    if lost := store.rows(orphans)[0][0]:
        yield f"{store.path}: {lost} passages belong to no document"
    orphans = "SELECT count(*) FROM field WHERE doc NOT IN (SELECT doc FROM document)"
    if lost := store.rows(orphans)[0][0]:
        yield f"{store.path}: {lost} values of metadata belong to no document"
    live = store.rows("SELECT count(*) FROM chunk")[0][0]
    listed = store.in_segments("kind='lexical'")
    if live != listed:
        yield f"{store.path}: {live} passages, but its segments list {listed}"
    vectors = store.rows("SELECT count(*) FROM vector")[0][0]
    listed = store.in_segments("kind<>'lexical'")
    if vectors != listed:
        yield f"{store.path}: {vectors} vectors, but its segments list {listed}"
