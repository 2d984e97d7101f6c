"""Commits: segment files first, then one transaction that makes them and the rows live."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from groundkit_core import metadata
from groundkit_core.failpoints import reach
from groundkit_core.ids import content_hash
from groundkit_core.index.changes import (
    Change,
    Committed,
    FileState,
    OtherFile,
    embed_key,
    indexed_text,
)
from groundkit_core.index.given import GivenAt, written
from groundkit_core.index.lock import writer_lock
from groundkit_core.index.segment_file import sync_folder
from groundkit_core.index.segments import Segments, WrittenSegment
from groundkit_core.index.spaces import Spaces
from groundkit_core.index.store import DATABASE, SEGMENTS, Manifest, Store, disk_errors
from groundkit_core.terms import Analyzer

__all__ = ["Writer", "open_writer"]


@dataclass(slots=True)
class _Batch:
    dropped: list[int] = field(default_factory=list)
    moved: list[tuple[Any, ...]] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


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
        self._segments = Segments(store)
        self._spaces = Spaces(store)

    def commit(
        self,
        changes: Sequence[Change] = (),
        removed: Iterable[int] = (),
        states: Iterable[tuple[int, FileState]] = (),
        others: Iterable[OtherFile] = (),
        forgotten: Iterable[str] = (),
    ) -> Committed:
        """Replace documents, remove others by row number, and note what `note` does."""
        with disk_errors(self.store.path):
            return self._commit(changes, list(removed), states, others, forgotten)

    def _commit(
        self,
        changes: Sequence[Change],
        removed: Sequence[int],
        states: Iterable[tuple[int, FileState]],
        others: Iterable[OtherFile],
        forgotten: Iterable[str],
    ) -> Committed:
        documents = self._document_rows(changes)
        kept = set(documents)
        removed = [doc for doc in removed if doc not in kept]
        batch = _Batch()
        for doc in removed:
            batch.dropped += [row[0] for row in self._seqs(doc)]
        next_seq = self.store.meta("next_seq")
        for change, doc in zip(changes, documents, strict=True):
            next_seq = self._place(change, doc, next_seq, batch)
        segment = self._write_segment(batch)
        with self.store.write():
            reach("commit.begun")
            keys = self._embed_keys(batch.dropped)
            self._write_rows(changes, documents, removed, batch)
            self._update_states(states)
            self._note_others(others, forgotten)
            reach("commit.rows")
            if segment is not None:
                self._segments.add(segment)
            reach("commit.segment")
            self._segments.bury(batch.dropped)
            self._spaces.bury(keys)
            reach("commit.buried")
            self.store.set_meta(next_seq=next_seq, generation=self.store.meta("generation") + 1)
        reach("commit.done")
        self._segments.merge()
        self.store.checkpoint()
        reach("checkpoint.done")
        return Committed(len(batch.rows), len(batch.dropped))

    def note(
        self,
        states: Iterable[tuple[int, FileState]],
        others: Iterable[OtherFile] = (),
        forgotten: Iterable[str] = (),
    ) -> None:
        """Remember files whose passages stay and those that are no documents; no new generation."""
        with disk_errors(self.store.path):
            with self.store.write():
                self._update_states(states)
                self._note_others(others, forgotten)
            reach("states.noted")
            self.store.checkpoint()

    def give(self, label: str, below: str, given: GivenAt) -> None:
        """Record what documents at and beneath a path are given as metadata from now on."""
        with disk_errors(self.store.path), self.store.write():
            if given:
                row = (label, below, written(given))
                self.store.connection.execute("REPLACE INTO given VALUES (?, ?, ?)", row)
            else:
                self.store.connection.execute(
                    "DELETE FROM given WHERE label=? AND below=?", (label, below)
                )

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
        written: list[WrittenSegment] = []
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
            keys = [(*row[:4], embed_key(text)) for row, text in zip(rows, texts, strict=True)]
            written.append(self._segments.build(texts, keys, analyzer))
            reach("reindex.segment")
            last = rows[-1][0]
        with self.store.write():
            self._segments.drop_all()
            for segment in written:
                self._segments.add(segment)
            self.store.set_meta(
                analysis=analyzer.identity,
                language=analyzer.language,
                stop_words=json.dumps(sorted(analyzer.stop_words)),
                generation=self.store.meta("generation") + 1,
            )
        reach("reindex.swapped")
        self._segments.merge()
        self.store.checkpoint()
        self._segments.sweep()

    def merge(self, *, everything: bool = False) -> None:
        """Merge the segments that are due, or all into one; scores stay as they are."""
        with disk_errors(self.store.path):
            self._segments.merge(everything=everything)
            self._spaces.merge(everything=everything)

    def drop_damaged_vectors(self) -> int:
        """Take damaged dense segments out, so that their vectors can be made again."""
        with disk_errors(self.store.path), self.store.write():
            dropped = self._spaces.drop_damaged()
            self.store.set_meta(generation=self.store.meta("generation") + 1)
        return dropped

    def sweep(self) -> None:
        """Delete files that no generation names, as a killed writer leaves them."""
        self._segments.sweep()

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

    def _embed_keys(self, seqs: Sequence[int]) -> set[str]:
        """Keys of the texts that passages were embedded as."""
        found: set[str] = set()
        for first in range(0, len(seqs), 500):
            part = seqs[first : first + 500]
            marks = ",".join("?" * len(part))
            found.update(
                key
                for (key,) in self.store.rows(
                    f"SELECT DISTINCT embed_key FROM chunk WHERE seq IN ({marks}) "
                    "AND embed_key <> ''",
                    *part,
                )
            )
        return found

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
            pages = chunk.pages or (None, None)
            place = (chunk.ordinal, chunk.start, chunk.end, *chunk.lines, *pages)
            seq, held_headings = held.get(chunk.id, (0, ""))
            if seq and same_title and held_headings == headings and not change.afresh:
                batch.moved.append((*place, seq))
                del held[chunk.id]
                continue
            digest = content_hash(chunk.content)
            batch.rows.append((next_seq, chunk.id, doc, digest, headings, chunk.content, *place))
            text = indexed_text(change.document.title, chunk.heading_path, chunk.content)
            batch.texts.append(text)
            batch.keys.append(embed_key(text))
            next_seq += 1
        batch.dropped += [seq for seq, _ in held.values()]
        return next_seq

    def _write_segment(self, batch: _Batch) -> WrittenSegment | None:
        if not batch.rows:
            return None
        keys = [
            (seq, doc, digest, id_, key)
            for (seq, id_, doc, digest, *_), key in zip(batch.rows, batch.keys, strict=True)
        ]
        return self._segments.build(batch.texts, keys, self.analyzer)

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
        for table in ("field", "snapshot"):
            run(f"DELETE FROM {table} WHERE doc=?", [(doc,) for doc in (*removed, *documents)])
        reach("commit.dropped")
        run(
            "UPDATE chunk SET ordinal=?, start=?, end=?, line_start=?, line_end=?, "
            "page_start=?, page_end=? WHERE seq=?",
            batch.moved,
        )
        run(
            "INSERT INTO chunk (seq, id, doc, hash, headings, content, ordinal, start, end, "
            "line_start, line_end, page_start, page_end, embed_key) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self._with_keys(batch),
        )
        run(
            "REPLACE INTO document (doc, id, source, root, size, mtime_ns, ctime_ns, read_at_ns, "
            "hash, fingerprint, extractor, encoding, title, media_type, class, metadata, part_of) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_document_row(doc, change) for doc, change in zip(documents, changes, strict=True)],
        )
        run(
            # 1 and 1.0 are one value.
            "INSERT OR IGNORE INTO field (key, kind, value, doc) VALUES (?, ?, ?, ?)",
            [
                (*row, doc)
                for doc, change in zip(documents, changes, strict=True)
                for row in metadata.rows(change.document.metadata)
            ],
        )
        run(
            "INSERT INTO snapshot (doc, fetched, body) VALUES (?, ?, ?)",
            [
                (doc, change.snapshot.fetched, change.snapshot.body)
                for doc, change in zip(documents, changes, strict=True)
                if change.snapshot is not None
            ],
        )

    def _with_keys(self, batch: _Batch) -> Iterable[tuple[Any, ...]]:
        """The rows, with the keys by which a text that is embedded already is known again."""
        if not self._spaces.any():
            return ((*row, None) for row in batch.rows)
        return ((*row, key) for row, key in zip(batch.rows, batch.keys, strict=True))

    def _note_others(self, others: Iterable[OtherFile], forgotten: Iterable[str]) -> None:
        run = self.store.connection.executemany
        run("DELETE FROM file WHERE source=?", [(source,) for source in forgotten])
        run(
            "REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(o.source, o.root, *astuple(o.state), o.fingerprint, o.reason) for o in others],
        )

    def _update_states(self, states: Iterable[tuple[int, FileState]]) -> None:
        self.store.connection.executemany(
            "UPDATE document SET size=?, mtime_ns=?, ctime_ns=?, read_at_ns=? WHERE doc=?",
            [(s.size, s.mtime_ns, s.ctime_ns, s.read_at_ns, doc) for doc, s in states],
        )


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
        written(document.metadata),
        change.part_of,
    )
