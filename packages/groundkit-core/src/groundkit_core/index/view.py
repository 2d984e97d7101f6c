"""What one query sees: the settings, segments and rows of a single generation."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from groundkit_core.errors import (
    CollectionCorruptError,
    CollectionError,
    CollectionIncompatibleError,
)
from groundkit_core.index.dense import DenseSegment
from groundkit_core.index.forks import closed_in_children, held_at_forks
from groundkit_core.index.lexical import LexicalIndex, LexicalSegment
from groundkit_core.index.segment_file import SegmentFile
from groundkit_core.index.spaces import Space, active_space, dense_segments
from groundkit_core.index.store import SEGMENTS, Manifest, Store, file_identity
from groundkit_core.terms import Analyzer

if TYPE_CHECKING:
    from groundkit_core.index.allowed import Allowed
    from groundkit_core.retrieval.filters import Filter

__all__ = ["Reader", "View", "check_analysis"]

_FILTERS_KEPT = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Contents:
    """The mapped segments of a generation and the counts over their live chunks."""

    manifest: Manifest
    analyzer: Analyzer
    lexical: LexicalIndex
    chunks: int
    terms: int
    space: Space | None = None
    dense: tuple[DenseSegment, ...] = ()
    filtered: dict[str, "Allowed"] = field(default_factory=dict)
    """What the last filters let through, by their JSON."""


@dataclass(frozen=True, slots=True)
class View:
    """A generation's contents beside the open read transaction."""

    store: Store
    contents: Contents

    def allowed(self, filters: "Filter") -> "Allowed":
        """What a filter lets through; kept for the next query with the same filter."""
        from groundkit_core.index.allowed import Allowed, allowed_documents

        held, key = self.contents.filtered, filters.model_dump_json(exclude_none=True)
        found = held.get(key)
        if found is None:
            found = Allowed(allowed_documents(self.store, filters), self.contents.lexical)
            # Several threads may be here, so nothing is looked up that another may drop.
            for oldest in list(held)[: max(0, len(held) + 1 - _FILTERS_KEPT)]:
                held.pop(oldest, None)
            held[key] = found
        return found


class Reader:
    """Opens views; keeps a connection a thread and maps only files that are new."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._contents: Contents | None = None
        self._mapped: dict[tuple[str, int], LexicalSegment] = {}
        self._dense: dict[tuple[str, bytes], DenseSegment] = {}

    def run(self, query: Callable[[View], T]) -> T:
        """Answer a query in one read transaction."""
        with held_at_forks():
            return self._run_again(query)

    def _run_again(self, query: Callable[[View], T]) -> T:
        while True:
            try:
                return self._run(query)
            except FileNotFoundError as error:
                # A writer swept it between our reading its name and opening it, or it is lost.
                if self._current() == self._local.version:
                    raise CollectionCorruptError(
                        f"{error.filename}: the segment file is missing"
                    ) from None

    def _current(self) -> tuple[int, str]:
        """Generation and token as they are now."""
        store = self._store()
        try:
            with store.read():
                return store.meta("generation"), store.meta("token")
        finally:
            if store.frozen:
                store.close()

    def _run(self, query: Callable[[View], T]) -> T:
        store = self._store()
        try:
            with store.read():
                return query(View(store, self._load(store)))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise CollectionError(f"{error.filename}: {error.strerror}") from None
        finally:
            if store.frozen:
                store.close()

    def _store(self) -> Store:
        """This thread's connection, made anew in a forked child and for another database file."""
        key = (os.getpid(), file_identity(self._path))
        held = getattr(self._local, "held", None)
        if held is not None and held[0] == key and not held[1].frozen:
            store: Store = held[1]
        else:
            store = Store.open_readable(self._path)
            # Not those of a writer, whose lock another thread may hold at the fork.
            closed_in_children(store)
            self._local.held = (key, store)
        return store

    def _load(self, store: Store) -> Contents:
        held = self._contents
        version = (store.meta("generation"), store.meta("token"))
        self._local.version = version
        if held is not None and version == (held.manifest.generation, held.manifest.token):
            return held
        manifest = store.manifest()
        if held is not None and held.manifest.token != manifest.token:
            self._mapped, self._dense = {}, {}
        analyzer = Analyzer(manifest.language, manifest.stop_words)
        check_analysis(self._path, manifest, analyzer)
        try:
            contents = self._map(store, manifest, analyzer)
        except (TypeError, ValueError, OverflowError):
            raise CollectionCorruptError(
                f"{self._path}: the list of segments is damaged; see grk doctor"
            ) from None
        self._contents = contents
        return contents

    def _map(self, store: Store, manifest: Manifest, analyzer: Analyzer) -> Contents:
        mapped: dict[tuple[str, int], LexicalSegment] = {}
        chunks = terms = 0
        for file, size, checksum, n, total, ordinals, dead, dead_terms in store.rows(
            "SELECT file, bytes, checksum, segment.chunks, segment.terms, "
            "ifnull(ordinals, x''), ifnull(dead.chunks, 0), ifnull(dead.terms, 0) "
            "FROM segment LEFT JOIN dead USING (seg) WHERE kind='lexical' ORDER BY first_seq"
        ):
            if len(ordinals) != 4 * dead:
                raise ValueError("a list of dead chunks has another length than recorded")
            # Within one file the dead only grow, so their number tells their version.
            key = (file, dead)
            mapped[key] = self._mapped.get(key) or LexicalSegment.open(
                self._path / SEGMENTS,
                SegmentFile(file, size, checksum),
                np.frombuffer(ordinals, np.uint32),
            )
            if mapped[key].size != n or not 0 <= dead_terms <= total:
                raise ValueError("a segment has other counts than recorded")
            chunks += n - dead
            terms += total - dead_terms
        self._mapped = mapped
        space = active_space(store)
        dense = self._map_dense(store, space) if space else ()
        index = LexicalIndex(tuple(mapped.values()))
        return Contents(manifest, analyzer, index, chunks, terms, space, dense)

    def _map_dense(self, store: Store, space: Space) -> tuple[DenseSegment, ...]:
        """The space's segments; each is opened by the first search that needs it."""
        self._dense = {
            key: self._dense.get(key, segment)
            for _, segment in dense_segments(store, space)
            for key in [(segment.file.file, segment.dead.tobytes())]
        }
        return tuple(self._dense.values())

    def close(self) -> None:
        """Close this thread's connection and let go of the mapped files."""
        held = getattr(self._local, "held", None)
        if held is not None and held[0][0] == os.getpid():
            held[1].close()
        self._local = threading.local()
        self._contents = None
        self._mapped = {}
        self._dense = {}


def check_analysis(path: Path, manifest: Manifest, analyzer: Analyzer) -> None:
    """Refuse a collection whose terms were derived by other rules than ours."""
    if manifest.analysis != analyzer.identity:
        raise CollectionIncompatibleError(
            f"{path}: its terms were made by {manifest.analysis}, this version makes "
            f"{analyzer.identity}; run: grk collections reindex {path.name}"
        )
