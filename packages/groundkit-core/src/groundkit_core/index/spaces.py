"""Spaces of vectors in the store: one is searched, others may be in the making."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundkit_core.embedding import EmbeddingIdentity, Vectors
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.index.dense import GRAPH_FROM, DenseSegment, build_arrays, merged
from groundkit_core.index.merge import due
from groundkit_core.index.segment_file import (
    Array,
    SegmentFile,
    damaged_arrays,
    write_segment,
)
from groundkit_core.index.segments import Segments
from groundkit_core.index.store import SEGMENTS, Store

__all__ = ["Space", "Spaces", "active_space", "dense_segments", "vector_findings"]


# By the primary key, which begins with the space.
_OF_KEY = "space IN (SELECT space FROM space) AND key=?"
_WHOLE = "whole_space_"


@dataclass(frozen=True, slots=True)
class Space:
    """A space's row number and the identity of its vectors."""

    number: int
    identity: EmbeddingIdentity


def active_space(store: Store) -> Space | None:
    """The space that is searched, if there is one."""
    rows = store.rows("SELECT space, identity FROM space WHERE active")
    return Space(rows[0][0], EmbeddingIdentity.model_validate_json(rows[0][1])) if rows else None


def dense_segments(store: Store, space: Space) -> list[tuple[int, DenseSegment]]:
    """Row numbers and segments of a space, in the order in which they were made."""
    return [
        (
            seg,
            DenseSegment(
                store.path / SEGMENTS,
                SegmentFile(file, size, checksum),
                space.identity.dimensions,
                np.frombuffer(dead, np.uint32),
            ),
        )
        for seg, file, size, checksum, dead in store.rows(
            "SELECT seg, file, bytes, checksum, ifnull(ordinals, x'') FROM segment "
            "LEFT JOIN dead USING (seg) WHERE space=? ORDER BY seg",
            space.number,
        )
    ]


def vector_findings(store: Store) -> Iterator[str]:
    """What does not fit between vectors, their segments and the passages."""
    lost = "SELECT count(*) FROM vector WHERE key NOT IN (SELECT embed_key FROM chunk {})"
    orphans = store.rows(lost.format("WHERE embed_key IS NOT NULL"))[0][0]
    if orphans:
        yield f"{store.path}: {orphans} vectors belong to no passage"
    known: set[int] = set()
    for number, identity in store.rows("SELECT space, identity FROM space"):
        space = Space(number, EmbeddingIdentity.model_validate_json(identity))
        for seg, segment in dense_segments(store, space):
            known.add(seg)
            dead = set(segment.dead.tolist())
            rows = enumerate(segment.keys())
            wanted = {(row, key, number) for row, key in rows if row not in dead}
            listed = store.rows("SELECT row, key, space FROM vector WHERE seg=?", seg)
            if set(listed) != wanted or len(listed) != len(wanted):
                yield f"{store.path}: the vectors of {segment.file.file} are listed wrongly"
    segs = {seg for (seg,) in store.rows("SELECT seg FROM segment WHERE kind<>'lexical'")}
    listed_segs = {seg for (seg,) in store.rows("SELECT DISTINCT seg FROM vector")}
    if segs != known or not listed_segs <= known:
        yield f"{store.path}: segments of vectors belong to no space"


