"""Checking a collection's files: `grk doctor`."""

from collections.abc import Iterator
from pathlib import Path

from groundkit_core.errors import CollectionCorruptError, GroundkitError
from groundkit_core.ids import content_hash
from groundkit_core.index.segment_file import SegmentFile, damaged_arrays
from groundkit_core.index.store import Store
from groundkit_core.index.writer import SEGMENTS

__all__ = ["check"]


def check(path: Path) -> Iterator[str]:
    """What is wrong with the collection, one sentence a finding; nothing where it is sound."""
    store = Store.open_readable(path)
    try:
        with store.translated():
            yield from _database(store)
            yield from _segments(store)
            yield from _passages(store)
    except CollectionCorruptError as error:
        yield str(error)
    finally:
        store.close()


def _database(store: Store) -> Iterator[str]:
    for (finding,) in store.rows("PRAGMA integrity_check"):
        if finding != "ok":
            yield f"{store.path.name}: database: {finding}"


def _segments(store: Store) -> Iterator[str]:
    for file, size, checksum in store.rows("SELECT file, bytes, checksum FROM segment"):
        try:
            for name in damaged_arrays(store.path / SEGMENTS, SegmentFile(file, size, checksum)):
                yield f"{file}: array {name} does not match its checksum"
        except FileNotFoundError:
            yield f"{file}: the segment file is missing"
        except GroundkitError as error:
            yield str(error)


def _passages(store: Store) -> Iterator[str]:
    for id_, digest, content in store.connection.execute("SELECT id, hash, content FROM chunk"):
        if content_hash(content) != digest:
            yield f"passage {id_}: its text does not match its hash"
    live = store.rows("SELECT count(*) FROM chunk")[0][0]
    listed = store.rows(
        "SELECT ifnull(sum(chunks), 0) - (SELECT ifnull(sum(chunks), 0) FROM dead) FROM segment"
    )[0][0]
    if live != listed:
        yield f"{store.path.name}: {live} passages, but its segments list {listed}"
