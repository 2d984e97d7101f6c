"""Taking documents into a collection: files, records, snapshots and what applications give."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from groundkit_core.chunking import chunk_document
from groundkit_core.config import MAX_FILE_BYTES, ChunkingConfig, ExtractionConfig
from groundkit_core.contracts import Document, FileOutcome
from groundkit_core.errors import ConfigurationError, MetadataError, RefusedError, SourceError
from groundkit_core.failpoints import reach
from groundkit_core.ids import content_hash, hash_bytes
from groundkit_core.index.changes import Change, FileState, OtherFile
from groundkit_core.index.given import Given, changed
from groundkit_core.index.known import Known, Memory, is_settled
from groundkit_core.index.writer import Writer
from groundkit_core.loading.formats import (
    FORMATS,
    Format,
    check_suffix,
    format_of,
    heading_title,
    media_format,
)
from groundkit_core.loading.read import (
    Loaded,
    load_document,
    load_extracted,
    load_snapshot,
    read_file,
)
from groundkit_core.loading.records import load_records
from groundkit_core.loading.snapshot import Snapshot
from groundkit_core.loading.walk import FoundFile
from groundkit_core.loading.worker import MAX_SECONDS, Worker
from groundkit_core.metadata import digest

__all__ = ["Intake", "MetadataOf", "SyncOptions", "Totals", "chunked"]

_BATCH_CHARACTERS = 8_000_000
_BATCH_FILES = 2_000

MetadataOf = Callable[[Document], Mapping[str, object]]
"""Gives metadata to a document that was read; None for a key takes it out."""


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a run treats files that are ignored, unchanged by their times, or gone."""

    ignore: bool = True
    rehash: bool = False
    keep_missing: bool = False
    allow_removal: bool = False
    max_bytes: int = MAX_FILE_BYTES
    max_seconds: float = MAX_SECONDS
    metadata_of: MetadataOf | None = None


@dataclass(slots=True)
class Totals:
    """What a run did so far."""

    unchanged: int = 0
    read: int = 0
    added: int = 0
    dropped: int = 0
    outcomes: list[FileOutcome] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Read:
    """A file that was read, and what is remembered of it."""

    source: str
    label: str
    data: bytes
    format: Format
    state: FileState
    known: Known | None


