"""Making a collection agree with the folders it was made from."""

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from groundkit_core.chunking import chunk_document
from groundkit_core.config import MAX_FILE_BYTES, ChunkingConfig
from groundkit_core.contracts import Document, FileOutcome
from groundkit_core.errors import IngestError, MetadataError, RefusedError, SourceError
from groundkit_core.failpoints import reach
from groundkit_core.ids import content_hash, hash_bytes
from groundkit_core.index.changes import Change, FileState, Refusal
from groundkit_core.index.given import Given, changed
from groundkit_core.index.roots import Target
from groundkit_core.index.writer import Writer
from groundkit_core.loading.formats import FORMATS, check_suffix, heading_title, media_format
from groundkit_core.loading.read import Loaded, load_document, read_file
from groundkit_core.loading.walk import FoundFile, Problem, Walk
from groundkit_core.metadata import digest

__all__ = ["MetadataOf", "Progress", "Sync", "SyncOptions", "chunked"]

_BATCH_CHARACTERS = 8_000_000
_BATCH_FILES = 2_000
# A file written within the clock's grain of being read could change again with the same times.
_SETTLED_NS = 2_000_000_000
_GUARDED_FILES = 20

Progress = Callable[[int, int, int], None]
"""Called with files done, files in all, and passages added."""

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
    metadata_of: MetadataOf | None = None


class _Known(NamedTuple):
    """What the collection remembers of a source."""

    doc: int
    size: int
    mtime_ns: int
    ctime_ns: int
    read_at_ns: int
    fingerprint: str
    root: str | None
    source: str


_KNOWN = "SELECT doc, size, mtime_ns, ctime_ns, read_at_ns, fingerprint, root, source"


@dataclass(slots=True)
class Totals:
    """What a run did so far."""

    unchanged: int = 0
    read: int = 0
    added: int = 0
    dropped: int = 0
    outcomes: list[FileOutcome] = field(default_factory=list)


