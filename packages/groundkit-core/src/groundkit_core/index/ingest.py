"""The write operations of a collection, each under the writer's lock."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from groundkit_core.config import ChunkingConfig, ExtractionConfig
from groundkit_core.contracts import Document, FileOutcome, IngestReport
from groundkit_core.embedding import EmbeddingProtocol, identity_of
from groundkit_core.errors import (
    CollectionIncompatibleError,
    ConfigurationError,
    IngestError,
    RefusedError,
)
from groundkit_core.failpoints import reach
from groundkit_core.ids import document_id
from groundkit_core.index.backfill import (
    Embedded,
    EmbedProgress,
    embed_missing,
    without_vector,
)
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.index.intake import Intake, SyncOptions
from groundkit_core.index.roots import plan, recorded_roots, stored_path
from groundkit_core.index.spaces import Space, Spaces, active_space
from groundkit_core.index.store import DATABASE, Manifest, disk_errors
from groundkit_core.index.sync import Progress, Sync
from groundkit_core.index.view import check_analysis
from groundkit_core.index.writer import Writer, open_writer
from groundkit_core.loading.snapshot import Snapshot
from groundkit_core.metadata import normalised
from groundkit_core.terms import Analyzer

__all__ = [
    "Settings",
    "add",
    "add_snapshots",
    "change_embedder",
    "compact",
    "embed",
    "ingest",
    "reindex",
    "remove",
    "repair",
]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a new collection is made with; None takes what an existing one was made with."""

    chunking: ChunkingConfig | None = None
    extraction: ExtractionConfig | None = None
    language: str | None = None
    lock_timeout: float = 60.0


def _manifest(settings: Settings) -> Manifest:
    language = settings.language or "english"
    analyzer = Analyzer(language)
    return Manifest(
        analysis=analyzer.identity,
        language=language,
        stop_words=stop_words(language),
        chunking=settings.chunking or ChunkingConfig(),
        extraction=settings.extraction or ExtractionConfig(),
        generation=0,
    )


def _checked_chunking(writer: Writer, settings: Settings) -> ChunkingConfig:
    """The collection's chunking, after its settings were compared with those asked for."""
    manifest, name = writer.manifest, writer.store.path.name
    check_analysis(writer.store.path, manifest, writer.analyzer)
    if settings.language not in (None, manifest.language):
        raise ConfigurationError(
            f"{name}: made for language {manifest.language!r}, not {settings.language!r}; to "
            f"change it run: grk collections reindex {name} --language {settings.language}"
        )
    chunking = manifest.chunking
    if settings.chunking not in (None, chunking):
        raise ConfigurationError(
            f"{name}: made with chunking {chunking.identity}; ingest into another collection, or "
            f"first run: grk collections delete {name}"
        )
    return chunking


def ingest(
    path: Path,
    paths: Sequence[Path],
    named: Mapping[str, Path],
    settings: Settings,
    options: SyncOptions,
    progress: Progress | None,
    *,
    embedder: EmbeddingProtocol | None = None,
    given: Mapping[str, object] | None = None,
) -> IngestReport:
    """Bring the collection up to date with files and folders."""
    if not paths:
        raise IngestError("no path was given")
    normalised(given or {})
    if not (path / DATABASE).exists():
        # So that a run that cannot be planned makes no collection.
        plan(paths, {}, named)
    with (
        open_writer(path, _manifest(settings), settings.lock_timeout) as writer,
        _intake(writer, settings, options) as intake,
    ):
        check_embedder(writer, embedder)
        known = recorded_roots(writer.store)
        targets, roots = plan(paths, known, named)
        for label in roots.keys() - known.keys():
            _check_free(writer, label, roots[label])
        sync = Sync(writer, intake, options, progress)
        sync.survey(targets)
        _note_extraction(writer, settings)
        writer.note_roots(
            {
                label: stored_path(root, path)
                for label, root in roots.items()
                if known.get(label) != root
            }
        )
        if given:
            sync.give(targets, given)
        reach("root.noted")
        sync.run()
        return _report(writer, intake, dense=embedder is not None)


