"""`grk collections`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundkit_cli import embed_options as embed
from groundkit_cli.options import CollectionArgument, IndexDir, Json
from groundkit_cli.output import emit, emit_json, in_line, note, reported
from groundkit_cli.settings import load_settings, open_collection

if TYPE_CHECKING:
    from groundkit_core.index.collection import Collection
    from groundkit_core.index.given import GivenAt

app = typer.Typer(
    help="List, show, compact, re-index and delete collections.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
@reported
def list_collections(index_dir: IndexDir = None, json: Json = False) -> None:
    """List the collections in the index directory."""
    from groundkit_core.errors import GroundkitError

    rows, damaged = [], []
    found = all_collections(index_dir)
    for collection in found:
        try:
            rows.append(collection.info())
        except GroundkitError as error:
            damaged.append(f"{collection.name}: {error}")
    if json:
        from groundkit_cli.documents import CollectionList

        emit_json(CollectionList(collections=tuple(rows), unusable=tuple(damaged)))
    else:
        lines = [["name", "documents", "passages", "generation", "size"]]
        for info in rows:
            counts = map(str, (info.documents, info.chunks, info.generation))
            lines.append([info.name, *counts, _size(info.bytes)])
        width = max(len(line[0]) for line in lines)
        for name, *cells in lines if rows else []:
            emit(name.ljust(width) + "".join(cell.rjust(12) for cell in cells))
        for line in damaged:
            note(f"unusable: {in_line(line)}")
        if not found:
            note("there are no collections; make one with: grk ingest FOLDER")
    if damaged:
        raise typer.Exit(3)


@app.command()
@reported
def show(name: CollectionArgument = None, index_dir: IndexDir = None, json: Json = False) -> None:
    """Show what a collection holds and how it was made."""
    info = open_collection(index_dir, name).info()
    if json:
        emit_json(info)
        return
    for key, value in info:
        if key == "vectors" and info.embedding is None:
            continue
        if key == "roots":
            for label, path in info.roots.items():
                emit(f"{'root':<14}{in_line(label)} = {in_line(path)}")
        elif key == "metadata":
            for name, held in info.metadata.items():
                kinds = " and ".join(held.kinds)
                unit = "document" if held.documents == 1 else "documents"
                emit(f"{'metadata':<14}{in_line(name)}: {kinds} in {held.documents} {unit}")
        elif key == "given":
            for path, metadata in info.given.items():
                emit(f"{'given':<14}{in_line(path)}: {in_line(_said(metadata))}")
        elif key == "chunking":
            c = info.chunking
            emit(f"{key:<14}{c.strategy}, at most {c.size} {c.unit}, overlap {c.overlap}")
        elif key == "extraction":
            records = info.extraction.records()
            fields = "".join(f", {name} {_field(field)}" for name, field in records.items())
            emit(f"{key:<14}HTML {info.extraction.html}{', JSON lines' if fields else ''}{fields}")
        elif value is not None:
            names = {"chunks": "passages", "bytes": "size", "vector_index": "vector index"}
            shown = names.get(key, key)
            emit(f"{shown:<14}{_size(value) if key == 'bytes' else in_line(str(value))}")


@app.command()
@reported
def reindex(
    name: CollectionArgument = None,
    language: Annotated[str | None, typer.Option(help="Another language.")] = None,
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
    index_dir: IndexDir = None,
    json: Json = False,
) -> None:
    """Make search terms or vectors anew, reading no file."""
    from groundkit_core.errors import ConfigurationError

    collection = open_collection(index_dir, name)
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
    if flags and language is not None:
        raise ConfigurationError("--language and the --embed options: one at a time")
    if flags:
        settings = load_settings().embed
        embedder = embed.embedder_for(settings, collection, flags, afresh=True)
        collection.change_embedder(embedder)
    else:
        collection.reindex(language=language)
    info = collection.info()
    if json:
        emit_json(info)
    elif flags:
        emit(f"{info.vectors} vectors from {in_line(str(info.embedding))}")
    else:
        emit(f"{info.chunks} passages indexed again as {info.analysis}")


@app.command()
@reported
def compact(
    name: CollectionArgument = None, index_dir: IndexDir = None, json: Json = False
) -> None:
    """Merge segments and give back unused space."""
    collection = open_collection(index_dir, name)
    before = collection.info()
    collection.compact()
    info = collection.info()
    if json:
        emit_json(info)
    else:
        emit(
            f"{before.segments} segments merged into {info.segments}, "
            f"{_size(before.bytes)} now {_size(info.bytes)}"
            + (f", vectors: {info.vector_index}" if info.vector_index else "")
        )


@app.command()
@reported
def delete(
    name: Annotated[str, typer.Argument(help="Name of the collection.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    index_dir: IndexDir = None,
    json: Json = False,
) -> None:
    """Delete a collection, not the documents."""
    from groundkit_core.errors import CollectionNotFoundError, ConfigurationError

    collection = open_collection(index_dir, name)
    if not yes:
        if json:
            raise ConfigurationError("--json cannot ask: add --yes to delete")
        if not collection.exists():
            raise CollectionNotFoundError(collection.path)
        sys.stderr.write(f"Delete the collection {name}? [y/N]: ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            note("nothing was deleted")
            raise typer.Exit(1)
    collection.delete()
    if json:
        from groundkit_cli.documents import Deleted

        emit_json(Deleted(deleted=name))
    else:
        emit(f"deleted {name}")


def all_collections(index_dir: Path | None) -> list["Collection"]:
    """The collections in the index directory, by name."""
    from groundkit_core.errors import CollectionNotFoundError
    from groundkit_core.index.collection import Collection
    from groundkit_core.index.names import is_collection_name
    from groundkit_core.index.store import DATABASE

    folder = index_dir or load_settings().index_dir
    if not folder.is_dir():
        raise CollectionNotFoundError(folder)
    paths = [path.parent for path in sorted(folder.glob(f"*/{DATABASE}"))]
    return [Collection.open(path) for path in paths if is_collection_name(path.name)]


def _size(count: int) -> str:
    size, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _field(named: str | tuple[str, ...]) -> str:
    return in_line(named if isinstance(named, str) else " ".join(named))


def _said(metadata: "GivenAt") -> str:
    """`key=value` for each value, as `--meta` takes it."""
    from json import dumps

    return " ".join(
        f"{key}={'' if each is None else dumps(each, ensure_ascii=False)}"
        for key, value in metadata.items()
        for each in (value if isinstance(value, tuple) else (value,))
    )
