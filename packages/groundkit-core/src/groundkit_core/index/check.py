"""Reading every byte of a collection to name what is damaged."""

from collections.abc import Iterator
from pathlib import Path

from groundkit_core.errors import CollectionCorruptError, CollectionIncompatibleError
from groundkit_core.ids import content_hash
from groundkit_core.index.segment_file import SegmentFile, damaged_arrays
from groundkit_core.index.store import SEGMENTS, Store

__all__ = ["check", "damaged_passages", "damaged_segments", "database_findings"]


def check(path: Path) -> Iterator[str]:
    """What is wrong with the collection, one sentence a finding; nothing where it is sound."""
    try:
        store = Store.open_readable(path)
    except (CollectionCorruptError, CollectionIncompatibleError) as error:
        yield str(error)
        return
    try:
        with store.translated():
            yield from database_findings(store)
            yield from damaged_segments(store)
            for source, id_ in damaged_passages(store):
                yield f"passage {id_} of {source}: its text does not match its hash"
            yield from _counts(store)
    except CollectionCorruptError as error:
        yield str(error)
    finally:
        store.close()


def database_findings(store: Store) -> Iterator[str]:
    """What SQLite itself finds wrong."""
    for (finding,) in store.rows("PRAGMA integrity_check"):
        if finding != "ok":
            yield f"{store.path / 'collection.db'}: {finding}"


def damaged_segments(store: Store) -> Iterator[str]:
    """Segment files that are missing, cut or changed."""
    folder = store.path / SEGMENTS
    for file, size, checksum in store.rows("SELECT file, bytes, checksum FROM segment"):
        try:
            for name in damaged_arrays(folder, SegmentFile(file, size, checksum)):
                yield f"{folder / file}: array {name} does not match its checksum"
        except FileNotFoundError:
            yield f"{folder / file}: the file is missing"
        except CollectionCorruptError as error:
            yield str(error)


def damaged_passages(store: Store) -> Iterator[tuple[str, str]]:
    """Sources and ids of passages whose stored text changed."""
    # As bytes, because damaged text need not be UTF-8.
    for source, id_, digest, content in store.connection.execute(
        "SELECT source, chunk.id, chunk.hash, CAST(content AS BLOB) "
        "FROM chunk JOIN document USING (doc)"
    ):
        if content_hash(content) != digest:
            yield source, id_


def _counts(store: Store) -> Iterator[str]:
    live = store.rows("SELECT count(*) FROM chunk")[0][0]
    listed = store.rows(
        "SELECT ifnull(sum(chunks), 0) - (SELECT ifnull(sum(chunks), 0) FROM dead) FROM segment"
    )[0][0]
    if live != listed:
        yield f"{store.path}: {live} passages, but its segments list {listed}"