class Spaces:
    """Adds, merges and buries vectors, as the writer needs it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = store.path / SEGMENTS

    def any(self) -> bool:
        """Whether passages have to be given keys."""
        return bool(self._store.rows("SELECT 1 FROM space LIMIT 1"))

    def named(self, identity: EmbeddingIdentity) -> Space | None:
        """The space of an identity, searched or in the making."""
        rows = self._store.rows(
            "SELECT space FROM space WHERE identity=?", identity.model_dump_json()
        )
        return Space(rows[0][0], identity) if rows else None

    def whole(self, number: int) -> int:
        """The passage up to which, in the order of numbering, none lacks its vector in a space."""
        return int(self._store.meta(f"{_WHOLE}{number}") or 0)

    def note_whole(self, number: int) -> None:
        """Note that no passage lacks its vector in a space; new ones are numbered higher."""
        highest = self._store.rows("SELECT ifnull(max(seq), 0) FROM chunk")[0][0]
        if highest > self.whole(number):
            with self._store.write():
                self._store.set_meta(**{f"{_WHOLE}{number}": highest})

    def create(self, identity: EmbeddingIdentity) -> Space:
        """A new space, in the running transaction; searched if there is no other."""
        row = self._store.connection.execute(
            "INSERT INTO space (identity, active) VALUES (?, NOT EXISTS (SELECT 1 FROM space))",
            (identity.model_dump_json(),),
        )
        return Space(int(row.lastrowid or 0), identity)

    def activate(self, space: Space) -> None:
        """Search this space from now on and drop all others, in the running transaction."""
        others = self._store.rows("SELECT space FROM space WHERE space<>?", space.number)
        for (number,) in others:
            self._drop(seg for (seg,) in self._segs(number))
            for table in ("vector", "space"):
                self._store.connection.execute(f"DELETE FROM {table} WHERE space=?", (number,))
            self._store.connection.execute("DELETE FROM meta WHERE key=?", (f"{_WHOLE}{number}",))
        self._store.connection.execute("UPDATE space SET active=1 WHERE space=?", (space.number,))

    def write(self, keys: Sequence[str], vectors: Vectors) -> SegmentFile:
        """The file of some vectors, which no transaction names yet."""
        return self._write(build_arrays(keys, vectors))

    def add(
        self, space: Space, file: SegmentFile, keys: Sequence[str], *, graph: bool = False
    ) -> None:
        """Make a written segment live, in the running transaction."""
        connection = self._store.connection
        kind = "graph" if graph else "scan"
        row = connection.execute(
            "INSERT INTO segment (kind, file, bytes, checksum, first_seq, chunks, terms, space) "
            "VALUES (?, ?, ?, ?, 0, ?, 0, ?)",
            (
                kind,
                file.file,
                file.bytes,
                file.checksum,
                len(keys),
                space.number,
            ),
        )
        connection.executemany(
            "REPLACE INTO vector (space, key, seg, row) VALUES (?, ?, ?, ?)",
            [(space.number, key, row.lastrowid, at) for at, key in enumerate(keys)],
        )

    def bury(self, keys: Iterable[str]) -> None:
        """Drop the vectors of keys that no passage has any more, in the running transaction."""
        newly: dict[int, list[int]] = {}
        for key in keys:
            if self._store.rows("SELECT 1 FROM chunk WHERE embed_key=? LIMIT 1", key):
                continue
            for seg, row in self._store.rows(f"SELECT seg, row FROM vector WHERE {_OF_KEY}", key):
                newly.setdefault(seg, []).append(row)
            self._store.connection.execute(f"DELETE FROM vector WHERE {_OF_KEY}", (key,))
        for seg, rows in newly.items():
            self._note_dead(seg, np.array(rows, np.uint32))

    def _note_dead(self, seg: int, rows: NDArray[np.uint32]) -> None:
        ((size, held),) = self._store.rows(
            "SELECT segment.chunks, ifnull(ordinals, x'') FROM segment LEFT JOIN dead USING (seg) "
            "WHERE seg=?",
            seg,
        )
        dead = np.union1d(np.frombuffer(held, np.uint32), rows).astype(np.uint32)
        if len(dead) == size:
            self._drop([seg])
        else:
            self._store.connection.execute(
                "REPLACE INTO dead VALUES (?, ?, ?, 0)", (seg, dead.tobytes(), len(dead))
            )

    def drop_damaged(self) -> int:
        """Take damaged segments out in the running transaction; the number of vectors lost."""
        lost = 0
        self._store.connection.execute("DELETE FROM meta WHERE key GLOB ?", (f"{_WHOLE}*",))
        for seg, *file in self._store.rows(
            "SELECT seg, file, bytes, checksum FROM segment WHERE space IS NOT NULL"
        ):
            try:
                damaged = bool(damaged_arrays(self._folder, SegmentFile(*file)))
            except (CollectionCorruptError, OSError):
                damaged = True
            if damaged:
                held = self._store.connection.execute("DELETE FROM vector WHERE seg=?", (seg,))
                lost += held.rowcount
                self._drop([seg])
        return lost

    def merge(self, *, everything: bool = False) -> None:
        """Merge the segments that are due in each space, or all of a space into one."""
        for number, identity in self._store.rows("SELECT space, identity FROM space"):
            space = Space(number, EmbeddingIdentity.model_validate_json(identity))
            while self._merge(space, everything):
                Segments(self._store).sweep()

    def _merge(self, space: Space, everything: bool) -> bool:
        listed = dense_segments(self._store, space)
        sizes = [(segment.live, len(segment.dead)) for _, segment in listed]
        chosen = due(sizes)
        if everything and _can_be_better(listed):
            chosen = range(len(listed))
        if chosen is None:
            return False
        parts = [listed[at] for at in chosen]
        for _, segment in parts:
            # Damaged arrays must not be copied under a fresh checksum.
            if damaged_arrays(self._folder, segment.file):
                raise CollectionCorruptError(
                    f"{self._folder / segment.file.file}: damaged; run: grk doctor --repair"
                )
        keys, arrays = merged([segment for _, segment in parts], graph=everything)
        file = self._write(arrays)
        with self._store.write():
            self._drop(seg for seg, _ in parts)
            self.add(space, file, keys, graph="graph" in arrays)
            self._store.set_meta(generation=self._store.meta("generation") + 1)
        return True

    def _write(self, arrays: dict[str, Array]) -> SegmentFile:
        return write_segment(self._folder, "vec", arrays)

    def _segs(self, space: int) -> list[tuple[int]]:
        return self._store.rows("SELECT seg FROM segment WHERE space=?", space)

    def _drop(self, segs: Iterable[int]) -> None:
        for seg in list(segs):
            for table in ("segment", "dead"):
                self._store.connection.execute(f"DELETE FROM {table} WHERE seg=?", (seg,))


def _can_be_better(listed: Sequence[tuple[int, DenseSegment]]) -> bool:
    """Whether one segment in place of these would be searched faster or take less space."""
    segments = [segment for _, segment in listed]
    if len(segments) != 1:
        return len(segments) > 1
    [segment] = segments
    return bool(len(segment.dead)) or (segment.live >= GRAPH_FROM and segment.graph is None)
