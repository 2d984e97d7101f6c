"""Named roots: which folder a source's label stands for."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from groundkit_core.errors import ConfigurationError, IngestError

__all__ = ["Target", "plan", "resolve_root", "stored_path"]


@dataclass(frozen=True, slots=True)
class Target:
    """A root, or what stands at `below` in it, to be brought up to date."""

    label: str
    root: Path
    below: str = ""
    skip: frozenset[str] = frozenset()


def stored_path(root: Path, collection: Path) -> str:
    """A root's path as recorded: relative where root and index would be moved together."""
    home = collection.parent.parent
    return os.path.relpath(root, collection) if root.is_relative_to(home) else str(root)


def resolve_root(stored: str, collection: Path) -> Path:
    """The folder of a recorded root."""
    return Path(os.path.normpath(collection / stored))


def plan(
    paths: Iterable[Path], known: Mapping[str, Path], named: Mapping[str, Path]
) -> tuple[list[Target], dict[str, Path]]:
    """Targets for the paths, and all roots including new ones.

    A path belongs to the deepest root around it, else it becomes a root of its own; a known root
    beneath a path is brought up to date as itself.
    """
    roots = {**known, **{label: _existing(path) for label, path in named.items()}}
    targets: dict[tuple[str, str], Target] = {}
    for given in paths:
        path = _existing(given)
        label = _root_around(path, roots)
        if label is None:
            folder = path if path.is_dir() else path.parent
            label = _new_label(folder, roots)
            roots[label] = folder
        inside = {
            other: root
            for other, root in roots.items()
            if root != path and root.is_relative_to(path)
        }
        below = path.relative_to(roots[label]).as_posix()
        skip = frozenset(map(str, inside.values()))
        for target in (
            Target(label, roots[label], "" if below == "." else below, skip),
            *(Target(other, root, "", skip - {str(root)}) for other, root in inside.items()),
        ):
            targets[target.label, target.below] = target
    return _without_nested(targets), roots


def _without_nested(targets: Mapping[tuple[str, str], Target]) -> list[Target]:
    """The targets, less those that stand beneath another of the same root."""
    return [
        target
        for (label, below), target in targets.items()
        if not any(
            label == other and below != above and (not above or below.startswith(f"{above}/"))
            for other, above in targets
        )
    ]


def _existing(path: Path) -> Path:
    if not os.path.lexists(path):
        raise IngestError(f"{path}: no such file or folder")
    return path.resolve() if path.is_dir() else path.parent.resolve() / path.name


def _root_around(path: Path, roots: Mapping[str, Path]) -> str | None:
    around = [label for label, root in roots.items() if path.is_relative_to(root)]
    return max(around, key=lambda label: len(roots[label].parts), default=None)


def _new_label(folder: Path, roots: Mapping[str, Path]) -> str:
    label = folder.name or "root"
    if label in roots:
        raise ConfigurationError(
            f"{folder}: the label {label!r} already names {roots[label]}; "
            f"give this folder another: --root LABEL={folder}"
        )
    return label