def _check_free(writer: Writer, label: str, root: Path) -> None:
    """Refuse a label that begins the source of a document that is no file."""
    taken = writer.store.rows(
        "SELECT source FROM document WHERE root IS NULL AND (source=? OR substr(source, 1, ?)=?)",
        label,
        len(label) + 1,
        f"{label}/",
    )
    if taken:
        raise ConfigurationError(
            f"the label {label!r} would cover {taken[0][0]!r}, which was added as no file; "
            f"name the folder otherwise: --root LABEL={root}"
        )


def add(
    path: Path,
    documents: Sequence[Document],
    settings: Settings,
    *,
    embedder: EmbeddingProtocol | None = None,
) -> IngestReport:
    """Add or replace documents that are no files."""
    _check_documents(documents)
    with (
        open_writer(path, _manifest(settings), settings.lock_timeout) as writer,
        _intake(writer, settings, SyncOptions()) as intake,
    ):
        check_embedder(writer, embedder)
        labels = {label for (label,) in writer.store.rows("SELECT label FROM root")}
        for document in documents:
            if document.source.partition("/")[0] in labels:
                raise ConfigurationError(
                    f"{document.source}: a source must not begin with the label of a root"
                )
        intake.add(documents)
        return _report(writer, intake, dense=embedder is not None)


def add_snapshots(
    path: Path,
    snapshots: Iterable[Snapshot],
    settings: Settings,
    options: SyncOptions,
    *,
    refused: Mapping[str, str],
    embedder: EmbeddingProtocol | None = None,
) -> IngestReport:
    """Add or replace what URLs gave; `refused` says why others gave nothing."""
    with (
        open_writer(path, _manifest(settings), settings.lock_timeout) as writer,
        _intake(writer, settings, options) as intake,
    ):
        check_embedder(writer, embedder)
        _note_extraction(writer, settings)
        intake.add_snapshots(snapshots)
        for source, reason in refused.items():
            intake.refuse(source, reason)
        return _report(writer, intake, dense=embedder is not None)


@contextmanager
def _intake(writer: Writer, settings: Settings, options: SyncOptions) -> Iterator[Intake]:
    chunking = _checked_chunking(writer, settings)
    with closing(Intake(writer, chunking, _extraction(writer, settings), options)) as intake:
        yield intake


def _extraction(writer: Writer, settings: Settings) -> ExtractionConfig:
    return settings.extraction or writer.manifest.extraction


def _note_extraction(writer: Writer, settings: Settings) -> None:
    """Record settings that hold from now on; what was read with others is read again."""
    wanted = _extraction(writer, settings)
    if wanted != writer.manifest.extraction:
        with disk_errors(writer.store.path), writer.store.write():
            writer.store.set_meta(extraction=wanted.model_dump_json())


def _check_documents(documents: Sequence[Document]) -> None:
    sources: set[str] = set()
    for document in documents:
        if document.source in sources:
            raise ConfigurationError(f"two documents have the source {document.source!r}")
        sources.add(document.source)
        try:
            (document.source + document.text + (document.title or "")).encode()
        except UnicodeEncodeError:
            raise RefusedError(f"{document.source!a}: it holds lone surrogates") from None
        if normalised(document.metadata) != document.metadata:
            raise ConfigurationError(
                f"{document.source}: its metadata is not as Document.from_text makes it"
            )
        if document.id != document_id(document.source):
            raise ConfigurationError(f"{document.source}: its id is not the hash of its source")


def remove(path: Path, sources: Sequence[str], lock_timeout: float) -> IngestReport:
    """Remove documents by their source; one that is not there is an error."""
    settings = Settings(lock_timeout=lock_timeout)
    with (
        open_writer(path, _manifest(settings), lock_timeout) as writer,
        _intake(writer, settings, SyncOptions()) as intake,
    ):
        rows = []
        for source in dict.fromkeys(sources):
            rows += _rows_of(writer, source)
            intake.totals.outcomes.append(FileOutcome(source=source, status="removed"))
        committed = writer.commit(removed=rows, forgotten=sources)
        intake.totals.dropped += committed.dropped
        return _report(writer, intake)


