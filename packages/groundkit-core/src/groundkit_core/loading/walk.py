"""Which files stand beneath a folder: ignore files honoured, nothing outside the root."""

import os
import re
import stat
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

__all__ = ["FoundFile", "Problem", "Walk"]

_IGNORE_FILES = (".gitignore", ".groundkitignore")
_LEFT_OUT = frozenset({"node_modules", "__pycache__"})
_COLLECTION = {"collection.db", "segments"}
"""What a folder that is a collection of ours holds."""


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

    `skip` holds resolved folders that belong to other roots; hidden entries, `node_modules`,
    `__pycache__` and collections are left out.
    """

    root: Path
    below: str = ""
    ignore: bool = True
    skip: Collection[str] = ()
    problems: list[Problem] = field(default_factory=list)

    def files(self) -> Iterator[FoundFile]:
        """The files in order of their paths; what is refused is added to `problems`."""
        start = self.root / self.below
        if not self.root.is_dir():
            self.problems.append(Problem("", "the root is no folder any more", folder=True))
        elif not start.resolve().is_relative_to(self.root.resolve()):
            reason = "link that leads out of the root"
            self.problems.append(Problem(self.below, reason, folder=True))
        elif not start.is_dir():
            if found := self._file(str(start), self.below, os.lstat(start)):
                yield found
        else:
            rules: list[_Rules] = []
            parts = self.below.split("/") if self.below else []
            try:
                for depth in range(len(parts)):
                    rules = self._with_rules(rules, "/".join(parts[:depth]))
            except OSError as error:
                reason = f"unreadable ignore file: {error.strerror}"
                self.problems.append(Problem(self.below, reason, folder=True))
                return
            yield from self._beneath(str(start), self.below, rules)

    def _beneath(self, folder: str, relative: str, rules: list["_Rules"]) -> Iterator[FoundFile]:
        # A stack, because folders may be nested deeper than functions can be.
        stack = [self._listed(folder, relative, rules)]
        while stack:
            entry, child, rules = next(stack[-1], (None, "", []))
            if entry is None:
                stack.pop()
            elif entry.is_dir(follow_symlinks=False):
                if entry.path not in self.skip and not _ignored(rules, child + "/"):
                    stack.append(self._listed(entry.path, child, rules))
            elif not (rules and _ignored(rules, child)) and (found := self._entry(entry, child)):
                yield found

    def _listed(
        self, folder: str, relative: str, rules: list["_Rules"]
    ) -> Iterator[tuple["os.DirEntry[str]", str, list["_Rules"]]]:
        """Entries of a folder by name, with the rules that apply to them."""
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=attrgetter("name"))
            names = {entry.name for entry in listed}
            if names >= _COLLECTION:
                return
            if not names.isdisjoint(_IGNORE_FILES):
                rules = self._with_rules(rules, relative)
        except OSError as error:
            what = "unreadable folder" if error.filename == folder else "unreadable ignore file"
            reason = f"{what}: {error.strerror}"
            self.problems.append(Problem(_shown(relative), reason, folder=True))
            return
        prefix = f"{relative}/" if relative else ""
        for entry in listed:
            if not entry.name.startswith(".") and entry.name not in _LEFT_OUT:
                yield entry, prefix + entry.name, rules

    def _entry(self, entry: "os.DirEntry[str]", relative: str) -> FoundFile | None:
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.problems.append(Problem(_shown(relative), f"unreadable: {error.strerror}"))
            return None
        return self._file(entry.path, relative, info)

    def _file(self, path: str, relative: str, info: os.stat_result) -> FoundFile | None:
        refuse = self.problems.append
        try:
            relative.encode()
        except UnicodeEncodeError:
            refuse(Problem(_shown(relative), "file name is not UTF-8"))
            return None
        if stat.S_ISLNK(info.st_mode):
            reason = self._link_problem(path)
            if reason is not None:
                refuse(Problem(relative, reason))
        elif not stat.S_ISREG(info.st_mode):
            refuse(Problem(relative, "not a regular file"))
        else:
            return FoundFile(path, relative, info)
        return None

    def _link_problem(self, path: str) -> str | None:
        """Why a link is refused; one that stays inside is left out, its target stands anyway."""
        try:
            target = Path(path).resolve(strict=True)
        except FileNotFoundError:
            return "dangling link"
        except (OSError, RuntimeError):
            return "link that loops or cannot be read"
        return None if target.is_relative_to(self.root) else "link that leads out of the root"

    def _with_rules(self, rules: list["_Rules"], relative: str) -> list["_Rules"]:
        if not self.ignore:
            return rules
        patterns: list[_Pattern] = []
        for name in _IGNORE_FILES:
            path = self.root / relative / name
            if path.is_file():
                lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
                patterns += filter(None, map(_pattern, lines))
        prefix = f"{relative}/" if relative else ""
        return [*rules, (prefix, patterns[::-1])]


_Pattern = tuple[bool, re.Pattern[str]]
_Rules = tuple[str, list[_Pattern]]


def _pattern(line: str) -> _Pattern | None:
    """Whether a line excludes, and what; None where it matches nothing, as for git."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            found = GitIgnoreSpecPattern(line)
    except (ValueError, re.error):
        return None
    if found.include is None or found.regex is None:
        return None
    # pathspec also matches what stands beneath a match; we never go down there, and git lets a
    # later pattern take back only what itself matches.
    raw = found.regex.pattern
    return found.include, re.compile(f"{raw}." if raw.endswith("/") else rf"(?:{raw})\Z")


def _ignored(rules: list[_Rules], relative: str) -> bool:
    """Whether the last pattern to match, in the deepest file that has one, excludes the path.

    A folder's path ends with `/`.
    """
    for prefix, patterns in reversed(rules):
        below = relative[len(prefix) :]
        for excludes, regex in patterns:
            if regex.search(below):
                return excludes
    return False


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
