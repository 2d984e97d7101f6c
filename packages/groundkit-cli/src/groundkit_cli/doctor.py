"""`grk doctor`."""

from typing import Annotated

import typer

from groundkit_cli.collections import all_collections
from groundkit_cli.options import CollectionName, IndexDir, Json
from groundkit_cli.output import emit, emit_json, in_line, reported
from groundkit_cli.settings import open_collection


@reported
def doctor(
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild what can be rebuilt from the sources.")
    ] = False,
    json: Json = False,
) -> None:
    """Check all files of collections for damage."""
    chosen = [open_collection(index_dir, collection)] if collection else all_collections(index_dir)
    repaired = {found.name: found.repair() for found in chosen if repair and found.check()}
    findings = {found.name: found.check() for found in chosen}
    if json:
        from groundkit_cli.documents import Findings

        emit_json(Findings(collections=findings, repairs=repaired))
    else:
        for name, steps in repaired.items():
            for step in steps:
                emit(f"{name}: {in_line(step)}")
        for name, damages in findings.items():
            emit(f"{name}: {'damaged' if damages else 'sound'}")
            for damage in damages:
                emit(f"  {in_line(damage)}")
    if any(findings.values()):
        raise typer.Exit(1)
