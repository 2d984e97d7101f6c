"""What one query sees: the settings, segments and rows of a single generation."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from groundkit_core.errors import CollectionCorruptError, CollectionIncompatibleError
from groundkit_core.index.lexical import LexicalSegment
from groundkit_core.index.segment_file import SegmentFile
from groundkit_core.index.store import SEGMENTS, Manifest, Store
from groundkit_core.terms import Analyzer

__all__ = ["Reader", "View"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Contents:
    """The mapped segments of a generation and the counts over their live chunks."""

    manifest: Manifest
    analyzer: Analyzer
    segments: tuple[LexicalSegment, ...]
    chunks: int
    terms: int


@dataclass(frozen=True, slots=True)
class View:
    """A generation's contents beside the open read transaction."""

    store: Store
    contents: Contents


class Reader:
    """Opens views; keeps a connection a thread and maps only files that are new."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._contents: Contents | None = None
        self._mapped: dict[tuple[str, int], LexicalSegment] = {}

    def run(self, query: Callable[[View], T]) -> T:
        """Answer a query in one read transaction."""
        try:
            return self._run(query)
        except FileNotFoundError:
            # A writer swept a segment between our reading its name and opening it.
            pass
        try:
            return self._run(query)
        except FileNotFoundError as error:
            raise CollectionCorruptError(f"{error.filename}: the segment file is missing") from None

    def _run(self, query: Callable[[View], T]) -> T:
        store = self._store()
        with store.read():
            return query(View(store, self._load(store)))

    def _store(self) -> Store:
        held = getattr(self._local, "held", None)
        # A connection must not cross a fork.
        if held is None or held[0] != os.getpid():
            held = self._local.held = (os.getpid(), Store.open_readable(self._path))
        store: Store = held[1]
        return store

    def _load(self, store: Store) -> Contents:
        generation = store.meta("generation")
        held = self._contents
        if held is not None and held.manifest.generation == generation:
            return held
        manifest = store.manifest()
        analyzer = Analyzer(manifest.language, manifest.stop_words)
        check_analysis(self._path, manifest, analyzer)
        mapped: dict[tuple[str, int], LexicalSegment] = {}
        chunks = terms = 0
        for file, size, checksum, n, total, ordinals, dead, dead_terms in store.rows(
            "SELECT file, bytes, checksum, segment.chunks, segment.terms, "
            "ifnull(ordinals, x''), ifnull(dead.chunks, 0), ifnull(dead.terms, 0) "
            "FROM segment LEFT JOIN dead USING (seg) WHERE kind='lexical' ORDER BY first_seq"
        ):
            key = (file, dead)
            if len(ordinals) != 4 * dead:
                raise CollectionCorruptError(f"{self._path}: the dead of {file} are damaged")
            mapped[key] = self._mapped.get(key) or LexicalSegment.open(
                self._path / SEGMENTS,
                SegmentFile(file, size, checksum),
                np.frombuffer(ordinals, np.uint32),
            )
            chunks += n - dead
            terms += total - dead_terms
        self._mapped = mapped
        self._contents = Contents(manifest, analyzer, tuple(mapped.values()), chunks, terms)
        return self._contents

    def close(self) -> None:
        """Close this thread's connection and let go of the mapped files."""
        held = getattr(self._local, "held", None)
        if held is not None and held[0] == os.getpid():
            held[1].close()
        self._local = threading.local()
        self._contents = None
        self._mapped = {}


def check_analysis(path: Path, manifest: Manifest, analyzer: Analyzer) -> None:
    """Refuse a collection whose terms were derived by other rules than ours."""
    if manifest.analysis != analyzer.identity:
        raise CollectionIncompatibleError(
            f"{path}: its terms were made by {manifest.analysis}, this version makes "
            f"{analyzer.identity}; run: grk collections reindex {path.name}"
        )
