"""Giving vectors to the passages that have none."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from groundkit_core.blocking import result_of
from groundkit_core.embedding import EmbeddingIdentity, EmbeddingProtocol, Vectors, identity_of
from groundkit_core.errors import EmbeddingError
from groundkit_core.index.changes import embed_key, indexed_text
from groundkit_core.index.spaces import Space, Spaces
from groundkit_core.index.store import Store, disk_errors
from groundkit_core.vectors import unit_vectors

__all__ = ["EmbedProgress", "Embedded", "embed_missing", "without_vector"]

EmbedProgress = Callable[[int, int], None]
"""Called with the passages done and those there are."""

_PENDING = (
    "seq > ? AND (embed_key IS NULL OR (embed_key <> '' AND "
    "NOT EXISTS (SELECT 1 FROM vector WHERE space=? AND key=embed_key)))"
)
_Row = tuple[int, str, str | None, str, str]
_ROWS_AT_ONCE = 2_000
_COMMIT_AT = 2_000
_TEXTS_AT_ONCE = 32
"""Texts in a call of an embedder that does not say how many it takes in one request."""


@dataclass(slots=True)
class Embedded:
    """What a run did: texts embedded, and passages of the collection without a word to embed."""

    texts: int = 0
    wordless: int = 0
    generation: int = 0


@dataclass(slots=True)
class _Batch:
    """What goes into the next commit: keys of passages, and texts with their vectors."""

    passages: list[tuple[str, int]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    vectors: list[Vectors] = field(default_factory=list)


def embed_missing(
    store: Store, embedder: EmbeddingProtocol, progress: EmbedProgress | None = None
) -> Embedded:
    """Embed each distinct text once; what was finished is kept whatever happens then.

    The vectors go to the space of the embedder's identity, which is made with the first of
    them. The error of a failing embedder names the source that it failed at.
    """
    run = _Run(store, embedder, progress)
    try:
        run.all()
    finally:
        run.commit()
    run.note_whole()
    with disk_errors(store.path):
        run.done.generation = store.meta("generation")
        run.done.wordless = store.rows("SELECT count(*) FROM chunk WHERE embed_key=''")[0][0]
    return run.done


def without_vector(store: Store, space: Space | None) -> int:
    """Number of passages that have no vector in a space."""
    number = space.number if space else 0
    whole = Spaces(store).whole(number)
    return int(store.rows(f"SELECT count(*) FROM chunk WHERE {_PENDING}", whole, number)[0][0])


class _Run:
    def __init__(
        self, store: Store, embedder: EmbeddingProtocol, progress: EmbedProgress | None
    ) -> None:
        self._store = store
        self._spaces = Spaces(store)
        self._embedder = embedder
        self._identity: EmbeddingIdentity = identity_of(embedder)
        self._space = self._spaces.named(self._identity)
        self._progress = progress
        self._batch = _Batch()
        self._at_once = int(getattr(embedder, "batch_size", _TEXTS_AT_ONCE))
        self.done = Embedded()

    def all(self) -> None:
        """Go through the passages without a vector in the order in which they came."""
        with disk_errors(self._store.path):
            total = without_vector(self._store, self._space)
            last = self._spaces.whole(self._space.number) if self._space else 0
        passed = 0
        while rows := self._pending(last):
            last = rows[-1][0]
            wanted = list(self._wanted(rows))
            passed += len(rows) - len(wanted)
            for first in range(0, len(wanted), self._at_once):
                part = wanted[first : first + self._at_once]
                self._embed(part)
                passed += len(part)
                if self._progress is not None:
                    self._progress(passed, total)

    def _pending(self, last: int) -> list[_Row]:
        with disk_errors(self._store.path):
            return self._store.rows(
                "SELECT seq, source, title, headings, content FROM chunk "
                f"JOIN document USING (doc) WHERE {_PENDING} ORDER BY seq LIMIT ?",
                last,
                self._space.number if self._space else 0,
                _ROWS_AT_ONCE,
            )

    def _wanted(self, rows: Sequence[_Row]) -> Iterator[tuple[str, str, str]]:
        """Key, text and source of each text that has no vector yet; notes the passages' keys."""
        seen = set(self._batch.keys)
        for seq, source, title, headings, content in rows:
            text = indexed_text(title, json.loads(headings), content)
            key = embed_key(text)
            self._batch.passages.append((key, seq))
            if key and key not in seen and not self._known(key):
                seen.add(key)
                yield key, text, source

    def _known(self, key: str) -> bool:
        if self._space is None:
            return False
        number = self._space.number
        with disk_errors(self._store.path):
            return bool(
                self._store.rows("SELECT 1 FROM vector WHERE space=? AND key=?", number, key)
            )

    def _embed(self, part: Sequence[tuple[str, str, str]]) -> None:
        problem: EmbeddingError | None = None
        try:
            found = result_of(
                self._embedder.embed([text for _, text, _ in part], purpose="document")
            )
            who = f"{self._identity.provider} {self._identity.model_name}"
            vectors = unit_vectors(found, len(part), self._identity.dimensions, who)
        except EmbeddingError as error:
            problem = error
        if problem is not None:
            raise type(problem)(f"{part[(problem.place or 1) - 1][2]}: {problem}")
        self._batch.keys += [key for key, _, _ in part]
        self._batch.vectors.append(vectors)
        self.done.texts += len(part)
        if len(self._batch.keys) >= _COMMIT_AT:
            self.commit()

    def note_whole(self) -> None:
        """Note that all passages so far have their vectors, so that no later run looks at them."""
        if self._space is not None:
            with disk_errors(self._store.path):
                self._spaces.note_whole(self._space.number)

    def commit(self) -> None:
        """Make what is finished live."""
        batch, self._batch = self._batch, _Batch()
        if not (batch.passages or batch.keys):
            return
        with disk_errors(self._store.path):
            self._commit(batch)

    def _commit(self, batch: _Batch) -> None:
        file = None
        if batch.keys:
            file = self._spaces.write(batch.keys, np.concatenate(batch.vectors))
        with self._store.write():
            self._store.connection.executemany(
                "UPDATE chunk SET embed_key=? WHERE seq=?", batch.passages
            )
            if file is not None:
                self._space = self._space or self._spaces.create(self._identity)
                self._spaces.add(self._space, file, batch.keys)
            self._store.set_meta(generation=self._store.meta("generation") + 1)
        self._spaces.merge()
        self._store.checkpoint()