class Sync:
    """One ingest run under the writer's lock."""

    def __init__(
        self,
        writer: Writer,
        chunking: ChunkingConfig,
        options: SyncOptions,
        progress: Progress | None = None,
    ) -> None:
        self._writer = writer
        self._chunking = chunking
        self._options = options
        self._progress = progress
        # The analysis is no part of it: a collection has one, and re-indexing changes it for all.
        self._readers = [f"{chunking.identity} {known.identity}" for known in FORMATS]
        self._given = Given(writer.store)
        self._currents: dict[tuple[str, ...], set[str]] = {}
        self._loader = " ".join([str(options.max_bytes), *(known.identity for known in FORMATS)])
        self._surveyed: list[tuple[Target, list[FoundFile], list[Problem]]] = []
        self._known_files: dict[str, _Known] = {}
        self._refused_files: dict[str, _Known] = {}
        self._gone: list[_Known] = []
        self._changes: list[tuple[Change, FileOutcome]] = []
        self._states: list[tuple[int, FileState]] = []
        self._removed: list[int] = []
        self._refusals: list[Refusal] = []
        self._accepted: list[str] = []
        self._characters = 0
        self.totals = Totals()

    def survey(self, targets: Sequence[Target]) -> None:
        """Walk over the targets; refuses a run that would remove too much, changing nothing."""
        gone_of: Counter[str] = Counter()
        for target in targets:
            files, problems = self._walk(target)
            known = self._known(target)
            gone = _gone(target, known, files, problems)
            gone_of[target.label] += len(gone)
            self._known_files.update(known)
            self._refused_files.update(self._refused(target))
            self._surveyed.append((target, files, problems))
            self._gone += gone
        for target in targets:
            self._guard(target, gone_of[target.label])

    def run(self) -> None:
        """Bring the documents beneath the surveyed targets up to date."""
        total = sum(len(files) for _, files, _ in self._surveyed)
        done = 0
        for target, files, problems in self._surveyed:
            for problem in problems:
                self._refuse(f"{target.label}/{problem.relative}".rstrip("/"), problem.reason)
            for file in files:
                source = f"{target.label}/{file.relative}"
                held = self._known_files.get(source)
                if held is not None and self._is_settled(held, file.stat, self._current(source)):
                    self.totals.unchanged += 1
                else:
                    self._file(target.label, file, source, held)
                done += 1
                if self._progress is not None:
                    self._progress(done, total, self.totals.added)
        self._part_with(self._gone)
        # What is left here was refused once and is not there any more.
        self._accepted += self._refused_files
        self._flush()

    def give(self, targets: Sequence[Target], given: Mapping[str, object]) -> None:
        """Record metadata for all documents at and beneath the targets, now and later."""
        for target in targets:
            self._writer.give(target.label, target.below, self._given.after(target, given))
        self._given, self._currents = Given(self._writer.store), {}

    def _current(self, source: str) -> set[str]:
        """How the fingerprint of a file begins that this run would not change."""
        around = self._given.around(source)
        if around not in self._currents:
            given = digest(self._given.of(source))
            self._currents[around] = {f"{reader} {given}" for reader in self._readers}
        return self._currents[around]

    def add(self, documents: Sequence[Document]) -> None:
        """Add or replace documents that are no files."""
        for document in documents:
            select = f"{_KNOWN} FROM document WHERE source=?"
            rows = self._writer.store.rows(select, document.source)
            known = _Known._make(rows[0]) if rows else None
            kind = f"{document.extractor} {document.media_type} {document.title!r}"
            told = digest(document.metadata)
            hashed = content_hash(document.text)
            fingerprint = f"{self._chunking.identity} {kind} {told} {hashed}"
            self._accept(Change(document, (), hashed, fingerprint), known)
        self._flush()

    def _walk(self, target: Target) -> tuple[list[FoundFile], list[Problem]]:
        if not os.path.lexists(target.root):
            return [], [Problem("", f"the root's folder is gone: {target.root}", folder=True)]
        walk = Walk(target.root, target.below, self._options.ignore, target.skip)
        return list(walk.files()), walk.problems

    def _known(self, target: Target) -> dict[str, _Known]:
        """What is remembered of the target itself and of everything beneath it."""
        return self._remembered(f"{_KNOWN} FROM document", target)

    def _refused(self, target: Target) -> dict[str, _Known]:
        """Files that were refused for their content; the fingerprint is followed by the reason."""
        columns = "0, size, mtime_ns, ctime_ns, read_at_ns, fingerprint, reason, source"
        return self._remembered(f"SELECT {columns} FROM refusal", target)

    def _remembered(self, select: str, target: Target) -> dict[str, _Known]:
        itself = f"{target.label}/{target.below}".rstrip("/")
        # By the order of sources, where "0" follows "/".
        rows = self._writer.store.rows(
            f"{select} WHERE root=? AND (source=? OR (source>? AND source<?))",
            target.label,
            itself,
            itself + "/",
            itself + "0",
        )
        return {row[-1]: _Known._make(row) for row in rows}

    def _guard(self, target: Target, gone: int) -> None:
        if not gone or self._options.allow_removal or self._options.keep_missing:
            return
        counted = "SELECT count(*) FROM document WHERE root=?"
        held = self._writer.store.rows(counted, target.label)[0][0]
        if held >= _GUARDED_FILES and 2 * gone > held:
            raise IngestError(
                f"{target.root}: {gone} of {held} files of the root {target.label!r} are "
                "gone, more than half; nothing was changed. If that is right, use "
                "--allow-removal, or --keep-missing to leave their passages"
            )

    def _is_settled(self, known: _Known, info: os.stat_result, current: Collection[str]) -> bool:
        """Whether size and times say that a file is as it was when it was last read."""
        return (
            known.size == info.st_size
            and known.mtime_ns == info.st_mtime_ns
            and known.ctime_ns == info.st_ctime_ns
            and max(known.mtime_ns, known.ctime_ns) + _SETTLED_NS < known.read_at_ns
            and known.fingerprint.rpartition(" ")[0] in current
            and not self._options.rehash
        )

    def _file(self, label: str, file: FoundFile, source: str, known: _Known | None) -> None:
        before = self._refused_files.pop(source, None)
        if before is not None and self._is_settled(before, file.stat, {self._loader}):
            self._refuse(source, str(before.root))
            return
        info, read_at = file.stat, time.time_ns()
        state = FileState(info.st_size, info.st_mtime_ns, info.st_ctime_ns, read_at)
        try:
            check_suffix(source)
            data = read_file(file.path, self._options.max_bytes)
            self.totals.read += 1
            reach("file.read")
            loaded = self._with_given(load_document(source, data))
        except RefusedError as error:
            self._refuse(source, str(error))
            self._refusals.append(Refusal(source, label, state, f"{self._loader} ", str(error)))
            # What is no longer text takes its old passages with it.
            if known is not None:
                self._removed.append(known.doc)
            return
        except (SourceError, MetadataError) as error:
            self._refuse(source, str(error))
            return
        if before is not None:
            self._accepted.append(source)
        document, hashed = loaded.document, hash_bytes(data)
        told = f"{digest(self._given.of(source))} {digest(document.metadata)}"
        fingerprint = f"{self._chunking.identity} {document.extractor} {told}:{hashed}"
        change = Change(document, (), hashed, fingerprint, label, state)
        self._accept(change, known, loaded.warnings, loaded.partial)

    def _with_given(self, loaded: Loaded) -> Loaded:
        """The document with the metadata that it is given besides its own."""
        document = loaded.document
        told = changed(document.metadata, self._given.of(document.source))
        if self._options.metadata_of is not None:
            seen = document.model_copy(update={"metadata": told})
            told = changed(told, self._options.metadata_of(seen))
        return replace(loaded, document=document.model_copy(update={"metadata": told}))

    def _accept(
        self,
        change: Change,
        known: _Known | None,
        warnings: Sequence[str] = (),
        partial: str | None = None,
    ) -> None:
        """Queue a document for the next commit, unless it is as it was."""
        if known is not None and known.fingerprint == change.fingerprint:
            self.totals.unchanged += 1
            if change.state is not None:
                self._states.append((known.doc, change.state))
            return
        change = chunked(change, self._chunking)
        outcome = FileOutcome(
            source=change.document.source,
            status="partial" if partial else "indexed" if known is None else "changed",
            chunks=len(change.chunks),
            reason=partial,
            warnings=tuple(warnings),
        )
        self._changes.append((change, outcome))
        self._characters += len(change.document.text)
        if self._characters > _BATCH_CHARACTERS or len(self._changes) >= _BATCH_FILES:
            self._flush()

    def _refuse(self, source: str, reason: str) -> None:
        self.totals.outcomes.append(FileOutcome(source=source, status="refused", reason=reason))

    def _part_with(self, gone: Sequence[_Known]) -> None:
        for known in gone:
            if self._options.keep_missing:
                reason = "gone; its passages are kept"
                outcome = FileOutcome(source=known.source, status="missing", reason=reason)
            else:
                outcome = FileOutcome(source=known.source, status="removed")
                self._removed.append(known.doc)
            self.totals.outcomes.append(outcome)

    def _flush(self) -> None:
        if self._changes or self._removed:
            changes = [change for change, _ in self._changes]
            committed = self._writer.commit(changes, self._removed, self._states)
            self.totals.added += committed.added
            self.totals.dropped += committed.dropped
            self.totals.outcomes += [outcome for _, outcome in self._changes]
            self._states = []
        if self._states or self._refusals or self._accepted:
            self._writer.note(self._states, self._refusals, self._accepted)
        self._changes, self._removed, self._states = [], [], []
        self._refusals, self._accepted = [], []
        self._characters = 0


def _gone(
    target: Target,
    known: Mapping[str, _Known],
    files: Sequence[FoundFile],
    problems: Sequence[Problem],
) -> list[_Known]:
    """Known files that are no longer there; what cannot be seen is not gone."""
    left = known.keys() - {f"{target.label}/{file.relative}" for file in files}
    for problem in problems:
        path = f"{target.label}/{problem.relative}".rstrip("/")
        left = {source for source in left if source != path}
        if problem.folder:
            left = {source for source in left if not source.startswith(path + "/")}
    return [known[source] for source in sorted(left)]


def chunked(change: Change, chunking: ChunkingConfig) -> Change:
    """The change with its document's title and chunks."""
    document = change.document
    blocks = media_format(document.media_type).blocks(document.text)
    if document.title is None:
        document = document.model_copy(update={"title": heading_title(blocks)})
    return change.with_chunks(document, chunk_document(document, blocks, chunking))
