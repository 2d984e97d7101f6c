"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "ChunkOverlap",
    "ChunkSize",
    "ChunkUnit",
    "CollectionArgument",
    "CollectionName",
    "IndexDir",
    "Json",
    "Roots",
    "parse_roots",
]

IndexDir = Annotated[
    Path | None,
    typer.Option("--index-dir", help="Folder of the collections. [default: .groundkit]"),
]
CollectionName = Annotated[
    str | None, typer.Option("--collection", help="Name of the collection. [default: default]")
]
CollectionArgument = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Name of the collection. [default: default]"),
]
ChunkSize = Annotated[
    int | None, typer.Option("--chunk-size", help="Most units in a passage. [default: 200]")
]
ChunkOverlap = Annotated[
    int | None, typer.Option("--chunk-overlap", help="Units that neighbours share. [default: 0]")
]
ChunkUnit = Annotated[
    str | None, typer.Option("--chunk-unit", help="words or characters. [default: words]")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Roots = Annotated[
    list[str] | None,
    typer.Option("--root", metavar="LABEL=PATH", help="The folder that a root's label names."),
]


def parse_roots(given: list[str] | None) -> dict[str, Path]:
    """`LABEL=PATH` options as a mapping."""
    from groundkit_core.errors import ConfigurationError

    roots: dict[str, Path] = {}
    for option in given or []:
        label, equals, path = option.partition("=")
        if not (label and equals and path) or "/" in label:
            raise ConfigurationError(f"--root {option}: it must be LABEL=PATH, no '/' in the label")
        if label in roots:
            raise ConfigurationError(f"--root: the label {label!r} is given twice")
        roots[label] = Path(path)
    return roots
