"""The peer SQLite FTS5: a table that holds no text, only what it needs to search."""

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus, word
from benchmarks.index_edits import Edit
from benchmarks.index_filters import FILTERS, Filter, groups_of
from benchmarks.index_queries import Ask, Hits, K

__all__ = ["Fts5"]

_AT_ONCE = 20_000
_FIELDS = tuple(each.field for each in FILTERS)
_TABLES = (
    "CREATE VIRTUAL TABLE passage USING fts5(text, content='', tokenize='ascii')",
    f"CREATE TABLE grouped (passage INTEGER PRIMARY KEY, {', '.join(_FIELDS)})",
    *(f"CREATE INDEX by_{field} ON grouped ({field})" for field in _FIELDS),
)
_SELECT = "SELECT rowid, -rank FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT ?"
# The plus keeps it from seeking each passage of a group among those of each word, and only what is
# kept gets a score: by far the fastest form.
_SELECT_KEPT = (
    "SELECT rowid, -bm25(passage) AS score FROM passage WHERE passage MATCH ? "
    "AND +rowid IN (SELECT passage FROM grouped WHERE {field} = {number}) "
    "ORDER BY score DESC LIMIT ?"
)


class Fts5:
    """Durable as ours: WAL, synchronous FULL."""

    def build(self, corpus: Corpus, folder: Path, clock: Clock) -> None:
        """Insert in transactions of 20,000 and optimize."""
        with closing(_connected(folder)) as connection:
            for table in _TABLES:
                connection.execute(table)
            for start in range(0, corpus.size, _AT_ONCE):
                texts = corpus.texts(start, min(start + _AT_ONCE, corpus.size))
                with clock, connection:
                    _insert(connection, list(enumerate(texts, start)))
            with clock:
                with connection:
                    _optimize(connection)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def open(self, corpus: Corpus, folder: Path) -> "_Fts5Search":  # noqa: ARG002
        """A connection that has read the schema."""
        return _Fts5Search(folder)

    def commit(self, folder: Path, edits: Sequence[Edit]) -> None:
        """Replace and add passages in one transaction."""
        with closing(_connected(folder)) as connection, connection:
            connection.executemany(
                "INSERT INTO passage (passage, rowid, text) VALUES ('delete', ?, ?)",
                [(each.passage, each.before) for each in edits if each.before is not None],
            )
            _insert(connection, [(each.passage, each.after) for each in edits])

    def merge(self, folder: Path) -> None:
        """All in one."""
        with closing(_connected(folder)) as connection, connection:
            _optimize(connection)


class _Fts5Search:
    """Any of the words, ordered by `rank`; each thread has a connection of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._local = folder, threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._connection()

    def __del__(self) -> None:
        for connection in self._opened:
            connection.close()

    def _connection(self) -> sqlite3.Connection:
        if not hasattr(self._local, "connection"):
            self._local.connection = _connected(self._folder)
            self._local.connection.execute("SELECT rowid FROM passage LIMIT 0").fetchall()
            self._opened.append(self._local.connection)
        found: sqlite3.Connection = self._local.connection
        return found

    def asked(self, terms: Sequence[int], kept: Filter | None = None) -> Ask:
        select = _SELECT
        if kept is not None:
            select = _SELECT_KEPT.format(field=kept.field, number=kept.kept)
        return lambda: self._found(select, terms, K)

    def ranked(self, terms: Sequence[int]) -> Hits:
        """Every passage that matches."""
        return self._found(_SELECT, terms, -1)

    def _found(self, select: str, terms: Sequence[int], most: int) -> Hits:
        match = " OR ".join(word(term) for term in terms)
        return self._connection().execute(select, (match, most)).fetchall()


def _connected(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "fts5.db", check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[int, str]]) -> None:
    connection.executemany("INSERT INTO passage (rowid, text) VALUES (?, ?)", rows)
    places = ", ".join("?" * (1 + len(_FIELDS)))
    connection.executemany(
        f"INSERT OR REPLACE INTO grouped VALUES ({places})",
        [(passage, *groups_of(passage).values()) for passage, _ in rows],
    )


def _optimize(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO passage (passage) VALUES ('optimize')")
