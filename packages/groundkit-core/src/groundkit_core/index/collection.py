"""A collection: one directory, one writer at a time, any number of readers."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from groundkit_core.blocking import result_of
from groundkit_core.config import ChunkingConfig, ExtractionConfig
from groundkit_core.contracts import (
    Citation,
    CollectionInfo,
    CollectionSummary,
    Document,
    IngestReport,
    PassageWindow,
    SearchMode,
    SearchResponse,
    Verification,
)
from groundkit_core.embedding import EmbeddingIdentity, EmbeddingProtocol, identity_of
from groundkit_core.errors import CollectionNotFoundError, ConfigurationError, RetrievalError
from groundkit_core.failpoints import reach
from groundkit_core.index.info import describe, summarise
from groundkit_core.index.names import collection_name
from groundkit_core.index.roots import recorded_roots
from groundkit_core.index.store import DATABASE, file_identity
from groundkit_core.index.view import Reader, View
from groundkit_core.loading.worker import MAX_SECONDS
from groundkit_core.retrieval import search as searching
from groundkit_core.retrieval.diversity import Diversity
from groundkit_core.retrieval.legs import Fusion
from groundkit_core.retrieval.search import Query
from groundkit_core.retrieval.sources import SourceReader, SourceRouter
from groundkit_core.retrieval.verify import Cited, held_passages, resolve_all, with_verdicts
from groundkit_core.retrieval.window import window
from groundkit_core.vectors import unit_vectors

if TYPE_CHECKING:
    from groundkit_core.index.backfill import Embedded, EmbedProgress
    from groundkit_core.index.intake import MetadataOf
    from groundkit_core.index.sync import Progress
    from groundkit_core.loading.snapshot import Snapshot
    from groundkit_core.retrieval.filters import Filter

__all__ = ["Collection"]

_LOCK_SECONDS = 60.0


class Collection:
    """A searchable set of documents in one directory.

    `reader` reads sources that are no files; `roots` re-points labels at other folders;
    `embedder` makes the vectors of the modes `dense` and `hybrid`.
    """

    def __init__(
        self,
        path: Path,
        *,
        reader: SourceReader | None = None,
        roots: Mapping[str, Path] | None = None,
        embedder: EmbeddingProtocol | None = None,
    ) -> None:
        self.path = path.with_name(collection_name(path.name))
        self._reader = Reader(path)
        self._source_reader = reader
        self.embedder = embedder
        self._given_roots = {label: Path(root) for label, root in (roots or {}).items()}

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        reader: SourceReader | None = None,
        roots: Mapping[str, Path] | None = None,
        embedder: EmbeddingProtocol | None = None,
    ) -> Self:
        """The collection at a path; nothing is touched before the first read or write."""
        return cls(Path(path).absolute(), reader=reader, roots=roots, embedder=embedder)

    @property
    def name(self) -> str:
        """The directory's name."""
        return self.path.name

    def exists(self) -> bool:
        """Whether there is a collection at the path."""
        try:
            file_identity(self.path)
        except CollectionNotFoundError:
            return False
        return True

    def close(self) -> None:
        """Let go of the files and of this thread's connection."""
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Reading

    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: SearchMode = "bm25",
        verify: bool = False,
        all_copies: bool = False,
        fusion: Fusion | None = None,
        filters: "Filter | None" = None,
        diversity: Diversity | None = None,
    ) -> SearchResponse:
        """The best passages for a query, best first.

        `verify` reads the sources again and labels each result; `all_copies` lists passages with
        the same text one by one; `fusion` weighs words and vectors against each other; `filters`
        says which documents may be found; `diversity` keeps one of them from filling the results.
        """
        return self.search_many(
            [query],
            top_k=top_k,
            mode=mode,
            verify=verify,
            all_copies=all_copies,
            fusion=fusion,
            filters=filters,
            diversity=diversity,
        )[0]

    def search_many(
        self,
        queries: Iterable[str],
        *,
        top_k: int | None = None,
        mode: SearchMode = "bm25",
        verify: bool = False,
        all_copies: bool = False,
        fusion: Fusion | None = None,
        filters: "Filter | None" = None,
        diversity: Diversity | None = None,
    ) -> list[SearchResponse]:
        """A response for each query, all from one generation; vectors are made in one batch."""
        if isinstance(queries, str):
            raise RetrievalError("one query is for search; search_many takes a list of them")
        asked = [
            Query(
                query,
                top_k,
                mode,
                all_copies,
                fusion=fusion or Fusion(),
                filters=filters,
                diversity=diversity or Diversity(),
            )
            for query in queries
        ]
        if mode != "bm25":
            asked = result_of(self.with_vectors(asked, self.embedder))
        return self.run(asked, verify=verify)

    async def with_vectors(
        self, asked: Sequence[Query], embedder: EmbeddingProtocol | None
    ) -> list[Query]:
        """The queries with their vectors, after the embedder was found to be the collection's."""
        if not asked:
            return []
        if embedder is None:
            raise RetrievalError(f"mode {asked[0].mode} needs an embedder")
        identity = identity_of(embedder)
        self._reader.run(lambda view: searching.check_space(view, identity))
        found = await embedder.embed([query.text for query in asked], purpose="query")
        vectors = unit_vectors(found, len(asked), identity.dimensions, identity.model_name)
        return [
            replace(query, vector=vectors[at : at + 1], identity=identity)
            for at, query in enumerate(asked)
        ]

    def run(self, asked: Sequence[Query], *, verify: bool = False) -> list[SearchResponse]:
        """The best passages for each of some checked queries, from one generation."""
        responses = self._reader.run(
            lambda view: [searching.search(view, query, self.name) for query in asked]
        )
        return [self.verified(response) for response in responses] if verify else responses

    def verified(self, response: SearchResponse) -> SearchResponse:
        """The response with each result's verdict, its source read in this call."""
        cited = [(result.citation, result.content) for result in response.results]
        return with_verdicts(response, self.verify_all(cited))

    def verify(self, citation: Citation, *, content: str | None = None) -> Verification:
        """Whether the cited text still stands in its source, which is read in this call."""
        return self.verify_all([(citation, content)])[0]

    def verify_all(self, cited: Sequence[Cited]) -> list[Verification]:
        """Verdicts on citations, given with their text where it is at hand."""
        router = SourceRouter(self.roots(), self._source_reader, self._snapshot)
        return resolve_all(
            cited,
            router,
            lambda some, counted: self._reader.run(lambda view: held_passages(view, some, counted)),
        )

    def _snapshot(self, source: str) -> bytes | None:
        """What a URL gave when it was fetched."""
        select = "SELECT body FROM snapshot JOIN document USING (doc) WHERE source=?"
        rows = self._reader.run(lambda view: view.store.rows(select, source))
        return rows[0][0] if rows else None

    def passages(self) -> Iterator[list[tuple[Citation, str]]]:
        """Citations and texts of all passages, a list for each document in order of source."""
        documents = self._reader.run(
            lambda view: view.store.rows("SELECT doc FROM document ORDER BY source")
        )
        for (doc,) in documents:
            yield self._reader.run(partial(searching.passages, doc=doc))

    def fetch(
        self, chunk_id: str, *, before: int = 0, after: int = 0, verify: bool = False
    ) -> PassageWindow:
        """A passage by its id, with as many before and after it in its document."""
        found = self._reader.run(lambda view: window(view, chunk_id, before, after, self.name))
        if not verify:
            return found
        passage = found.passages[found.at]
        verdict = self.verify(passage.citation, content=passage.content)
        return found.model_copy(update={"verification": verdict})

    def matches(self, query: str, texts: Iterable[str]) -> list[list[tuple[int, int]]]:
        """Spans of the words in each text that match the query, for emphasis."""
        analyzer = self._reader.run(lambda view: view.contents.analyzer)
        terms = analyzer.query_terms(query)
        return [list(analyzer.matches(text, terms)) for text in texts]

    def check(self) -> list[str]:
        """What is damaged, one sentence a finding, after reading every byte."""
        from groundkit_core.index.check import check

        return list(check(self.path))

    def check_segments(self, known: Set[str] = frozenset()) -> tuple[frozenset[str], list[str]]:
        """Names of the segment files, and what is damaged in those that are not known."""
        from groundkit_core.index.check import LISTED, damaged_files

        listed = self._reader.run(lambda view: view.store.rows(LISTED))
        fresh = [row for row in listed if row[0] not in known]
        return frozenset(row[0] for row in listed), list(damaged_files(self.path, fresh))

    def export_bm25s(self, path: str | Path) -> int:
        """Save a frozen copy for bm25s; returns the number of passages."""
        from groundkit_core.index.export import export_bm25s

        return self._reader.run(lambda view: export_bm25s(view, Path(path)))

    def info(self) -> CollectionInfo:
        """Counts, settings and roots."""
        return self._reader.run(lambda view: describe(view, self.path, self._roots(view)))

    def version(self) -> tuple[str, int]:
        """What no other state of the collection at this path has: its token and generation."""
        return self._reader.run(
            lambda view: (view.contents.manifest.token, view.contents.manifest.generation)
        )

    def summary(self) -> CollectionSummary:
        """Counts alone, at once."""
        return self._reader.run(lambda view: summarise(view, self.name))

    def embedding(self) -> EmbeddingIdentity | None:
        """The identity of the vectors that are searched; None without vectors."""
        space = self._reader.run(lambda view: view.contents.space)
        return space.identity if space else None

    def roots(self) -> dict[str, Path]:
        """The folder that each label names."""
        return self._reader.run(self._roots)

    def _roots(self, view: View) -> dict[str, Path]:
        recorded = recorded_roots(view.store)
        unknown = self._given_roots.keys() - recorded.keys()
        if unknown:
            raise ConfigurationError(
                f"{self.name}: no root is called {', '.join(sorted(unknown))}; "
                f"it has: {', '.join(sorted(recorded)) or 'none'}"
            )
        return {**recorded, **{label: root.absolute() for label, root in self._given_roots.items()}}

    # Writing

    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        chunking: ChunkingConfig | None = None,
        extraction: ExtractionConfig | None = None,
        language: str | None = None,
        roots: Mapping[str, Path] | None = None,
        ignore: bool = True,
        rehash: bool = False,
        keep_missing: bool = False,
        allow_removal: bool = False,
        max_seconds: float = MAX_SECONDS,
        metadata: "Mapping[str, object] | MetadataOf | None" = None,
        progress: "Progress | None" = None,
        embed_progress: "EmbedProgress | None" = None,
        lock_timeout: float = _LOCK_SECONDS,
    ) -> IngestReport:
        """Bring the collection up to date with files and folders; then with its embedder, if any.

        `chunking` and `language` (default: structure-aware, english) are fixed when the collection
        is created; `extraction` holds from this run on. `rehash` reads files whose size and times
        are unchanged; `keep_missing` leaves passages of files that are gone; `allow_removal`
        permits removing more than half of a root. A file that takes more than `max_seconds` to
        extract is refused.
        `metadata` that is a mapping is recorded for all documents at and beneath the paths, in this
        run and later ones; None for a key ends that. A function is called with each document that
        this run reads, and what it gives is kept until the document is read again.
        """
        from groundkit_core.index import ingest
        from groundkit_core.index.intake import SyncOptions

        options = SyncOptions(
            ignore=ignore,
            rehash=rehash,
            keep_missing=keep_missing,
            allow_removal=allow_removal,
            max_seconds=max_seconds,
            metadata_of=metadata if callable(metadata) else None,
        )
        given = None if callable(metadata) else metadata
        settings = ingest.Settings(chunking, extraction, language, lock_timeout)
        found = [Path(path).absolute() for path in paths]
        named = {label: Path(root).absolute() for label, root in (roots or {}).items()}
        report = ingest.ingest(
            self.path,
            found,
            named,
            settings,
            options,
            progress,
            embedder=self.embedder,
            given=given,
        )
        return self._with_vectors(report, lock_timeout, embed_progress)

    def add(
        self,
        documents: Iterable[Document],
        *,
        chunking: ChunkingConfig | None = None,
        language: str | None = None,
        lock_timeout: float = _LOCK_SECONDS,
    ) -> IngestReport:
        """Add or replace documents that are no files, by their source."""
        from groundkit_core.index import ingest

        settings = ingest.Settings(chunking, None, language, lock_timeout)
        report = ingest.add(self.path, list(documents), settings, embedder=self.embedder)
        return self._with_vectors(report, lock_timeout)

    def add_snapshots(
        self,
        snapshots: "Iterable[Snapshot]",
        *,
        refused: Mapping[str, str] = MappingProxyType({}),
        chunking: ChunkingConfig | None = None,
        extraction: ExtractionConfig | None = None,
        language: str | None = None,
        max_seconds: float = MAX_SECONDS,
        metadata: "Mapping[str, object] | MetadataOf | None" = None,
        embed_progress: "EmbedProgress | None" = None,
        lock_timeout: float = _LOCK_SECONDS,
    ) -> IngestReport:
        """Add or replace what URLs gave, and keep the bytes so that citations can be checked.

        `refused` says of other URLs why they gave nothing; their passages stay as they are.
        """
        from groundkit_core.index import ingest
        from groundkit_core.index.intake import SyncOptions

        given = metadata if callable(metadata) or metadata is None else lambda _: metadata
        options = SyncOptions(max_seconds=max_seconds, metadata_of=given)
        report = ingest.add_snapshots(
            self.path,
            snapshots,
            ingest.Settings(chunking, extraction, language, lock_timeout),
            options,
            refused=refused,
            embedder=self.embedder,
        )
        return self._with_vectors(report, lock_timeout, embed_progress)

    def _with_vectors(
        self,
        report: IngestReport,
        lock_timeout: float,
        progress: "EmbedProgress | None" = None,
    ) -> IngestReport:
        """The report, after passages without a vector got one if there is an embedder."""
        if self.embedder is None:
            return report
        done = self.embed(progress=progress, lock_timeout=lock_timeout)
        warnings = report.warnings
        if done.wordless:
            warnings = (*warnings, f"{done.wordless} passages have no word and so no vector")
        if cut := getattr(self.embedder, "truncated", 0):
            warnings = (*warnings, f"{cut} texts are longer than the model's window and were cut")
        return report.model_copy(
            update={
                "embedded": done.texts,
                "generation": done.generation,
                "warnings": warnings,
            }
        )

    def embed(
        self, *, progress: "EmbedProgress | None" = None, lock_timeout: float = _LOCK_SECONDS
    ) -> "Embedded":
        """Give a vector to every passage that has none; each distinct text is embedded once."""
        from groundkit_core.index import ingest

        self._must_exist()
        if self.embedder is None:
            raise ConfigurationError(f"{self.name}: there is no embedder")
        return ingest.embed(self.path, self.embedder, lock_timeout, progress)

    def change_embedder(
        self,
        embedder: EmbeddingProtocol,
        *,
        progress: "EmbedProgress | None" = None,
        lock_timeout: float = _LOCK_SECONDS,
    ) -> "Embedded":
        """Make all vectors with another embedder, and swap them in one commit once they are whole.

        A run that was stopped goes on where it was.
        """
        from groundkit_core.index import ingest

        self._must_exist()
        done = ingest.change_embedder(self.path, embedder, lock_timeout, progress)
        self.embedder = embedder
        return done

    def remove(
        self, sources: Iterable[str], *, lock_timeout: float = _LOCK_SECONDS
    ) -> IngestReport:
        """Remove documents by their source."""
        from groundkit_core.index import ingest

        self._must_exist()
        return ingest.remove(self.path, list(sources), lock_timeout)

    def reindex(self, *, language: str | None = None, lock_timeout: float = _LOCK_SECONDS) -> None:
        """Derive the terms of all passages anew, with this version's rules."""
        from groundkit_core.index import ingest

        self._must_exist()
        ingest.reindex(self.path, language, lock_timeout)

    def repair(self, *, lock_timeout: float = _LOCK_SECONDS) -> list[str]:
        """Rebuild damaged segments from passages and damaged passages from their sources.

        Returns a sentence for each thing done, or not done and why.
        """
        from groundkit_core.index import ingest

        self._must_exist()
        return ingest.repair(self.path, lock_timeout)

    def compact(self, *, lock_timeout: float = _LOCK_SECONDS) -> None:
        """Merge all segments into one and give back the space of what was deleted."""
        from groundkit_core.index import ingest

        self._must_exist()
        ingest.compact(self.path, lock_timeout)

    def delete(self, *, lock_timeout: float = _LOCK_SECONDS) -> None:
        """Delete the collection's directory."""
        from groundkit_core.index.lock import writer_lock
        from groundkit_core.index.store import disk_errors

        self._must_exist()
        self.close()
        with disk_errors(self.path), writer_lock(self.path, lock_timeout):
            # Without its database the rest is no collection, whenever we are stopped.
            (self.path / DATABASE).unlink()
            reach("delete.begun")
            shutil.rmtree(self.path)

    def _must_exist(self) -> None:
        if not self.exists():
            raise CollectionNotFoundError(self.path)
