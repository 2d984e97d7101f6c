"""Making a collection agree with the folders it was made from."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundkit_core.chunking import chunk_document
from groundkit_core.config import MAX_FILE_BYTES, ChunkingConfig
from groundkit_core.contracts import Document, FileOutcome
from groundkit_core.errors import ConfigurationError, IngestError, RefusedError
from groundkit_core.ids import content_hash, document_id, hash_bytes
from groundkit_core.index.roots import Target
from groundkit_core.index.writer import Change, FileState, Writer
from groundkit_core.loading.detect import decode
from groundkit_core.loading.formats import format_of, heading_title, media_format
from groundkit_core.loading.walk import FoundFile, Problem, Walk

__all__ = ["Progress", "Sync", "SyncOptions", "prepare"]

_BATCH_CHARACTERS = 8_000_000
_BATCH_FILES = 2_000
# A file written within the clock's grain of being read could change again with the same times.
_SETTLED_NS = 2_000_000_000

Progress = Callable[[int, int, int], None]
"""Called with files done, files in all, and passages added."""


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a run treats files that are ignored, unchanged by their times, or gone."""

    ignore: bool = True
    rehash: bool = False
    keep_missing: bool = False
    allow_removal: bool = False
    max_bytes: int = MAX_FILE_BYTES


@dataclass(frozen=True, slots=True)
class _Known:
    doc: int
    state: FileState
    hash: str
    fingerprint: str
    root: str | None


