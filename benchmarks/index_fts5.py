"""The peer SQLite FTS5: a table that holds no text, only what it needs to search."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus, Queries, word
from benchmarks.index_edits import Edit
from benchmarks.index_queries import Ask, K, in_turn

__all__ = ["Fts5"]

_AT_ONCE = 20_000
_TABLE = "CREATE VIRTUAL TABLE passage USING fts5(text, content='', tokenize='ascii')"


class Fts5:
    """Durable as ours: WAL, synchronous FULL."""

    def build(self, corpus: Corpus, folder: Path, clock: Clock) -> None:
        """Insert in transactions of 20,000 and optimize."""
        with closing(_connected(folder)) as connection:
            connection.execute(_TABLE)
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
        return _Fts5Search(_connected(folder))

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
    """Any of the words, ordered by `rank`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute("SELECT rowid FROM passage LIMIT 0").fetchall()

    def __del__(self) -> None:
        self._connection.close()

    def asked(self, terms: Sequence[int]) -> Ask:
        match = " OR ".join(word(term) for term in terms)
        select = "SELECT rowid, -rank FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT ?"
        return lambda: self._connection.execute(select, (match, K)).fetchall()

    def batch(self, queries: Queries, threads: int) -> None:
        in_turn(self, queries, threads)


def _connected(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "fts5.db", check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[int, str]]) -> None:
    connection.executemany("INSERT INTO passage (rowid, text) VALUES (?, ?)", rows)


def _optimize(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO passage (passage) VALUES ('optimize')")
