"""`grk collections`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundkit_cli.options import CollectionArgument, IndexDir, Json
from groundkit_cli.output import emit, emit_json, note, printable, reported
from groundkit_cli.settings import load_settings, open_collection

if TYPE_CHECKING:
    from groundkit_core.index.collection import Collection

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
    for collection in all_collections(index_dir):
        try:
            rows.append(collection.info())
        except GroundkitError as error:
            damaged.append(f"{collection.name}: {error}")
    if json:
        from groundkit_cli.documents import CollectionList

        emit_json(CollectionList(collections=tuple(rows), unusable=tuple(damaged)))
    else:
        from rich.console import Console
        from rich.table import Table

        table = Table("name", "documents", "passages", "generation", "size", box=None)
        for info in rows:
            counts = (info.documents, info.chunks, info.generation)
            table.add_row(info.name, *map(str, counts), _size(info.bytes))
        Console().print(table)
        for line in damaged:
            note(f"unusable: {printable(line)}")
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
        if key == "roots":
            for label, path in info.roots.items():
                emit(f"{'root':<12}{printable(label)} = {printable(path)}")
        elif key == "chunking":
            emit(f"{key:<12}{info.chunking.identity}")
        else:
            emit(f"{key:<12}{_size(value) if key == 'bytes' else printable(str(value))}")


@app.command()
@reported
def reindex(
    name: CollectionArgument = None,
    language: Annotated[str | None, typer.Option(help="Another language.")] = None,
    index_dir: IndexDir = None,
    json: Json = False,
) -> None:
    """Derive the search terms of all passages anew, reading no file."""
    collection = open_collection(index_dir, name)
    collection.reindex(language=language)
    info = collection.info()
    if json:
        emit_json(info)
    else:
        emit(f"{info.chunks} passages indexed again as {info.analysis}")


@app.command()
@reported
def compact(
    name: CollectionArgument = None, index_dir: IndexDir = None, json: Json = False
) -> None:
    """Merge a collection's segments into one and give back unused space."""
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
        )


@app.command()
@reported
def delete(
    name: Annotated[str, typer.Argument(help="Name of the collection.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    index_dir: IndexDir = None,
    json: Json = False,
) -> None:
    """Delete a collection; your documents are not touched."""
    from groundkit_core.errors import ConfigurationError

    collection = open_collection(index_dir, name)
    if not yes:
        if json:
            raise ConfigurationError("--json cannot ask: add --yes to delete")
        collection.info()
        typer.confirm(f"Delete the collection {name}?", abort=True, err=True)
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
    from groundkit_core.index.store import DATABASE

    folder = index_dir or load_settings().index_dir
    if not folder.is_dir():
        raise CollectionNotFoundError(f"{folder}: there is no index directory here")
    return [Collection.open(path.parent) for path in sorted(folder.glob(f"*/{DATABASE}"))]


def _size(count: int) -> str:
    size, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