@dataclass(slots=True)
class _Totals:
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
        self._changes: list[tuple[Change, FileOutcome]] = []
        self._states: list[tuple[int, FileState]] = []
        self._removed: list[int] = []
        self._characters = 0
        self.totals = _Totals()

    def run(self, targets: Sequence[Target]) -> None:
        """Bring the documents beneath the targets up to date."""
        walked = [(target, *self._walk(target)) for target in targets]
        gone: list[tuple[str, _Known]] = []
        known: dict[str, _Known] = {}
        for target, files, problems in walked:
            here = self._known(target)
            known.update(here)
            gone += self._gone(target, here, files, problems)
        total = sum(len(files) for _, files, _ in walked)
        done = 0
        for target, files, problems in walked:
            for problem in problems:
                self._refuse(f"{target.label}/{problem.relative}".rstrip("/"), problem.reason)
            for file in files:
                source = f"{target.label}/{file.relative}"
                self._file(target, file, source, known.get(source))
                done += 1
                if self._progress is not None:
                    self._progress(done, total, self.totals.added)
        self._part_with(gone)
        self._flush()

    def add(self, documents: Sequence[Document]) -> None:
        """Add or replace documents that are no files."""
        sources = [document.source for document in documents]
        if len(set(sources)) < len(sources):
            twice = next(source for source in sources if sources.count(source) > 1)
            raise ConfigurationError(f"two documents have the source {twice!r}")
        for document in documents:
            known = self._known_source(document.source)
            if known is not None and known.root is not None:
                raise ConfigurationError(
                    f"{document.source}: this source is a file of the root {known.root!r}"
                )
            digest = content_hash(document.text)
            fingerprint = self._fingerprint(digest, f"{document.media_type} {document.title}")
            if known is not None and known.fingerprint == fingerprint:
                self.totals.unchanged += 1
                continue
            change = prepare(document, self._chunking, digest, fingerprint)
            self._change(change, known)
        self._flush()

    def _walk(self, target: Target) -> tuple[list[FoundFile], list[Problem]]:
        if not os.path.lexists(target.root):
            return [], [Problem("", f"the root's folder is gone: {target.root}", folder=True)]
        walk = Walk(target.root, target.below, self._options.ignore, target.skip)
        return list(walk.files()), walk.problems

    def _known(self, target: Target) -> dict[str, _Known]:
        prefix = f"{target.label}/{target.below}" if target.below else f"{target.label}/"
        return {
            row[0]: _known_of(row)
            for row in self._writer.store.rows(
                f"SELECT {_KNOWN_COLUMNS} FROM document WHERE root=? AND substr(source, 1, ?) = ?",
                target.label,
                len(prefix),
                prefix,
            )
            if not target.below or row[0] == prefix or row[0].startswith(prefix + "/")
        }

    def _known_source(self, source: str) -> _Known | None:
        sql = f"SELECT {_KNOWN_COLUMNS} FROM document WHERE source=?"
        rows = self._writer.store.rows(sql, source)
        return _known_of(rows[0]) if rows else None

    def _gone(
        self,
        target: Target,
        known: Mapping[str, _Known],
        files: Sequence[FoundFile],
        problems: Sequence[Problem],
    ) -> list[tuple[str, _Known]]:
        """Known files that are no longer there; what cannot be seen is not gone."""
        seen = {f"{target.label}/{file.relative}" for file in files}
        kept = [f"{target.label}/{problem.relative}" for problem in problems if not problem.folder]
        hidden = tuple(
            f"{target.label}/{problem.relative}/" if problem.relative else f"{target.label}/"
            for problem in problems
            if problem.folder
        )
        gone = [
            (source, row)
            for source, row in sorted(known.items())
            if source not in seen and source not in kept and not source.startswith(hidden)
        ]
        held = self._writer.store.rows("SELECT count(*) FROM document WHERE root=?", target.label)
        if (
            held[0][0] >= 20
            and 2 * len(gone) > held[0][0]
            and not (self._options.allow_removal or self._options.keep_missing)
        ):
            raise IngestError(
                f"{target.root}: {len(gone)} of {held[0][0]} files of the root {target.label!r} "
                "are gone, more than half; nothing was changed. If that is right, use "
                "--allow-removal, or --keep-missing to leave their passages"
            )
        return gone

    def _file(self, target: Target, file: FoundFile, source: str, known: _Known | None) -> None:
        info = file.stat
        if known is not None and not self._options.rehash and self._is_settled(known, info):
            self.totals.unchanged += 1
            return
        read_at = time.time_ns()
        try:
            data = self._read(file)
        except OSError as error:
            self._refuse(source, f"unreadable: {error.strerror}")
            return
        except RefusedError as error:
            self._refuse_content(source, str(error), known)
            return
        state = FileState(info.st_size, info.st_mtime_ns, info.st_ctime_ns, read_at)
        digest = hash_bytes(data)
        try:
            document, warnings, fingerprint = self._load(source, data, digest)
        except RefusedError as error:
            self._refuse_content(source, str(error), known)
            return
        if known is not None and known.fingerprint == fingerprint:
            self.totals.unchanged += 1
            self._states.append((known.doc, state))
            return
        change = prepare(document, self._chunking, digest, fingerprint, target.label, state)
        self._change(change, known, warnings)

    def _is_settled(self, known: _Known, info: os.stat_result) -> bool:
        state = known.state
        return (
            (state.size, state.mtime_ns, state.ctime_ns)
            == (info.st_size, info.st_mtime_ns, info.st_ctime_ns)
            and max(info.st_mtime_ns, info.st_ctime_ns) + _SETTLED_NS < state.read_at_ns
            and known.fingerprint.startswith(self._processing)
        )

    def _read(self, file: FoundFile) -> bytes:
        if file.stat.st_size > self._options.max_bytes:
            raise RefusedError(f"{file.stat.st_size} bytes, the limit is {self._options.max_bytes}")
        descriptor = os.open(file.path, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _BINARY)
        with os.fdopen(descriptor, "rb") as stream:
            before = os.fstat(descriptor)
            data = stream.read(self._options.max_bytes + 1)
            after = os.fstat(descriptor)
        self.totals.read += 1
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(
            data
        ) != before.st_size:
            raise OSError(0, "it changed while it was read; run again")
        return data

    def _load(self, source: str, data: bytes, digest: str) -> tuple[Document, list[str], str]:
        known_format = format_of(source, data)
        fingerprint = self._fingerprint(digest, known_format.identity)
        decoded = decode(data)
        warnings = []
        if decoded.guessed:
            warnings.append(f"encoding guessed: {decoded.encoding}")
        if not decoded.text.strip():
            warnings.append("it holds no text")
        document = Document(
            id=document_id(source),
            source=source,
            text=decoded.text,
            media_type=known_format.media_type,
            extractor=known_format.identity,
            encoding=decoded.encoding,
        )
        return document, warnings, fingerprint

    @property
    def _processing(self) -> str:
        # The analysis is not part of it: a collection has one, and re-indexing changes it for all.
        return f"{self._chunking.identity} "

    def _fingerprint(self, digest: str, extractor: str) -> str:
        return f"{self._processing}{extractor} {digest}"

    def _change(self, change: Change, known: _Known | None, warnings: Sequence[str] = ()) -> None:
        outcome = FileOutcome(
            source=change.document.source,
            status="indexed" if known is None else "changed",
            chunks=len(change.chunks),
            warnings=tuple(warnings),
        )
        self._changes.append((change, outcome))
        self._characters += len(change.document.text)
        if self._characters > _BATCH_CHARACTERS or len(self._changes) >= _BATCH_FILES:
            self._flush()

    def _refuse(self, source: str, reason: str) -> None:
        self.totals.outcomes.append(FileOutcome(source=source, status="refused", reason=reason))

    def _refuse_content(self, source: str, reason: str, known: _Known | None) -> None:
        """A file that is no longer text takes its old passages with it."""
        self._refuse(source, reason)
        if known is not None:
            self._removed.append(known.doc)

    def _part_with(self, gone: Sequence[tuple[str, _Known]]) -> None:
        for source, known in gone:
            if self._options.keep_missing:
                self.totals.outcomes.append(
                    FileOutcome(source=source, status="missing", reason="gone; passages kept")
                )
            else:
                self.totals.outcomes.append(FileOutcome(source=source, status="removed"))
                self._removed.append(known.doc)

    def _flush(self) -> None:
        if self._changes or self._removed:
            committed = self._writer.commit(
                [change for change, _ in self._changes], self._removed, self._states
            )
            self.totals.added += committed.added
            self.totals.dropped += committed.dropped
            self.totals.outcomes += [outcome for _, outcome in self._changes]
        elif self._states:
            self._writer.note(self._states)
        self._changes, self._removed, self._states = [], [], []
        self._characters = 0


_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_KNOWN_COLUMNS = "source, doc, size, mtime_ns, ctime_ns, read_at_ns, hash, fingerprint, root"


def _known_of(row: tuple[Any, ...]) -> _Known:
    _, doc, size, mtime_ns, ctime_ns, read_at_ns, digest, fingerprint, root = row
    return _Known(doc, FileState(size, mtime_ns, ctime_ns, read_at_ns), digest, fingerprint, root)


def prepare(
    document: Document,
    chunking: ChunkingConfig,
    digest: str,
    fingerprint: str,
    root: str | None = None,
    state: FileState | None = None,
) -> Change:
    """A document with its title and chunks, ready to commit."""
    blocks = media_format(document.media_type).blocks(document.text)
    if document.title is None:
        document = document.model_copy(update={"title": heading_title(blocks)})
    chunks = chunk_document(document, blocks, chunking)
    return Change(document, chunks, digest, fingerprint, root, state)
