"""Which files stand beneath a folder: ignore files honoured, nothing outside the root."""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from pathspec import GitIgnoreSpec

__all__ = ["FoundFile", "Problem", "Walk"]

_IGNORE_FILES = (".gitignore", ".groundkitignore")
_LEFT_OUT = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file, its path below the root with `/`, and its `stat`."""

    path: str
    relative: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class Problem:
    """A path that cannot be taken, and why; a folder's hides everything beneath it."""

    relative: str
    reason: str
    folder: bool = False


@dataclass(slots=True)
class Walk:
    """One pass over a root, or over what stands at `below` in it.

    `skip` holds resolved folders that belong to other roots; hidden entries, `node_modules` and
    `__pycache__` are left out.
    """

    root: Path
    below: str = ""
    ignore: bool = True
    skip: Collection[str] = ()
    problems: list[Problem] = field(default_factory=list)

    def files(self) -> Iterator[FoundFile]:
        """The files in order of their paths; what is refused is added to `problems`."""
        start = self.root / self.below if self.below else self.root
        if not start.is_dir():
            yield from self._file(str(start), self.below, os.lstat(start))
            return
        specs: list[tuple[str, GitIgnoreSpec]] = []
        parts = self.below.split("/") if self.below else []
        for depth in range(len(parts)):
            specs = self._with_spec(specs, "/".join(parts[:depth]))
        stack = [(str(start), self.below, specs)]
        while stack:
            folder, relative, specs = stack.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=attrgetter("name"))
            except OSError as error:
                reason = f"unreadable folder: {error.strerror}"
                self.problems.append(Problem(_shown(relative), reason, folder=True))
                continue
            if any(entry.name in _IGNORE_FILES for entry in listed):
                specs = self._with_spec(specs, relative)
            folders = []
            for entry in listed:
                child = f"{relative}/{entry.name}" if relative else entry.name
                if entry.name.startswith(".") or entry.name in _LEFT_OUT:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.path not in self.skip and not _ignored(specs, child + "/"):
                        folders.append((entry.path, child, specs))
                elif not _ignored(specs, child):
                    yield from self._entry(entry, child)
            stack.extend(reversed(folders))

    def _entry(self, entry: "os.DirEntry[str]", relative: str) -> Iterator[FoundFile]:
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.problems.append(Problem(_shown(relative), f"unreadable: {error.strerror}"))
            return
        yield from self._file(entry.path, relative, info)

    def _file(self, path: str, relative: str, info: os.stat_result) -> Iterator[FoundFile]:
        refuse = self.problems.append
        try:
            relative.encode()
        except UnicodeEncodeError:
            refuse(Problem(_shown(relative), "file name is not UTF-8"))
            return
        if stat.S_ISLNK(info.st_mode):
            reason = self._link_problem(path)
            if reason is not None:
                refuse(Problem(relative, reason))
        elif not stat.S_ISREG(info.st_mode):
            refuse(Problem(relative, "not a regular file"))
        else:
            yield FoundFile(path, relative, info)

    def _link_problem(self, path: str) -> str | None:
        """Why a link is refused; one that stays inside is left out, its target stands anyway."""
        try:
            target = Path(path).resolve(strict=True)
        except FileNotFoundError:
            return "dangling link"
        except (OSError, RuntimeError):
            return "link that loops or cannot be read"
        return None if target.is_relative_to(self.root) else "link that leads out of the root"

    def _with_spec(
        self, specs: list[tuple[str, GitIgnoreSpec]], relative: str
    ) -> list[tuple[str, GitIgnoreSpec]]:
        if not self.ignore:
            return specs
        lines: list[str] = []
        for name in _IGNORE_FILES:
            path = self.root / relative / name
            if path.is_file():
                lines += path.read_text(encoding="utf-8", errors="replace").splitlines()
        prefix = f"{relative}/" if relative else ""
        return [*specs, (prefix, GitIgnoreSpec.from_lines(lines))]


def _ignored(specs: list[tuple[str, GitIgnoreSpec]], relative: str) -> bool:
    """Whether the deepest ignore file with an opinion leaves the path out."""
    for prefix, spec in reversed(specs):
        verdict = spec.check_file(relative[len(prefix) :]).include
        if verdict is not None:
            return verdict
    return False


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