def _rows_of(writer: Writer, source: str) -> list[int]:
    """Rows of a document, or of the records of a file."""
    found = writer.store.rows(
        "SELECT doc, part_of FROM document WHERE source=?1 OR part_of=?1", source
    )
    if not found and not writer.store.rows(
        "SELECT 1 FROM file WHERE source=? AND reason IS NULL", source
    ):
        raise IngestError(f"{source}: the collection has no such source")
    if len(found) == 1 and found[0][1] not in (None, source):
        raise IngestError(f"{source}: it is a record; remove the file: {found[0][1]}")
    return [doc for doc, _ in found]


def reindex(path: Path, language: str | None, lock_timeout: float) -> None:
    """Derive all terms anew with this version's rules, perhaps for another language."""
    with open_writer(path, _manifest(Settings()), lock_timeout) as writer:
        language = language or writer.manifest.language
        writer.reindex(Analyzer(language, stop_words(language)))


def compact(path: Path, lock_timeout: float) -> None:
    """Merge all segments into one and shrink the database."""
    with open_writer(path, _manifest(Settings()), lock_timeout) as writer:
        writer.merge(everything=True)
        writer.store.shrink()


def repair(path: Path, lock_timeout: float) -> list[str]:
    """Rebuild what is damaged; a sentence for each thing done or not."""
    from groundkit_core.index.repair import repair as run

    with open_writer(path, _manifest(Settings()), lock_timeout) as writer:
        return run(writer, recorded_roots(writer.store))


def _report(writer: Writer, intake: Intake, *, dense: bool = False) -> IngestReport:
    totals = intake.totals
    warnings = [
        f"{outcome.source}: {warning}"
        for outcome in totals.outcomes
        for warning in outcome.warnings
    ]
    space = active_space(writer.store)
    if not dense and space and (missing := without_vector(writer.store, space)):
        warnings.append(f"{missing} passages have no vector; --dense makes them")
    return IngestReport(
        collection=writer.store.path.name,
        generation=writer.store.meta("generation"),
        unchanged=totals.unchanged,
        read=totals.read,
        added=totals.added,
        dropped=totals.dropped,
        documents=writer.store.rows("SELECT count(*) FROM document")[0][0],
        chunks=writer.store.in_segments("kind='lexical'"),
        files=tuple(sorted(totals.outcomes, key=lambda outcome: outcome.source)),
        warnings=tuple(sorted(warnings)),
    )


def embed(
    path: Path, embedder: EmbeddingProtocol, lock_timeout: float, progress: EmbedProgress | None
) -> Embedded:
    """Give vectors to the passages that have none; the first embedder becomes the collection's."""
    with open_writer(path, _manifest(Settings()), lock_timeout) as writer:
        check_embedder(writer, embedder)
        done = embed_missing(writer.store, embedder, progress)
        space = Spaces(writer.store).named(identity_of(embedder))
        if space is not None and active_space(writer.store) != space:
            _activate(writer, space)
        return done


def change_embedder(
    path: Path, embedder: EmbeddingProtocol, lock_timeout: float, progress: EmbedProgress | None
) -> Embedded:
    """Make a space beside the one that is searched, and swap them when it is whole."""
    with open_writer(path, _manifest(Settings()), lock_timeout) as writer:
        done = embed_missing(writer.store, embedder, progress)
        spaces, identity = Spaces(writer.store), identity_of(embedder)
        space = spaces.named(identity)
        if space is None:
            with disk_errors(path), writer.store.write():
                space = spaces.create(identity)
        _activate(writer, space)
        done.generation = writer.store.meta("generation")
        return done


def _activate(writer: Writer, space: Space) -> None:
    store = writer.store
    with disk_errors(store.path):
        with store.write():
            Spaces(store).activate(space)
            store.set_meta(generation=store.meta("generation") + 1)
        store.checkpoint()
        writer.sweep()


def check_embedder(writer: Writer, embedder: EmbeddingProtocol | None) -> None:
    """Refuse an embedder whose vectors cannot stand beside those that are searched."""
    space, name = active_space(writer.store), writer.store.path.name
    if space is None or embedder is None or space.identity == (wanted := identity_of(embedder)):
        return
    raise CollectionIncompatibleError(
        f"{name}: its vectors are from {space.identity}, the embedder is {wanted}; to change them "
        f"all run: grk collections reindex {name} with the --embed options of this one"
    )
