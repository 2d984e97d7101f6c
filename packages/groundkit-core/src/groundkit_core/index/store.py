"""The collection's database: the only truth about what is live."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from groundkit_core.config import ChunkingConfig, ExtractionConfig
from groundkit_core.errors import (
    CollectionCorruptError,
    CollectionError,
    CollectionIncompatibleError,
    CollectionNotFoundError,
)

__all__ = [
    "DATABASE",
    "SCHEMA_VERSION",
    "SEGMENTS",
    "Manifest",
    "Store",
    "disk_errors",
    "file_identity",
    "translated",
]

DATABASE = "collection.db"
SEGMENTS = "segments"
SCHEMA_VERSION = 4
_BUSY_SECONDS = 10

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE root (label TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE document (
    doc INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL UNIQUE,
    root TEXT, size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER, read_at_ns INTEGER,
    hash TEXT NOT NULL, fingerprint TEXT NOT NULL, extractor TEXT NOT NULL, encoding TEXT,
    title TEXT, media_type TEXT NOT NULL, class TEXT NOT NULL, metadata TEXT NOT NULL,
    part_of TEXT
);
CREATE INDEX document_part ON document (part_of) WHERE part_of IS NOT NULL;
CREATE TABLE snapshot (doc INTEGER PRIMARY KEY, fetched TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE field (
    key TEXT NOT NULL, kind TEXT NOT NULL, value NOT NULL, doc INTEGER NOT NULL,
    PRIMARY KEY (key, kind, value, doc)
) WITHOUT ROWID;
CREATE INDEX field_doc ON field (doc);
CREATE TABLE given (
    label TEXT NOT NULL, below TEXT NOT NULL, metadata TEXT NOT NULL, PRIMARY KEY (label, below)
) WITHOUT ROWID;
CREATE TABLE chunk (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, doc INTEGER NOT NULL,
    ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
    hash TEXT NOT NULL, headings TEXT NOT NULL, content TEXT NOT NULL, embed_key TEXT,
    page_start INTEGER, page_end INTEGER
);
CREATE INDEX chunk_doc ON chunk (doc, ordinal);
CREATE INDEX chunk_hash ON chunk (hash);
CREATE INDEX chunk_embed ON chunk (embed_key) WHERE embed_key IS NOT NULL;
CREATE TABLE file (
    source TEXT PRIMARY KEY, root TEXT NOT NULL, size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER,
    read_at_ns INTEGER, fingerprint TEXT NOT NULL, reason TEXT
) WITHOUT ROWID;
CREATE TABLE segment (
    seg INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, file TEXT NOT NULL,
    bytes INTEGER NOT NULL, checksum TEXT NOT NULL, first_seq INTEGER NOT NULL,
    chunks INTEGER NOT NULL, terms INTEGER NOT NULL, space INTEGER
);
CREATE TABLE dead (
    seg INTEGER PRIMARY KEY, ordinals BLOB NOT NULL, chunks INTEGER NOT NULL, terms INTEGER NOT NULL
);
CREATE TABLE space (
    space INTEGER PRIMARY KEY AUTOINCREMENT, identity TEXT NOT NULL, active INTEGER NOT NULL
);
CREATE TABLE vector (
    space INTEGER NOT NULL, key TEXT NOT NULL, seg INTEGER NOT NULL, row INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) WITHOUT ROWID;
CREATE INDEX vector_seg ON vector (seg, row);
"""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The settings that a collection was made with, and its generation."""

    analysis: str
    language: str
    stop_words: tuple[str, ...]
    chunking: ChunkingConfig
    extraction: ExtractionConfig
    generation: int
    token: str = field(default_factory=lambda: uuid4().hex)
    """Tells a collection from one that was made later at the same place."""


def file_identity(path: Path) -> tuple[int, int]:
    """Device and inode of a collection's database."""
    try:
        info = (path / DATABASE).stat()
    except (FileNotFoundError, NotADirectoryError):
        raise CollectionNotFoundError(path) from None
    except OSError as error:
        raise CollectionError(f"{path / DATABASE}: {error.strerror}") from None
    if not info.st_size:
        # A first run was killed before it could make it.
        raise CollectionNotFoundError(path)
    return info.st_dev, info.st_ino


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as groundkit's."""
    database = path / DATABASE
    try:
        yield
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_FULL":
            raise CollectionError(f"{database}: the disk is full; nothing was lost") from error
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise CollectionError(f"{database}: busy for {_BUSY_SECONDS} s") from error
        if name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")):
            raise CollectionError(f"{database}: {error}") from error
        # Without a name it is Python's own, which may quote the text it could not decode.
        what = str(error) if name else "its text does not decode"
        raise CollectionCorruptError(f"{database}: damaged: {what}; see grk doctor") from None
    except UnicodeDecodeError:
        raise CollectionCorruptError(
            f"{database}: damaged: its text does not decode; see grk doctor"
        ) from None


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


