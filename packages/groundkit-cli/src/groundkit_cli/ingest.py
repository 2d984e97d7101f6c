"""`grk ingest`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundkit_cli.options import CollectionName, IndexDir, Json, Roots, parse_roots
from groundkit_cli.output import emit, emit_json, in_line, note, reported
from groundkit_cli.settings import load_settings, open_collection

if TYPE_CHECKING:
    from groundkit_core.contracts import IngestReport
    from groundkit_core.index.sync import Progress

_SHOWN_WARNINGS = 20


@reported
def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders.")],
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
    chunk_size: Annotated[
        int | None, typer.Option(help="Most units in a passage. [default: 200]")
    ] = None,
    chunk_overlap: Annotated[
        int | None, typer.Option(help="Units that neighbours share. [default: 0]")
    ] = None,
    chunk_unit: Annotated[
        str | None, typer.Option(help="words or characters. [default: words]")
    ] = None,
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
    json: Json = False,
) -> None:
    """Index files and folders, or what changed."""
    from groundkit_core.errors import ConfigurationError

    if keep_missing and allow_removal:
        raise ConfigurationError("--keep-missing removes nothing, so --allow-removal is no use")
    settings = load_settings()
    target = open_collection(index_dir, collection)
    fresh = not target.exists()
    asked = settings.chunking(
        strategy=chunking, size=chunk_size, overlap=chunk_overlap, unit=chunk_unit
    )
    with progress_bar() as progress:
        report = target.ingest(
            paths,
            chunking=asked,
            language=language or settings.language,
            roots=parse_roots(root),
            ignore=not no_ignore,
            rehash=rehash,
            keep_missing=keep_missing,
            allow_removal=allow_removal,
            progress=progress,
        )
    if json:
        emit_json(report)
    else:
        summarise(report, str(target.path), fresh)
    if report.count("refused"):
        raise typer.Exit(1)


@contextmanager
def progress_bar() -> Iterator["Progress | None"]:
    """A bar on stderr where that is a terminal."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    with Progress(
        TextColumn("ingest"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files · {task.fields[chunks]} passages · {task.fields[rate]:.0f} files/s"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("ingest", total=None, chunks=0, rate=0.0)

        def advance(done: int, total: int, chunks: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = done / elapsed if elapsed else 0.0
            bar.update(task, completed=done, total=total, chunks=chunks, rate=rate)

        yield advance


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
        note("nothing was indexed: Markdown, reStructuredText and plain text can be read")
