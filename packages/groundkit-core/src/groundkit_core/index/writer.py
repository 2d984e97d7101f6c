"""Commits: segment files first, then one transaction that makes them and the rows live."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from groundkit_core.contracts import Chunk, Document
from groundkit_core.errors import CollectionCorruptError, CollectionError
from groundkit_core.failpoints import reach
from groundkit_core.ids import content_hash
from groundkit_core.index.lexical import ChunkKeys, build_arrays, count_terms
from groundkit_core.index.lock import writer_lock
from groundkit_core.index.merge import Part, due, merged
from groundkit_core.index.segment_file import (
    Array,
    SegmentFile,
    damaged_arrays,
    open_segment,
    sync_folder,
    write_segment,
)
from groundkit_core.index.store import DATABASE, SEGMENTS, Manifest, Store, translated
from groundkit_core.terms import Analyzer

__all__ = [
    "Change",
    "Committed",
    "FileState",
    "Refusal",
    "Writer",
    "disk_errors",
    "indexed_text",
    "key64",
    "open_writer",
]


@dataclass(frozen=True, slots=True)
class FileState:
    """What is remembered of a file so that an unchanged one need not be read."""

    size: int
    mtime_ns: int
    ctime_ns: int
    read_at_ns: int


@dataclass(frozen=True, slots=True)
class Change:
    """A document as it shall stand: its chunks, and for files the root and state.

    `afresh` replaces even the rows of passages that did not change.
    """

    document: Document
    chunks: Sequence[Chunk]
    hash: str
    fingerprint: str
    root: str | None = None
    state: FileState | None = None
    afresh: bool = False

    def with_chunks(self, document: Document, chunks: Sequence[Chunk]) -> "Change":
        """The same change with its document cut into chunks."""
        return replace(self, document=document, chunks=chunks)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that was refused for what it holds, and by which reader."""

    source: str
    root: str
    state: FileState
    fingerprint: str
    reason: str


@dataclass(slots=True)
class Committed:
    """How many passages a commit added and dropped."""

    added: int = 0
    dropped: int = 0


@dataclass(slots=True)
class _Batch:
    dropped: list[int] = field(default_factory=list)
    moved: list[tuple[Any, ...]] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Written:
    """A segment file that no transaction names yet."""

    file: SegmentFile
    first_seq: int
    chunks: int
    terms: int


_OURS = re.compile(r"[^.]+\.lex(\.tmp\d+)?")


def indexed_text(title: str | None, headings: Sequence[str], content: str) -> str:
    """What is searched of a passage: its title and headings count as its own words."""
    above = [title] if title and title not in headings else []
    return "\n".join([*above, *headings, content])


def key64(hexadecimal: str) -> int:
    """The head of a hash as a number that sorts alike."""
    return int(hexadecimal[:16], 16)


@contextmanager
def open_writer(path: Path, manifest: Manifest, timeout: float) -> Iterator["Writer"]:
    """Hold the collection at `path` for writing; creates it with `manifest` if it is new."""
    with ExitStack() as stack:
        with disk_errors(path):
            _make_folders(path / SEGMENTS)
            stack.enter_context(writer_lock(path, timeout))
            fresh = not (path / DATABASE).exists()
            store = stack.enter_context(closing(Store.open_writable(path, manifest)))
            if fresh:
                sync_folder(path)
            writer = Writer(store)
            reach("lock.held")
            writer.sweep()
        yield writer


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Errors of the disk and of the database as groundkit's."""
    try:
        with translated(path):
            yield
    except OSError as error:
        raise CollectionError(
            f"{error.filename or path}: {error.strerror}; nothing was lost"
        ) from error


def _make_folders(path: Path) -> None:
    """Make a folder and those above it, each name durable."""
    if not path.is_dir():
        _make_folders(path.parent)
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


