"""What a filter lets through in one generation: documents, their passages, their vectors."""

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundkit_core.errors import CollectionCorruptError, RetrievalError
from groundkit_core.index.dense import DenseSegment, Rows
from groundkit_core.index.lexical import LexicalIndex
from groundkit_core.index.store import Store
from groundkit_core.retrieval.filters import BUILT_IN, AllOf, Condition, Filter, NoneOf, parts

__all__ = ["Allowed", "allowed_documents"]

Mask = NDArray[np.bool_]

_COMPARED = {"equals": "=", "at_least": ">=", "at_most": "<=", "above": ">", "below": "<"}
_NAMED = 20
_WILD = re.compile(r"[*?\[]")


class Allowed:
    """The documents that a filter lets through, as a mask by row number, and what follows of it."""

    def __init__(self, documents: Mask, lexical: LexicalIndex) -> None:
        self.documents = documents
        self._lexical = lexical
        self._rows: dict[str, Rows] = {}

    def lets(self, doc: int) -> bool:
        """Whether the passages of a document may be found, by its row number."""
        try:
            return bool(self.documents[doc])
        except (IndexError, TypeError):
            raise CollectionCorruptError(
                f"there is no document of row {doc!a}; see grk doctor"
            ) from None

    @cached_property
    def passages(self) -> Mask:
        """A mask over the lexical index."""
        return self._lexical.mask(np.flatnonzero(self.documents))

    @cached_property
    def _embedded(self) -> NDArray[np.uint64]:
        return np.sort(self._lexical.embedded(self.passages))

    def vectors(self, segment: DenseSegment) -> Rows:
        """The rows of a segment whose texts stand in an allowed document."""
        name = segment.file.file
        if name not in self._rows:
            self._rows[name] = segment.rows_of(self._embedded)
        return self._rows[name]


def allowed_documents(store: Store, filters: Filter) -> Mask:
    """A mask over the rows of documents; refuses a key that none has, or has as another kind."""
    size = 1 + int(store.rows("SELECT ifnull(max(doc), 0) FROM document")[0][0])
    return _passing(store, size, filters)


def _passing(store: Store, size: int, filters: Filter) -> Mask:
    if isinstance(filters, Condition):
        return _Rows(store, size).of(filters)
    masks = [_passing(store, size, part) for part in parts(filters)]
    joined = np.logical_and if isinstance(filters, AllOf) else np.logical_or
    found: Mask = joined.reduce(masks)
    return ~found if isinstance(filters, NoneOf) else found


class _Column(NamedTuple):
    """Where the values of a key stand: table, column, and a condition for the rows of the key."""

    table: str
    name: str
    where: str
    values: tuple[str, ...] = ()


class _Rows:
    """Documents by a condition, from the tables of documents and of their metadata."""

    def __init__(self, store: Store, size: int) -> None:
        self._store = store
        self._size = size

    def of(self, condition: Condition) -> Mask:
        column = self._column(condition.key, condition.kind)
        select = f"SELECT doc, {column.name} FROM {column.table} WHERE {column.where}"
        if condition.exists is not None:
            held = self._mask(select, column.values)
            return held if condition.exists else ~held
        clauses, asked = _compared(column.name, condition.asked)
        sql, values = " AND ".join([select, *clauses]), [*column.values, *asked]
        if condition.glob is None:
            return self._mask(sql, values)
        matches = re.compile(fnmatch.translate(condition.glob)).match
        return self._mask(sql, values, lambda rows: (row for row in rows if matches(row[1])))

    def _column(self, key: str, kind: str | None) -> _Column:
        if key in BUILT_IN:
            if kind not in (None, "text"):
                raise RetrievalError(_wrong_kind(key, ["text"], kind))
            return _Column("document", key, f"{key} IS NOT NULL")
        # What the metadata calls like a key of every document has a name of its own.
        own = key.removeprefix("metadata.")
        if own in BUILT_IN and not self._holds(key):
            key = own
        self._check_key(key, kind)
        if kind is None:
            return _Column("field", "value", "key=?", (key,))
        return _Column("field", "value", "key=? AND kind=?", (key, kind))

    def _check_key(self, key: str, kind: str | None) -> None:
        """Refuse a key that no document has, or none with such a value."""
        if not self._holds(key):
            raise RetrievalError(f"no document has the key {key!r}; there are: {self._keys()}")
        held = "SELECT 1 FROM field WHERE key=? AND kind=? LIMIT 1"
        if kind is not None and not self._store.rows(held, key, kind):
            kinds = self._store.rows("SELECT DISTINCT kind FROM field WHERE key=?", key)
            raise RetrievalError(_wrong_kind(key, sorted(name for (name,) in kinds), kind))

    def _holds(self, key: str) -> bool:
        return bool(self._store.rows("SELECT 1 FROM field WHERE key=? LIMIT 1", key))

    def _keys(self) -> str:
        rows = self._store.rows("SELECT DISTINCT key FROM field ORDER BY key")
        keys = [f"metadata.{key}" if key in BUILT_IN else str(key) for (key,) in rows]
        more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
        return ", ".join([*BUILT_IN, *keys[:_NAMED]]) + more

    def _mask(
        self,
        sql: str,
        values: Iterable[Any],
        chosen: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    ) -> Mask:
        rows = chosen(self._store.connection.execute(sql, tuple(values)))
        mask = np.zeros(self._size, dtype=bool)
        try:
            mask[np.fromiter((row[0] for row in rows), np.int64)] = True
        except (IndexError, TypeError, ValueError, OverflowError):
            raise CollectionCorruptError(
                f"{self._store.path}: the metadata is damaged; see grk doctor"
            ) from None
        return mask


def _wrong_kind(key: str, held: Sequence[str], asked: str) -> str:
    plural = {"number": "numbers", "boolean": "booleans"}
    holds = " and ".join(plural.get(kind, kind) for kind in held)
    return f"the key {key!r} holds {holds}, not {plural.get(asked, asked)}"


def _compared(column: str, asked: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """SQL conditions on a column, and their values."""
    clauses: list[str] = []
    values: list[Any] = []
    for name, value in asked.items():
        if name in _COMPARED:
            clauses.append(f"{column} {_COMPARED[name]} ?")
            values.append(value)
        elif name == "one_of":
            clauses.append(f"{column} IN ({','.join('?' * len(value))})")
            values += value
        else:
            # A glob is read by Python; what precedes its first wildcard spares reading all rows.
            start = value if name == "prefix" else _WILD.split(value, maxsplit=1)[0]
            end = _after(start)
            clauses.append(f"{column} >= ?")
            values.append(start)
            if end is not None:
                clauses.append(f"{column} < ?")
                values.append(end)
    return clauses, values


def _after(prefix: str) -> str | None:
    """The first text after all that begin with a prefix; None if there is none."""
    kept = prefix.rstrip(chr(0x10FFFF))
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if following == 0xD800 else following)