class Intake:
    """Reads and cuts what is new or changed, and commits it in batches."""

    def __init__(
        self,
        writer: Writer,
        chunking: ChunkingConfig,
        extraction: ExtractionConfig,
        options: SyncOptions,
    ) -> None:
        self._writer = writer
        self._chunking = chunking
        self._extraction = extraction
        self._options = options
        self._worker = Worker(options.max_seconds)
        self.memory = Memory(writer.store)
        self.given = Given(writer.store)
        # The analysis is no part of it: a collection has one, and re-indexing changes it for all.
        self.readers = [self._reader(known) for known in FORMATS]
        self._loader = " ".join([str(options.max_bytes), *self.readers])
        self._changes: list[tuple[Change, FileOutcome | None]] = []
        self._states: list[tuple[int, FileState]] = []
        self._removed: list[int] = []
        self._others: list[OtherFile] = []
        self._forgotten: list[str] = []
        self._queued: set[str] = set()
        self._characters = 0
        self.totals = Totals()

    def close(self) -> None:
        """End the process that reads what is no text."""
        self._worker.close()

    def _reader(self, known: Format) -> str:
        return f"{self._chunking.identity} {known.identity(self._extraction)}"

    def file(
        self, label: str, file: FoundFile, source: str, known: Known | None, before: Known | None
    ) -> None:
        """Take a file that may have changed; `before` says that it was refused, and why."""
        rehash = self._options.rehash
        if before is not None and not rehash and is_settled(before, file.stat, {self._loader}):
            self.refuse(source, str(before.root))
            return
        info, read_at = file.stat, time.time_ns()
        state = FileState(info.st_size, info.st_mtime_ns, info.st_ctime_ns, read_at)
        try:
            check_suffix(source)
            data = read_file(file.path, self._options.max_bytes)
            self.totals.read += 1
            reach("file.read")
            found = format_of(source, data, self._extraction)
            read = _Read(source, label, data, found, state, known)
            if found.kind == "records":
                self._records(read)
                return
            self._document(read)
        except RefusedError as error:
            self.refuse(source, str(error))
            self._others.append(OtherFile(source, label, state, f"{self._loader} ", str(error)))
            # What is no longer text takes its old passages with it.
            if known is not None:
                self._removed += self.memory.rows(source)
            return
        except (SourceError, MetadataError) as error:
            self.refuse(source, str(error))
            return
        if before is not None:
            self._forgotten.append(source)

    def _document(self, read: _Read) -> None:
        """Take a file that is one document."""
        found, source, known = read.format, read.source, read.known
        hashed, given = hash_bytes(read.data), self.given.of(source)
        reader = self._reader(found)
        if found.kind == "extracted" and self._options.metadata_of is None:
            # Its metadata is what it is given, so that the same bytes are not extracted again.
            told = f"{digest(given)} {digest(changed({}, given))}"
            if known is not None and known.fingerprint == f"{reader} {told}:{hashed}":
                self._settle(known, read.state)
                return
        loaded = (
            load_extracted(source, read.data, found, self._extraction, self._worker)
            if found.kind == "extracted"
            else load_document(source, read.data, self._extraction)
        )
        loaded = self._with_given(loaded, source)
        told = f"{digest(given)} {digest(loaded.document.metadata)}"
        if known is not None and known.doc is None:
            # It was full of records before.
            self._removed += [part.doc for part in self.memory.records(source).values() if part.doc]
            self._forgotten.append(source)
            known = self.memory.document(source)
        change = Change(
            loaded.document,
            (),
            hashed,
            f"{reader} {told}:{hashed}",
            read.label,
            read.state,
            blocks=loaded.blocks,
            pages=loaded.pages,
        )
        self._accept(change, known, loaded.warnings, loaded.partial)

    def _records(self, read: _Read) -> None:
        """Take a file whose lines are documents; it is settled once they all are there."""
        source, label, reader = read.source, read.label, self._reader(read.format)
        hashed = hash_bytes(read.data)
        told = digest(self.given.of(source))
        fingerprint = f"{reader} {told} records:{hashed}"
        same = read.known is not None and read.known.fingerprint == fingerprint
        if read.known is not None and same and self._options.metadata_of is None:
            self._settle(read.known, read.state)
            return
        identity = read.format.identity(self._extraction)
        loaded, warnings = load_records(source, read.data, identity)
        held, left = self.memory.records(source), set(self.memory.rows(source))
        changes: list[tuple[Change, Known | None]] = []
        for record in loaded:
            document = self._with_given(record, source).document
            known = held.get(document.source)
            if known is None:
                self._check_free(document.source)
            left.discard(known.doc if known and known.doc else 0)
            hashed = content_hash(document.text)
            told = f"{digest(document.metadata)} {document.title!r} {document.encoding}"
            change = Change(
                document, (), hashed, f"{reader} {told}:{hashed}", label, part_of=source
            )
            changes.append((change, known))
        # Known from now on, but settled only together with the last of its records.
        self._writer.note([], [OtherFile(source, label, read.state, "", None)])
        count = sum(self._accept_record(change, known) for change, known in changes)
        self._removed += left
        self._others.append(OtherFile(source, label, read.state, fingerprint, None))
        self.totals.outcomes.append(
            FileOutcome(
                source=source,
                status="indexed" if read.known is None else "changed",
                chunks=count,
                warnings=warnings,
            )
        )

    def _settle(self, known: Known, state: FileState) -> None:
        """Count a file as unchanged, and note its times."""
        self.totals.unchanged += 1
        if known.doc is not None:
            self._states.append((known.doc, state))
        elif known.root is not None:
            other = OtherFile(known.source, known.root, state, known.fingerprint, None)
            self._others.append(other)

    def add(self, documents: Sequence[Document]) -> None:
        """Add or replace documents that are no files."""
        for document in documents:
            kind = f"{document.extractor} {document.media_type} {document.title!r}"
            hashed = content_hash(document.text)
            told = digest(document.metadata)
            fingerprint = f"{self._chunking.identity} {kind} {told} {hashed}"
            change = Change(document, (), hashed, fingerprint)
            self._accept(change, self.memory.document(document.source))
        self.flush()

    def add_snapshots(self, snapshots: Iterable[Snapshot]) -> None:
        """Add or replace what URLs gave; one that cannot be read leaves its passages."""
        for snapshot in snapshots:
            if snapshot.url in self._queued:
                raise ConfigurationError(f"two snapshots of {snapshot.url!r}")
            self.totals.read += 1
            try:
                loaded = load_snapshot(snapshot, self._extraction, self._worker)
                loaded = self._with_given(loaded, snapshot.url)
            except (SourceError, MetadataError) as error:
                self.refuse(snapshot.url, str(error))
                continue
            document, hashed = loaded.document, hash_bytes(snapshot.body)
            reader = f"{self._chunking.identity} {document.extractor}"
            change = Change(
                document,
                (),
                hashed,
                f"{reader} {digest(document.metadata)} {document.encoding}:{hashed}",
                blocks=loaded.blocks,
                pages=loaded.pages,
                snapshot=snapshot,
            )
            known = self.memory.document(snapshot.url)
            if known is not None and self.memory.has_damaged_snapshot(snapshot.url):
                known = known._replace(fingerprint="")
            self._accept(change, known, loaded.warnings, loaded.partial)
        self.flush()

    def _with_given(self, loaded: Loaded, source: str) -> Loaded:
        """The document with the metadata that its source, or its file, is given besides its own."""
        document = loaded.document
        told = changed(document.metadata, self.given.of(source))
        if self._options.metadata_of is not None:
            seen = document.model_copy(update={"metadata": told})
            told = changed(told, self._options.metadata_of(seen))
        return replace(loaded, document=document.model_copy(update={"metadata": told}))

    def _accept(
        self,
        change: Change,
        known: Known | None,
        warnings: Sequence[str] = (),
        partial: str | None = None,
    ) -> None:
        """Queue a document for the next commit, unless it is as it was."""
        if known is not None and known.fingerprint == change.fingerprint:
            self.totals.unchanged += 1
            if change.state is not None and known.doc is not None:
                self._states.append((known.doc, change.state))
            return
        if known is None:
            self._check_free(change.document.source)
        change = self._cut(change, known)
        outcome = FileOutcome(
            source=change.document.source,
            status="partial" if partial else "indexed" if known is None else "changed",
            chunks=len(change.chunks),
            reason=partial,
            warnings=tuple(warnings),
        )
        self._queue(change, outcome)

    def _accept_record(self, change: Change, known: Known | None) -> int:
        """Queue a record, unless it is as it was; returns the number of its new passages."""
        if known is not None and known.fingerprint == change.fingerprint:
            return 0
        change = self._cut(change, known)
        self._queue(change, None)
        return len(change.chunks)

    def _cut(self, change: Change, known: Known | None) -> Change:
        # No fingerprint is what a repair leaves that could not read the source.
        afresh = known is not None and not known.fingerprint
        return chunked(replace(change, afresh=afresh), self._chunking)

    def _check_free(self, source: str) -> None:
        """Refuse a source that is also that of a record of a file, or of a file beside one."""
        if source in self._queued or self.memory.document(source) is not None:
            raise RefusedError(f"another document has the source {source!a}")

    def _queue(self, change: Change, outcome: FileOutcome | None) -> None:
        self._changes.append((change, outcome))
        self._queued.add(change.document.source)
        self._characters += len(change.document.text)
        if self._characters > _BATCH_CHARACTERS or len(self._changes) >= _BATCH_FILES:
            self.flush()

    def refuse(self, source: str, reason: str) -> None:
        """Report a source that cannot be taken."""
        self.totals.outcomes.append(FileOutcome(source=source, status="refused", reason=reason))

    def forget_refused(self, sources: Iterable[str]) -> None:
        """Forget refused files that are not there any more."""
        self._forgotten += sources

    def part_with(self, gone: Sequence[Known]) -> None:
        """Remove files that are gone, or keep their passages."""
        for known in gone:
            if self._options.keep_missing:
                reason = "gone; its passages are kept"
                outcome = FileOutcome(source=known.source, status="missing", reason=reason)
            else:
                outcome = FileOutcome(source=known.source, status="removed")
                self._removed += self.memory.rows(known.source)
                if known.doc is None:
                    self._forgotten.append(known.source)
            self.totals.outcomes.append(outcome)

    def flush(self) -> None:
        """Commit what is queued."""
        if self._changes or self._removed:
            changes = [change for change, _ in self._changes]
            committed = self._writer.commit(
                changes, self._removed, self._states, self._others, self._forgotten
            )
            self.totals.added += committed.added
            self.totals.dropped += committed.dropped
            self.totals.outcomes += [outcome for _, outcome in self._changes if outcome]
        elif self._states or self._others or self._forgotten:
            self._writer.note(self._states, self._others, self._forgotten)
        self._changes, self._removed, self._states = [], [], []
        self._others, self._forgotten = [], []
        self._queued = set()
        self._characters = 0


def chunked(change: Change, chunking: ChunkingConfig) -> Change:
    """The change with its document's title and chunks."""
    document = change.document
    blocks = change.blocks
    if blocks is None:
        blocks = media_format(document.media_type).blocks(document.text)
    if document.title is None:
        document = document.model_copy(update={"title": heading_title(blocks)})
    chunks = chunk_document(document, blocks, chunking, change.pages)
    return change.with_chunks(document, chunks)
