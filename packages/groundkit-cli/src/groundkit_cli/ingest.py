"""`grk ingest`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundkit_cli import embed_options as embed
from groundkit_cli import sources
from groundkit_cli.options import (
    ChunkOverlap,
    ChunkSize,
    ChunkUnit,
    CollectionName,
    IndexDir,
    Json,
    Roots,
    parse_roots,
)
from groundkit_cli.output import emit, emit_json, in_line, note, reported
from groundkit_cli.settings import load_settings, open_collection
from groundkit_cli.where import parse_meta

if TYPE_CHECKING:
    from groundkit_core.contracts import IngestReport
    from groundkit_core.index.backfill import EmbedProgress
    from groundkit_core.index.sync import Progress

_SHOWN_WARNINGS = 20


@reported
def ingest(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Files, folders and URLs.")
    ] = None,
    url_list: sources.UrlList = None,
    allow_host: sources.AllowHost = None,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
    language: Annotated[
        str | None,
        typer.Option(help="Snowball name or none; for a new one. [default: english]"),
    ] = None,
    chunking: Annotated[
        str | None,
        typer.Option(help="structure or fixed; for a new one. [default: structure]"),
    ] = None,
    chunk_size: ChunkSize = None,
    chunk_overlap: ChunkOverlap = None,
    chunk_unit: ChunkUnit = None,
    html: sources.Html = None,
    jsonl_text: sources.JsonlText = None,
    jsonl_id: sources.JsonlId = None,
    jsonl_title: sources.JsonlTitle = None,
    jsonl_meta: sources.JsonlMeta = None,
    file_timeout: sources.FileTimeout = None,
    no_ignore: Annotated[
        bool, typer.Option("--no-ignore", help="Take files that .gitignore leaves out.")
    ] = False,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Read every file, whatever its times say.")
    ] = False,
    keep_missing: Annotated[
        bool, typer.Option("--keep-missing", help="Leave passages of files that are gone.")
    ] = False,
    allow_removal: Annotated[
        bool, typer.Option("--allow-removal", help="Allow removing more than half of a root.")
    ] = False,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            "--meta",
            metavar="KEY=VALUE",
            help="Metadata for all documents of these paths, now and later; KEY= ends it.",
        ),
    ] = None,
    dense: Annotated[
        bool, typer.Option("--dense", help="Give each passage a vector, for dense and hybrid.")
    ] = False,
    embed_provider: embed.Provider = None,
    embed_model: embed.Model = None,
    embed_base_url: embed.BaseUrl = None,
    embed_api_key_env: embed.ApiKeyEnv = None,
    embed_allow_private: embed.AllowPrivate = False,
    embed_dimensions: embed.Dimensions = None,
    embed_document_prefix: embed.DocumentPrefix = None,
    embed_query_prefix: embed.QueryPrefix = None,
    embed_batch_size: embed.BatchSize = None,
    embed_timeout: embed.Timeout = None,
    json: Json = False,
) -> None:
    """Index files, folders and URLs, or what changed."""
    from groundkit_core.errors import ConfigurationError
    from groundkit_core.loading.worker import MAX_SECONDS

    found, urls = sources.split_sources(paths or [], url_list)
    if allow_host and not urls:
        raise ConfigurationError("--allow-host has no use without a URL")
    of_paths = (root, no_ignore, rehash, keep_missing, allow_removal)
    if any(of_paths) and not found:
        raise ConfigurationError(
            "--root, --no-ignore, --rehash, --keep-missing and --allow-removal have no use for URLs"
        )
    if keep_missing and allow_removal:
        raise ConfigurationError("--keep-missing removes nothing, so --allow-removal is no use")
    settings = load_settings()
    target = open_collection(index_dir, collection)
    flags = embed.given(
        embed_provider,
        embed_model,
        embed_base_url,
        embed_api_key_env,
        embed_allow_private,
        embed_timeout,
        dimensions=embed_dimensions,
        document_prefix=embed_document_prefix,
        query_prefix=embed_query_prefix,
        batch_size=embed_batch_size,
    )
    if dense:
        target.embedder = embed.embedder_for(settings.embed, target, flags)
    elif flags:
        raise ConfigurationError("the --embed options have no use without --dense")
    fresh = not target.exists()
    asked = settings.chunking(
        strategy=chunking, size=chunk_size, overlap=chunk_overlap, unit=chunk_unit
    )
    shared: dict[str, Any] = {
        "chunking": asked,
        "extraction": sources.extraction(
            target,
            html=html,
            jsonl_text=jsonl_text,
            jsonl_id=jsonl_id,
            jsonl_title=jsonl_title,
            jsonl_metadata=jsonl_meta,
        ),
        "language": language or settings.language,
        "max_seconds": file_timeout or MAX_SECONDS,
        "metadata": parse_meta(meta) or None,
    }
    report: IngestReport | None = None
    with progress_bars() as (progress, embed_progress):
        shared["embed_progress"] = embed_progress
        if found:
            report = target.ingest(
                found,
                roots=parse_roots(root),
                ignore=not no_ignore,
                rehash=rehash,
                keep_missing=keep_missing,
                allow_removal=allow_removal,
                progress=progress,
                **shared,
            )
        for snapshots, refused in sources.fetched(urls, allow_host or []) if urls else ():
            of_urls = target.add_snapshots(snapshots, refused=refused, **shared)
            report = sources.joined(report, of_urls) if report else of_urls
    assert report is not None
    if json:
        emit_json(report)
    else:
        summarise(report, str(target.path), fresh)
    if report.count("refused"):
        raise typer.Exit(1)


@contextmanager
def progress_bars() -> Iterator["tuple[Progress | None, EmbedProgress | None]"]:
    """Bars for files and for vectors, on stderr where that is a terminal."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield None, None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        files = bar.add_task("ingest", total=None, said="")
        vectors = bar.add_task("vectors", total=None, said="", visible=False, start=False)

        def advance(done: int, total: int, chunks: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = done / elapsed if elapsed else 0.0
            said = f"files · {chunks} passages · {rate:.0f} files/s"
            bar.update(files, completed=done, total=total, said=said)

        def advance_vectors(done: int, total: int) -> None:
            bar.start_task(vectors)
            bar.update(vectors, completed=done, total=total, said="passages", visible=True)

        yield advance, advance_vectors


def summarise(report: "IngestReport", path: str, fresh: bool) -> None:
    """Counts first, then each file that was refused, then warnings."""
    counts = [
        f"{report.count('indexed')} indexed",
        f"{report.unchanged} unchanged",
        f"{report.count('changed')} changed",
        f"{report.count('removed')} removed",
        f"{report.count('partial')} partial",
        f"{report.count('refused')} refused",
    ]
    if report.count("missing"):
        counts.append(f"{report.count('missing')} gone but kept")
    emit(" · ".join(counts))
    emit(
        f"passages: {report.added} added, {report.dropped} dropped, {report.chunks} in all from "
        f"{report.documents} documents in {report.collection}"
    )
    if report.embedded:
        emit(f"vectors: {report.embedded} texts embedded")
    for outcome in report.files:
        if outcome.status in ("refused", "partial", "missing"):
            emit(f"{outcome.status} {in_line(outcome.source)}: {in_line(outcome.reason or '')}")
    for warning in report.warnings[:_SHOWN_WARNINGS]:
        note(f"warning: {in_line(warning)}")
    if len(report.warnings) > _SHOWN_WARNINGS:
        note(f"and {len(report.warnings) - _SHOWN_WARNINGS} more warnings; --json lists them all")
    if fresh and report.documents:
        note(f"new collection in {in_line(path)}")
    if not report.documents and not report.count("removed"):
        note("nothing was indexed: text, HTML, PDF, DOCX, spreadsheets and code can be read")
