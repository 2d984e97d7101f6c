"""The segments of a collection, as the writer adds, merges and sweeps them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from groundkit_core.errors import CollectionCorruptError
from groundkit_core.failpoints import reach
from groundkit_core.index.counting import ChunkKeys, build_arrays, count_terms
from groundkit_core.index.merge import Part, due, merged
from groundkit_core.index.segment_file import (
    Array,
    SegmentFile,
    damaged_arrays,
    open_segment,
    write_segment,
)
from groundkit_core.index.store import SEGMENTS, Store
from groundkit_core.terms import Analyzer

__all__ = ["Segments", "WrittenSegment"]

_OURS = re.compile(r"[^.]+\.(lex|vec)(\.tmp\d+)?")
ChunkRow = tuple[int, int, str, str, str]
"""Row number, document's row number, text hash, id and embed key of a chunk."""


@dataclass(frozen=True, slots=True)
class WrittenSegment:
    """A segment file that no transaction names yet."""

    file: SegmentFile
    first_seq: int
    chunks: int
    terms: int


class Segments:
    """Segment files and the rows that make them live."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = store.path / SEGMENTS

    def build(
        self, texts: Sequence[str], chunks: Sequence[ChunkRow], analyzer: Analyzer
    ) -> WrittenSegment:
        """Write the segment of some texts; `chunks` come in order of their row numbers."""
        counts = count_terms(texts, analyzer)
        seq, doc, content, id_, embed = zip(*chunks, strict=True)
        arrays = build_arrays(
            counts,
            ChunkKeys(
                np.array(seq, np.uint64),
                np.array(doc, np.uint32),
                np.array([_key64(value) for value in content], np.uint64),
                np.array([_key64(value) for value in id_], np.uint64),
                np.array([_key64(value or "0") for value in embed], np.uint64),
            ),
        )
        return self._write(arrays)

    def _write(self, arrays: dict[str, Array]) -> WrittenSegment:
        seq, lengths = arrays["seq"], arrays["lengths"]
        file = write_segment(self._folder, "lex", arrays)
        return WrittenSegment(file, int(seq[0]), len(seq), int(lengths.sum()))

    def add(self, written: WrittenSegment) -> None:
        """Make a written segment live, in the running transaction."""
        file = written.file
        self._store.connection.execute(
            "INSERT INTO segment (kind, file, bytes, checksum, first_seq, chunks, terms) "
            "VALUES ('lexical', ?, ?, ?, ?, ?, ?)",
            (
                file.file,
                file.bytes,
                file.checksum,
                written.first_seq,
                written.chunks,
                written.terms,
            ),
        )

    def drop_all(self) -> None:
        """Take all lexical segments out, in the running transaction."""
        lexical = "SELECT seg FROM segment WHERE kind='lexical'"
        self._drop(seg for (seg,) in self._store.rows(lexical))

    def _drop(self, segs: Iterable[int]) -> None:
        for seg in list(segs):
            self._store.connection.execute("DELETE FROM segment WHERE seg=?", (seg,))
            self._store.connection.execute("DELETE FROM dead WHERE seg=?", (seg,))

    def bury(self, dropped: Sequence[int]) -> None:
        """Note dropped chunks as dead in their segments; a wholly dead segment goes."""
        if not dropped:
            return
        seqs = np.sort(np.array(dropped, np.uint64))
        for seg, part in self._listed():
            newly = _positions(part.arrays["seq"], seqs)
            if not len(newly):
                continue
            dead = np.union1d(part.dead, newly).astype(np.uint32)
            if len(dead) == len(part.arrays["seq"]):
                self._drop([seg])
            else:
                terms = int(part.arrays["lengths"][dead].sum())
                self._store.connection.execute(
                    "REPLACE INTO dead VALUES (?, ?, ?, ?)",
                    (seg, dead.tobytes(), len(dead), terms),
                )

    def merge(self, *, everything: bool = False) -> None:
        """Merge the segments that are due, or all into one; scores stay as they are."""
        while True:
            listed = self._listed()
            sizes = [(part.live, len(part.dead)) for _, part in listed]
            chosen = due(sizes)
            if everything and (len(listed) > 1 or any(dead for _, dead in sizes)):
                chosen = range(len(listed))
            if chosen is None:
                return
            parts = [listed[index] for index in chosen]
            self._check_whole([seg for seg, _ in parts])
            arrays = merged([part for _, part in parts])
            written = self._write(arrays)
            reach("merge.written")
            with self._store.write():
                self._drop(seg for seg, _ in parts)
                self.add(written)
                self._store.set_meta(generation=self._store.meta("generation") + 1)
            reach("merge.swapped")
            self.sweep()

    def _check_whole(self, segs: Sequence[int]) -> None:
        """Refuse to copy damaged arrays under a fresh checksum."""
        for seg in segs:
            for row in self._store.rows(
                "SELECT file, bytes, checksum FROM segment WHERE seg=?", seg
            ):
                if damaged_arrays(self._folder, SegmentFile(*row)):
                    raise CollectionCorruptError(
                        f"{self._folder / row[0]}: damaged; run: grk doctor --repair"
                    )

    def _listed(self) -> list[tuple[int, Part]]:
        """Row numbers of the segments and their arrays, in order of `seq`."""
        found = []
        for seg, file, size, checksum, ordinals in self._store.rows(
            "SELECT seg, file, bytes, checksum, ifnull(ordinals, x'') FROM segment "
            "LEFT JOIN dead USING (seg) WHERE kind='lexical' ORDER BY first_seq"
        ):
            arrays = open_segment(self._folder, SegmentFile(file, size, checksum))
            found.append((seg, Part(arrays, np.frombuffer(ordinals, np.uint32))))
        return found

    def sweep(self) -> None:
        """Delete files that no generation names, as a killed writer leaves them."""
        named = {file for (file,) in self._store.rows("SELECT file FROM segment")}
        for path in self._folder.iterdir():
            if _OURS.fullmatch(path.name) and path.name not in named and path.is_file():
                reach("sweep.file")
                path.unlink(missing_ok=True)


def _key64(hexadecimal: str) -> int:
    """The head of a hash as a number that sorts alike."""
    return int(hexadecimal[:16], 16)


def _positions(held: Array, wanted: Array) -> Array:
    """Where the wanted values stand in an ascending array."""
    at = np.searchsorted(held, wanted)
    at = at[at < len(held)]
    return at[np.isin(held[at], wanted)].astype(np.uint32)
