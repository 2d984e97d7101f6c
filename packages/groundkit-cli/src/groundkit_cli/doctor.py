"""`grk doctor`."""

import typer

from groundkit_cli.collections import all_collections
from groundkit_cli.options import CollectionName, IndexDir, Json
from groundkit_cli.output import emit, emit_json, printable, reported
from groundkit_cli.settings import open_collection


@reported
def doctor(
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    json: Json = False,
) -> None:
    """Read every byte of the collections and name what is damaged."""
    chosen = [open_collection(index_dir, collection)] if collection else all_collections(index_dir)
    findings = {found.name: found.check() for found in chosen}
    if json:
        emit_json({"collections": findings})
    else:
        for name, damages in findings.items():
            emit(f"{name}: {'sound' if not damages else f'{len(damages)} findings'}")
            for damage in damages:
                emit(f"  {printable(damage)}")
    if any(findings.values()):
        raise typer.Exit(1)
