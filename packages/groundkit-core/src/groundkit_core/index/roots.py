"""Named roots: which folder a source's label stands for."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from groundkit_core.errors import CollectionCorruptError, ConfigurationError, IngestError
from groundkit_core.index.store import Store

__all__ = ["Target", "plan", "recorded_roots", "resolve_root", "stored_path"]


@dataclass(frozen=True, slots=True)
class Target:
    """A root, or what stands at `below` in it, to be brought up to date."""

    label: str
    root: Path
    below: str = ""
    skip: frozenset[str] = frozenset()


def stored_path(root: Path, collection: Path) -> str:
    """A root's path as recorded: relative where root and index would be moved together."""
    real = collection.resolve()
    home = real.parent.parent
    return os.path.relpath(root, real) if root.is_relative_to(home) else str(root)


def resolve_root(stored: str, collection: Path) -> Path:
    """The folder of a recorded root."""
    return Path(os.path.normpath(collection.resolve() / stored))


def recorded_roots(store: Store) -> dict[str, Path]:
    """The folder of each root that a collection records."""
    found = {}
    for label, stored in store.rows("SELECT label, path FROM root"):
        if not isinstance(label, str) or not isinstance(stored, str):
            raise CollectionCorruptError(f"{store.path}: a root is damaged; see grk doctor")
        found[label] = resolve_root(stored, store.path)
    return found


def plan(
    paths: Iterable[Path], known: Mapping[str, Path], named: Mapping[str, Path]
) -> tuple[list[Target], dict[str, Path]]:
    """Targets for the paths, and all roots including new ones.

    A path belongs to the deepest root around it, else it becomes a root of its own; a known root
    beneath a path is brought up to date as itself.
    """
    roots = {**known, **{label: _folder(label, path) for label, path in named.items()}}
    for name in named:
        same = [other for other in roots if other != name and roots[other] == roots[name]]
        if same:
            raise ConfigurationError(f"{roots[name]} is already the root {same[0]!r}")
    targets: dict[tuple[str, str], Target] = {}
    # From the outside in, so that the order in which paths are given does not matter.
    for path in sorted(map(_existing, paths), key=lambda path: len(path.parts)):
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
    """The path itself or, of a link, what it leads to."""
    try:
        found = path.resolve(strict=True)
        str(found if found.is_dir() else found.parent).encode()
    except UnicodeEncodeError:
        raise ConfigurationError(f"{str(path)!a}: the folder's name is not UTF-8") from None
    except (OSError, RuntimeError, ValueError):
        raise IngestError(f"{path}: no such file or folder") from None
    return found


def _folder(label: str, path: Path) -> Path:
    if not label or "/" in label or label in (".", ".."):
        raise ConfigurationError(f"{label!r} cannot be the label of a root")
    folder = _existing(path)
    if not folder.is_dir():
        raise ConfigurationError(f"{path}: a root must be a folder")
    return folder


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
