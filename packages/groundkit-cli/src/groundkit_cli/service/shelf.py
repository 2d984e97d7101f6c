"""The collections of an index directory, kept open while the process runs."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from groundkit_core.contracts import CollectionSummary
from groundkit_core.embedding import EmbeddingIdentity, EmbeddingProtocol
from groundkit_core.errors import (
    CollectionCorruptError,
    CollectionError,
    CollectionNotFoundError,
    ConfigurationError,
    GroundkitError,
)
from groundkit_core.index.collection import Collection
from groundkit_core.index.names import is_collection_name
from groundkit_core.index.store import DATABASE

from groundkit_cli.service.errors import ServiceError
from groundkit_cli.service.logs import event

__all__ = ["MakeEmbedder", "Shelf"]

Version = tuple[str, int]
MakeEmbedder = Callable[[Collection], EmbeddingProtocol]
"""Makes the embedder whose vectors a collection holds."""

_KEPT_OPEN = 32
"""Each takes some file descriptors for each thread."""


class Shelf:
    """Opens each collection and each embedder once.

    Files that a new generation brings are read through once, beside the searches; a collection with
    a damaged one is refused from then on.
    """

    def __init__(
        self,
        folder: Path,
        default: str,
        *,
        roots: Mapping[str, Path] | None = None,
        make_embedder: MakeEmbedder,
    ) -> None:
        self.default = default
        self._folder = folder
        self._roots = dict(roots or {})
        self._make_embedder = make_embedder
        self._open: OrderedDict[str, Collection] = OrderedDict()
        self._embedders: dict[EmbeddingIdentity, EmbeddingProtocol] = {}
        self._lock = threading.Lock()
        # Loading takes seconds, which no other search has to wait for.
        self._loading = threading.Lock()
        self._checked: dict[str, tuple[Version, frozenset[str]]] = {}
        self._damaged: dict[str, str] = {}
        self._checker = ThreadPoolExecutor(1, thread_name_prefix="check")

    def names(self) -> list[str]:
        """Names of the collections that there are now."""
        try:
            found = sorted(path.parent.name for path in self._folder.glob(f"*/{DATABASE}"))
        except OSError as error:
            raise CollectionError(f"{self._folder}: {error.strerror}") from None
        return [name for name in found if is_collection_name(name)]

    def check_default(self) -> None:
        """Refuse to start where there is nothing to search."""
        if not self._folder.is_dir():
            raise CollectionNotFoundError(self._folder)
        collection, others = self.collection_at(self.default), self.names()
        if not collection.exists():
            if others:
                raise CollectionError(
                    f"there is no collection {self.default}; --collection may be: "
                    + ", ".join(others)
                )
            raise CollectionNotFoundError(collection.path)
        collection.summary()

    def collection(self, name: str | None) -> Collection:
        """The collection of a name, or the default one."""
        found = self.check_exists(name)
        wanted = found.name
        if wanted in self._damaged:
            # Only a new generation can have mended it, and it has to be read first.
            self.seen(found, wait=True)
            if damage := self._damaged.get(wanted):
                raise CollectionCorruptError(damage)
        return found

    def check_exists(self, name: str | None) -> Collection:
        """The collection of a name, or the default one; refused where there is none now."""
        wanted = self.default if name is None else name
        found = self.collection_at(wanted)
        if not found.exists():
            with self._lock:
                for held in (self._open, self._checked, self._damaged):
                    held.pop(wanted, None)
            raise ServiceError("collection_not_found", f"there is no collection {wanted}")
        return found

    def collection_at(self, name: str) -> Collection:
        """The collection of a name, whether there is one or not."""
        with self._lock:
            found = self._open.get(name)
            if found is None:
                roots = self._roots if name == self.default else None
                found = self._open[name] = Collection.open(self._folder / name, roots=roots)
            self._open.move_to_end(name)
            while len(self._open) > _KEPT_OPEN:
                self._open.popitem(last=False)
        return found

    def summary(self, name: str) -> CollectionSummary:
        """Counts of a collection, which need not be kept open for that."""
        if name in self._open or name in self._damaged:
            return self.collection(name).summary()
        with Collection.open(self._folder / name) as passing:
            return passing.summary()

    def embedder(self, collection: Collection) -> EmbeddingProtocol:
        """The embedder of the collection's vectors, loaded once for all that have such vectors."""
        identity = collection.embedding()
        if identity is None:
            raise ServiceError(
                "invalid_request", f"{collection.name} has no vectors; use mode bm25"
            )
        if (found := self._embedders.get(identity)) is not None:
            return found
        with self._loading:
            found = self._embedders.get(identity)
            if found is None:
                try:
                    found = self._embedders[identity] = self._make_embedder(collection)
                except ConfigurationError as error:
                    raise ServiceError(
                        "embedder_failed", "the embedder is not set up", detail=str(error)
                    ) from None
                event(logging.INFO, "embedder_loaded", collection=collection.name)
        return found

    def seen(self, collection: Collection, *, wait: bool = False) -> Version:
        """Have files of the collection read through that were not met before; gives its version."""
        version = collection.version()
        with self._lock:
            before, known = self._checked.get(collection.name, (None, frozenset()))
            if before == version:
                return version
            self._checked[collection.name] = (version, known)
        checking = self._checker.submit(self._check, collection.name, version, known)
        if wait:
            checking.result()
        return version

    def _check(self, name: str, version: Version, known: frozenset[str]) -> None:
        try:
            with Collection.open(self._folder / name) as collection:
                files, findings = collection.check_segments(known)
        except CollectionCorruptError as error:
            files, findings = frozenset(), [str(error)]
        except GroundkitError:
            # It is being deleted, or files cannot be opened now: the next search has it checked.
            with self._lock:
                self._checked.pop(name, None)
            return
        with self._lock:
            self._checked[name] = (version, frozenset() if findings else files)
            if findings:
                self._damaged[name] = findings[0]
            else:
                self._damaged.pop(name, None)
        for finding in findings:
            event(logging.ERROR, "collection_damaged", collection=name, finding=finding)

    def close(self) -> None:
        """Let go of everything; what is being checked is left."""
        self._checker.shutdown(wait=False, cancel_futures=True)
        for collection in self._open.values():
            collection.close()
