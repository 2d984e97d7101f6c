"""The write operations of a collection, each under the writer's lock."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Document, FileOutcome, IngestReport
from groundkit_core.errors import ConfigurationError, IngestError
from groundkit_core.failpoints import reach
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.index.roots import plan, resolve_root, stored_path
from groundkit_core.index.store import Manifest
from groundkit_core.index.sync import Progress, Sync, SyncOptions
from groundkit_core.index.view import check_analysis
from groundkit_core.index.writer import Writer, open_writer
from groundkit_core.terms import Analyzer

__all__ = ["Settings", "add", "compact", "ingest", "reindex", "remove", "repair"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a new collection is made with; None takes what an existing one was made with."""

    chunking: ChunkingConfig | None = None
    language: str | None = None
    lock_timeout: float = 60.0


def _manifest(settings: Settings) -> Manifest:
    language = settings.language or "english"
    analyzer = Analyzer(language)
    return Manifest(
        analysis=analyzer.identity,
        language=language,
        stop_words=stop_words(language),
        chunking=(settings.chunking or ChunkingConfig()).model_dump_json(),
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
    chunking = ChunkingConfig.model_validate_json(manifest.chunking)
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
) -> IngestReport:
    """Bring the collection up to date with files and folders."""
    if not paths:
        raise IngestError("no path was given")
    for given in (*paths, *named.values()):
        if not os.path.lexists(given):
            raise IngestError(f"{given}: no such file or folder")
    with open_writer(path, _manifest(settings), settings.lock_timeout) as writer:
        chunking = _checked_chunking(writer, settings)
        recorded = dict(writer.store.rows("SELECT label, path FROM root"))
        known = {label: resolve_root(stored, path) for label, stored in recorded.items()}
        targets, roots = plan(paths, known, named)
        for label in roots.keys() - known.keys():
            taken = writer.store.rows(
                "SELECT source FROM document WHERE root IS NULL AND "
                "(source = ? OR substr(source, 1, ?) = ?)",
                label,
                len(label) + 1,
                f"{label}/",
            )
            if taken:
                raise ConfigurationError(
                    f"the label {label!r} would cover {taken[0][0]!r}, which was added as no file; "
                    f"name the folder otherwise: --root LABEL={roots[label]}"
                )
        sync = Sync(writer, chunking, options, progress)
        with writer.store.write():
            writer.store.connection.executemany(
                "REPLACE INTO root VALUES (?, ?)",
                [(label, stored_path(root, path)) for label, root in roots.items()],
            )
        reach("root.noted")
        sync.run(targets)
        return _report(writer, sync)


def add(path: Path, documents: Sequence[Document], settings: Settings) -> IngestReport:
    """Add or replace documents that are no files."""
    with open_writer(path, _manifest(settings), settings.lock_timeout) as writer:
        chunking = _checked_chunking(writer, settings)
        labels = {label for (label,) in writer.store.rows("SELECT label FROM root")}
        for document in documents:
            if document.source.partition("/")[0] in labels:
                raise ConfigurationError(
                    f"{document.source}: a source must not begin with the label of a root"
                )
        sync = Sync(writer, chunking, SyncOptions())
        sync.add(documents)
        return _report(writer, sync)


def remove(path: Path, sources: Sequence[str], lock_timeout: float) -> IngestReport:
    """Remove documents by their source; one that is not there is an error."""
    settings = Settings(lock_timeout=lock_timeout)
    with open_writer(path, _manifest(settings), lock_timeout) as writer:
        sync = Sync(writer, _checked_chunking(writer, settings), SyncOptions())
        rows = []
        for source in sources:
            found = writer.store.rows("SELECT doc FROM document WHERE source=?", source)
            if not found:
                raise IngestError(f"{source}: the collection has no such source")
            rows.append(found[0][0])
            sync.totals.outcomes.append(FileOutcome(source=source, status="removed"))
        sync.totals.dropped += writer.commit(removed=rows).dropped
        return _report(writer, sync)


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
        recorded = writer.store.rows("SELECT label, path FROM root")
        return run(writer, {label: resolve_root(stored, path) for label, stored in recorded})


def _report(writer: Writer, sync: Sync) -> IngestReport:
    totals = sync.totals
    warnings = [
        f"{outcome.source}: {warning}"
        for outcome in totals.outcomes
        for warning in outcome.warnings
    ]
    return IngestReport(
        collection=writer.store.path.name,
        generation=writer.store.meta("generation"),
        unchanged=totals.unchanged,
        read=totals.read,
        added=totals.added,
        dropped=totals.dropped,
        documents=writer.store.rows("SELECT count(*) FROM document")[0][0],
        chunks=writer.store.rows("SELECT count(*) FROM chunk")[0][0],
        files=tuple(sorted(totals.outcomes, key=lambda outcome: outcome.source)),
        warnings=tuple(sorted(warnings)),
    )