class Store:
    """One connection to a collection's database; not shared between threads."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self.frozen = False
        """Whether the connection takes the file for unchangeable, and so sees no later commit."""

    @classmethod
    def open_writable(cls, path: Path, new: Manifest) -> "Store":
        """The database for writing; made with the manifest `new` where there is none."""
        database = path / DATABASE
        if not database.exists():
            # What a deleted database left must not be replayed into the new one.
            for suffix in ("-wal", "-shm"):
                database.with_name(DATABASE + suffix).unlink(missing_ok=True)
        store = cls._connect(path, str(database))
        try:
            with store.translated():
                for pragma in ("journal_mode=WAL", "synchronous=FULL"):
                    store.connection.execute(f"PRAGMA {pragma}")
                if store._is_empty():
                    store._create(new)
            store._check_schema()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def _connect(cls, path: Path, database: str) -> "Store":
        with translated(path):
            # Whoever holds the last reference closes it, in whatever thread that is.
            store = cls(
                path,
                sqlite3.connect(database, uri=True, isolation_level=None, check_same_thread=False),
            )
            store.connection.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")
        return store

    def _is_empty(self) -> bool:
        return self.rows("SELECT count(*) FROM sqlite_master") == [(0,)]

    def _create(self, manifest: Manifest) -> None:
        with self.write():
            # One by one: executescript would commit the transaction that must hold them all.
            for statement in _SCHEMA.split(";")[:-1]:
                self.connection.execute(statement)
            self.set_meta(
                schema=SCHEMA_VERSION,
                analysis=manifest.analysis,
                language=manifest.language,
                stop_words=json.dumps(manifest.stop_words),
                chunking=manifest.chunking.model_dump_json(),
                extraction=manifest.extraction.model_dump_json(),
                generation=manifest.generation,
                token=manifest.token,
                next_seq=1,
            )

    @classmethod
    def open_readable(cls, path: Path) -> "Store":
        """An existing database for reading; nothing is created but SQLite's side files."""
        file_identity(path)
        uri = f"{(path / DATABASE).absolute().as_uri()}?mode=ro"
        frozen = not os.access(path, os.W_OK)
        if frozen:
            wal = path / f"{DATABASE}-wal"
            if wal.exists() and wal.stat().st_size:
                raise CollectionError(
                    f"{path}: a writer left changes that only a reader with write access to the "
                    "folder can see; open the collection once as its owner"
                )
            uri += "&immutable=1"
        store = cls._connect(path, uri)
        store.frozen = frozen
        try:
            with store.translated():
                if store._is_empty():
                    raise CollectionNotFoundError(path)
            store._check_schema()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def __del__(self) -> None:
        self.connection.close()

    def _check_schema(self) -> None:
        with self.translated():
            found = self.meta("schema")
        if found != SCHEMA_VERSION:
            raise CollectionIncompatibleError(
                f"{self.path}: schema {found}, this version of groundkit reads {SCHEMA_VERSION}; "
                "delete the collection and ingest again"
            )

    def translated(self) -> AbstractContextManager[None]:
        """SQLite's errors as groundkit's."""
        return translated(self.path)

    @contextmanager
    def read(self) -> Iterator[None]:
        """One short read transaction: everything in it sees one generation."""
        with self.translated():
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("COMMIT")

    @contextmanager
    def write(self) -> Iterator[None]:
        """One write transaction, committed whole or not at all."""
        with self.translated():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                # A full disk has SQLite roll back by itself.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    def checkpoint(self) -> None:
        """Fold the write-ahead log back so that it does not grow; readers are not waited for."""
        with self.translated():
            self.connection.execute("PRAGMA busy_timeout=0")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self.connection.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")

    def shrink(self) -> None:
        """Give the space of deleted rows back to the file system."""
        with self.translated():
            self.connection.execute("VACUUM")
        self.checkpoint()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows that a statement gives."""
        return self.connection.execute(sql, values).fetchall()

    def meta(self, key: str) -> Any:
        """A setting; None if it is not there."""
        row = self.connection.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, **values: Any) -> None:
        """Write settings."""
        self.connection.executemany("REPLACE INTO meta VALUES (?, ?)", values.items())

    def manifest(self) -> Manifest:
        """Settings and generation as of the running transaction."""
        meta = dict(self.rows("SELECT key, value FROM meta"))
        try:
            return Manifest(
                analysis=meta["analysis"],
                language=meta["language"],
                stop_words=tuple(json.loads(meta["stop_words"])),
                chunking=ChunkingConfig.model_validate_json(meta["chunking"]),
                extraction=ExtractionConfig.model_validate_json(meta["extraction"]),
                generation=int(meta["generation"]),
                token=meta["token"],
            )
        except (KeyError, TypeError, ValueError):
            raise CollectionCorruptError(
                f"{self.path / DATABASE}: damaged: its settings cannot be read"
            ) from None

    def fetch(self, column: str, values: Iterable[Any]) -> list[tuple[Any, ...]]:
        """Chunk rows joined with their documents, by a column of the chunk table."""
        found: list[tuple[Any, ...]] = []
        for part in _parts(list(values), 500):
            marks = ",".join("?" * len(part))
            found += self.connection.execute(
                f"SELECT {CHUNK_COLUMNS} FROM chunk JOIN document USING (doc) "
                f"WHERE chunk.{column} IN ({marks}) ORDER BY source, ordinal",
                part,
            ).fetchall()
        return found

    def in_segments(self, where: str) -> int:
        """Number of live passages, or vectors, in the segments that a condition picks."""
        counted = (
            "SELECT ifnull(sum(segment.chunks), 0) - ifnull(sum(dead.chunks), 0) "
            f"FROM segment LEFT JOIN dead USING (seg) WHERE {where}"
        )
        return int(self.rows(counted)[0][0])

    def metadata(self, docs: Sequence[int]) -> dict[int, Any]:
        """What is stored as the metadata of some documents, at most 500, by their row numbers."""
        marks = ",".join("?" * len(docs))
        return dict(self.rows(f"SELECT doc, metadata FROM document WHERE doc IN ({marks})", *docs))

    def by_embed_key(self, keys: Sequence[str]) -> list[tuple[Any, ...]]:
        """Row number, id, hash and key of the chunks that were embedded as one of these texts."""
        found: list[tuple[Any, ...]] = []
        for part in _parts(keys, 500):
            marks = ",".join("?" * len(part))
            found += self.rows(
                f"SELECT seq, id, hash, embed_key, doc FROM chunk WHERE embed_key IN ({marks})",
                *part,
            )
        return found


CHUNK_COLUMNS = (
    "chunk.seq, chunk.id, document.id, source, ordinal, start, end, line_start, line_end, "
    "chunk.hash, headings, content, title, extractor, encoding, class, document.doc, "
    "page_start, page_end"
)


def _parts(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for first in range(0, len(values), size):
        yield values[first : first + size]