class Writer:
    """The one process that changes a collection."""

    def __init__(self, store: Store) -> None:
        self.store = store
        with store.read():
            self.manifest = store.manifest()
        self.analyzer = Analyzer(self.manifest.language, self.manifest.stop_words)
        self._folder = store.path / SEGMENTS

    def commit(
        self,
        changes: Sequence[Change] = (),
        removed: Iterable[int] = (),
        states: Iterable[tuple[int, FileState]] = (),
    ) -> Committed:
        """Replace documents, remove others by row number, and note unchanged files' states."""
        with disk_errors(self.store.path):
            return self._commit(changes, list(removed), states)

    def _commit(
        self,
        changes: Sequence[Change],
        removed: Sequence[int],
        states: Iterable[tuple[int, FileState]],
    ) -> Committed:
        documents = self._document_rows(changes)
        batch = _Batch()
        for doc in removed:
            batch.dropped += [row[0] for row in self._seqs(doc)]
        next_seq = self.store.meta("next_seq")
        for change, doc in zip(changes, documents, strict=True):
            next_seq = self._place(change, doc, next_seq, batch)
        segment = self._write_segment(batch)
        with self.store.write():
            reach("commit.begun")
            self._write_rows(changes, documents, removed, batch)
            self._update_states(states)
            reach("commit.rows")
            if segment is not None:
                self._add_segment(segment)
            reach("commit.segment")
            self._bury(batch.dropped)
            reach("commit.buried")
            self.store.set_meta(next_seq=next_seq, generation=self.store.meta("generation") + 1)
        reach("commit.done")
        self.merge()
        self.store.checkpoint()
        reach("checkpoint.done")
        return Committed(len(batch.rows), len(batch.dropped))

    def note(
        self,
        states: Iterable[tuple[int, FileState]],
        refusals: Iterable[Refusal] = (),
        accepted: Iterable[str] = (),
    ) -> None:
        """Remember files whose passages stay and files that were refused; no new generation."""
        with disk_errors(self.store.path):
            with self.store.write():
                self._update_states(states)
                run = self.store.connection.executemany
                run("DELETE FROM refusal WHERE source=?", [(source,) for source in accepted])
                run(
                    "REPLACE INTO refusal VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        (r.source, r.root, *astuple(r.state), r.fingerprint, r.reason)
                        for r in refusals
                    ],
                )
            reach("states.noted")
            self.store.checkpoint()

    def note_roots(self, stored: Mapping[str, str]) -> None:
        """Record the paths of new or moved roots."""
        if stored:
            with disk_errors(self.store.path), self.store.write():
                self.store.connection.executemany("REPLACE INTO root VALUES (?, ?)", stored.items())

    def reindex(self, analyzer: Analyzer, chunks_at_once: int = 20_000) -> None:
        """Derive all terms anew from the stored passages and swap them in one commit."""
        with disk_errors(self.store.path):
            self._reindex(analyzer, chunks_at_once)

    def _reindex(self, analyzer: Analyzer, chunks_at_once: int) -> None:
        written: list[_Written] = []
        last = 0
        while True:
            rows = self.store.rows(
                "SELECT seq, doc, chunk.hash, chunk.id, title, headings, "
                "CAST(content AS BLOB) FROM chunk "
                "JOIN document USING (doc) WHERE seq > ? ORDER BY seq LIMIT ?",
                last,
                chunks_at_once,
            )
            if not rows:
                break
            # Damaged text must not stop the repair that starts here.
            texts = [
                indexed_text(title, json.loads(headings), content.decode("utf-8", "replace"))
                for *_, title, headings, content in rows
            ]
            written.append(self._build(texts, [row[:4] for row in rows], analyzer))
            reach("reindex.segment")
            last = rows[-1][0]
        with self.store.write():
            self._drop_segments(seg for (seg,) in self.store.rows("SELECT seg FROM segment"))
            for segment in written:
                self._add_segment(segment)
            self.store.set_meta(
                analysis=analyzer.identity,
                language=analyzer.language,
                stop_words=json.dumps(sorted(analyzer.stop_words)),
                generation=self.store.meta("generation") + 1,
            )
        reach("reindex.swapped")
        self.merge()
        self.store.checkpoint()
        self.sweep()

    def merge(self, *, everything: bool = False) -> None:
        """Merge the segments that are due, or all into one; scores stay as they are."""
        with disk_errors(self.store.path):
            self._merge(everything=everything)

    def _merge(self, *, everything: bool) -> None:
        while True:
            listed = self._segments()
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
            with self.store.write():
                self._drop_segments(seg for seg, _ in parts)
                self._add_segment(written)
                self.store.set_meta(generation=self.store.meta("generation") + 1)
            reach("merge.swapped")
            self.sweep()

    def _check_whole(self, segs: Sequence[int]) -> None:
        """Refuse to copy damaged arrays under a fresh checksum."""
        for seg in segs:
            for row in self.store.rows(
                "SELECT file, bytes, checksum FROM segment WHERE seg=?", seg
            ):
                if damaged_arrays(self._folder, SegmentFile(*row)):
                    raise CollectionCorruptError(
                        f"{self._folder / row[0]}: damaged; run: grk doctor --repair"
                    )

    def _segments(self) -> list[tuple[int, Part]]:
        """Row numbers of the segments and their arrays, in order of `seq`."""
        found = []
        for seg, file, size, checksum, ordinals in self.store.rows(
            "SELECT seg, file, bytes, checksum, ifnull(ordinals, x'') FROM segment "
            "LEFT JOIN dead USING (seg) ORDER BY first_seq"
        ):
            arrays = open_segment(self._folder, SegmentFile(file, size, checksum))
            found.append((seg, Part(arrays, np.frombuffer(ordinals, np.uint32))))
        return found

    def sweep(self) -> None:
        """Delete files that no generation names, as a killed writer leaves them."""
        named = {file for (file,) in self.store.rows("SELECT file FROM segment")}
        for path in self._folder.iterdir():
            if _OURS.fullmatch(path.name) and path.name not in named and path.is_file():
                reach("sweep.file")
                path.unlink(missing_ok=True)

    def _document_rows(self, changes: Sequence[Change]) -> list[int]:
        """Row numbers of the documents; new ones are numbered after the highest ever used."""
        highest = self.store.rows("SELECT seq FROM sqlite_sequence WHERE name='document'")
        following = (highest[0][0] if highest else 0) + 1
        rows = []
        for change in changes:
            found = self.store.rows("SELECT doc FROM document WHERE id=?", change.document.id)
            rows.append(found[0][0] if found else following)
            following += not found
        return rows

    def _seqs(self, doc: int) -> list[tuple[int, str, str]]:
        return self.store.rows("SELECT seq, id, headings FROM chunk WHERE doc=?", doc)

    def _place(self, change: Change, doc: int, next_seq: int, batch: _Batch) -> int:
        """Keep the rows of passages whose words did not change; number the others anew."""
        # Most documents of a first run are new, and nothing has to be looked up for them.
        title = self.store.rows("SELECT title FROM document WHERE doc=?", doc)
        same_title = title == [(change.document.title,)]
        held = {id_: (seq, headings) for seq, id_, headings in self._seqs(doc)} if title else {}
        for chunk in change.chunks:
            headings = json.dumps(chunk.heading_path, ensure_ascii=False)
            place = (chunk.ordinal, chunk.start, chunk.end, *chunk.lines)
            seq, held_headings = held.get(chunk.id, (0, ""))
            if seq and same_title and held_headings == headings and not change.afresh:
                batch.moved.append((*place, seq))
                del held[chunk.id]
                continue
            digest = content_hash(chunk.content)
            batch.rows.append((next_seq, chunk.id, doc, *place, digest, headings, chunk.content))
            batch.texts.append(
                indexed_text(change.document.title, chunk.heading_path, chunk.content)
            )
            next_seq += 1
        batch.dropped += [seq for seq, _ in held.values()]
        return next_seq

    def _write_segment(self, batch: _Batch) -> "_Written | None":
        if not batch.rows:
            return None
        keys = [(seq, doc, digest, id_) for seq, id_, doc, *_, digest, _, _ in batch.rows]
        return self._build(batch.texts, keys, self.analyzer)

    def _build(
        self, texts: Sequence[str], keys: Sequence[tuple[int, int, str, str]], analyzer: Analyzer
    ) -> "_Written":
        counts = count_terms(texts, analyzer)
        seq, doc, content, id_ = zip(*keys, strict=True)
        arrays = build_arrays(
            counts,
            ChunkKeys(
                np.array(seq, np.uint64),
                np.array(doc, np.uint32),
                np.array([key64(value) for value in content], np.uint64),
                np.array([key64(value) for value in id_], np.uint64),
            ),
        )
        return self._write(arrays)

    def _write(self, arrays: dict[str, Array]) -> "_Written":
        seq, lengths = arrays["seq"], arrays["lengths"]
        file = write_segment(self._folder, "lex", arrays)
        return _Written(file, int(seq[0]), len(seq), int(lengths.sum()))

    def _add_segment(self, written: "_Written") -> None:
        file = written.file
        self.store.connection.execute(
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

    def _drop_segments(self, segs: Iterable[int]) -> None:
        for seg in list(segs):
            self.store.connection.execute("DELETE FROM segment WHERE seg=?", (seg,))
            self.store.connection.execute("DELETE FROM dead WHERE seg=?", (seg,))

    def _write_rows(
        self,
        changes: Sequence[Change],
        documents: Sequence[int],
        removed: Sequence[int],
        batch: _Batch,
    ) -> None:
        run = self.store.connection.executemany
        run("DELETE FROM chunk WHERE seq=?", [(seq,) for seq in batch.dropped])
        run("DELETE FROM document WHERE doc=?", [(doc,) for doc in removed])
        reach("commit.dropped")
        run(
            "UPDATE chunk SET ordinal=?, start=?, end=?, line_start=?, line_end=? WHERE seq=?",
            batch.moved,
        )
        run(
            "INSERT INTO chunk (seq, id, doc, ordinal, start, end, line_start, line_end, hash, "
            "headings, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            batch.rows,
        )
        run(
            "REPLACE INTO document (doc, id, source, root, size, mtime_ns, ctime_ns, read_at_ns, "
            "hash, fingerprint, extractor, encoding, title, media_type, class) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_document_row(doc, change) for doc, change in zip(documents, changes, strict=True)],
        )

    def _update_states(self, states: Iterable[tuple[int, FileState]]) -> None:
        self.store.connection.executemany(
            "UPDATE document SET size=?, mtime_ns=?, ctime_ns=?, read_at_ns=? WHERE doc=?",
            [(s.size, s.mtime_ns, s.ctime_ns, s.read_at_ns, doc) for doc, s in states],
        )

    def _bury(self, dropped: Sequence[int]) -> None:
        """Note dropped chunks as dead in their segments; a wholly dead segment goes."""
        if not dropped:
            return
        seqs = np.sort(np.array(dropped, np.uint64))
        for seg, part in self._segments():
            newly = _positions(part.arrays["seq"], seqs)
            if not len(newly):
                continue
            dead = np.union1d(part.dead, newly).astype(np.uint32)
            if len(dead) == len(part.arrays["seq"]):
                self._drop_segments([seg])
            else:
                terms = int(part.arrays["lengths"][dead].sum())
                self.store.connection.execute(
                    "REPLACE INTO dead VALUES (?, ?, ?, ?)",
                    (seg, dead.tobytes(), len(dead), terms),
                )


def _positions(held: Array, wanted: Array) -> Array:
    """Where the wanted values stand in an ascending array."""
    at = np.searchsorted(held, wanted)
    at = at[at < len(held)]
    return at[np.isin(held[at], wanted)].astype(np.uint32)


def _document_row(doc: int, change: Change) -> tuple[Any, ...]:
    document, state = change.document, change.state
    times = (state.size, state.mtime_ns, state.ctime_ns, state.read_at_ns) if state else (None,) * 4
    return (
        doc,
        document.id,
        document.source,
        change.root,
        *times,
        change.hash,
        change.fingerprint,
        document.extractor,
        document.encoding,
        document.title,
        document.media_type,
        document.source_class,
    )
