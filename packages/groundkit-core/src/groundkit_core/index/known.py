"""What a collection remembers of the files that it was made from."""

import os
from collections.abc import Collection
from typing import NamedTuple

from groundkit_core.ids import hash_bytes
from groundkit_core.index.roots import Target
from groundkit_core.index.store import Store

__all__ = ["Known", "Memory", "is_settled"]

# A file written within the clock's grain of being read could change again with the same times.
_SETTLED_NS = 2_000_000_000
_STATE = "size, mtime_ns, ctime_ns, read_at_ns, fingerprint"
_KNOWN = f"SELECT doc, {_STATE}, root, source"


class Known(NamedTuple):
    """What is remembered of a source; a file full of records has no row of its own."""

    doc: int | None
    size: int
    mtime_ns: int
    ctime_ns: int
    read_at_ns: int
    fingerprint: str
    root: str | None
    source: str


def is_settled(known: Known, info: os.stat_result, current: Collection[str]) -> bool:
    """Whether size and times say that a file is as it was when a current reader last read it."""
    return (
        known.size == info.st_size
        and known.mtime_ns == info.st_mtime_ns
        and known.ctime_ns == info.st_ctime_ns
        and max(known.mtime_ns, known.ctime_ns) + _SETTLED_NS < known.read_at_ns
        and known.fingerprint.rpartition(" ")[0] in current
    )


class Memory:
    """Looks up what is remembered."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def files(self, target: Target) -> dict[str, Known]:
        """Documents and files full of records at the target and beneath it, by source."""
        files = self._beneath(f"{_KNOWN} FROM document", "part_of IS NULL", target)
        return files | self._beneath(
            f"SELECT NULL, {_STATE}, root, source FROM file", "reason IS NULL", target
        )

    def refused(self, target: Target) -> dict[str, Known]:
        """Files that were refused for their content, the reason in the place of the root."""
        return self._beneath(
            f"SELECT NULL, {_STATE}, reason, source FROM file", "reason IS NOT NULL", target
        )

    def _beneath(self, select: str, where: str, target: Target) -> dict[str, Known]:
        itself = f"{target.label}/{target.below}".rstrip("/")
        # By the order of sources, where "0" follows "/".
        rows = self._store.rows(
            f"{select} WHERE root=? AND {where} AND (source=? OR (source>? AND source<?))",
            target.label,
            itself,
            itself + "/",
            itself + "0",
        )
        return {row[-1]: Known._make(row) for row in rows}

    def count(self, label: str) -> int:
        """Number of files of a root."""
        counted = (
            "SELECT (SELECT count(*) FROM document WHERE root=?1 AND part_of IS NULL) + "
            "(SELECT count(*) FROM file WHERE root=?1 AND reason IS NULL)"
        )
        return int(self._store.rows(counted, label)[0][0])

    def document(self, source: str) -> Known | None:
        """The document of a source."""
        rows = self._store.rows(f"{_KNOWN} FROM document WHERE source=?", source)
        return Known._make(rows[0]) if rows else None

    def has_damaged_snapshot(self, source: str) -> bool:
        """Whether the bytes that are kept of a URL are no longer those that it gave."""
        kept = "SELECT hash, body FROM snapshot JOIN document USING (doc) WHERE source=?"
        return any(hash_bytes(body) != hashed for hashed, body in self._store.rows(kept, source))

    def records(self, source: str) -> dict[str, Known]:
        """The records of a file, by their own sources."""
        rows = self._store.rows(f"{_KNOWN} FROM document WHERE part_of=?", source)
        return {row[-1]: Known._make(row) for row in rows}

    def rows(self, source: str) -> list[int]:
        """Row numbers of a file's document and of its records."""
        either = "SELECT doc FROM document WHERE source=?1 OR part_of=?1"
        return [doc for (doc,) in self._store.rows(either, source)]
