"""Making a collection agree with the folders it was made from."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from groundkit_core.errors import IngestError
from groundkit_core.index.given import Given
from groundkit_core.index.intake import Intake, SyncOptions
from groundkit_core.index.known import Known, is_settled
from groundkit_core.index.roots import Target
from groundkit_core.index.writer import Writer
from groundkit_core.loading.walk import FoundFile, Problem, Walk
from groundkit_core.metadata import digest

__all__ = ["Progress", "Sync"]

_GUARDED_FILES = 20

Progress = Callable[[int, int, int], None]
"""Called with files done, files in all, and passages added."""


class Sync:
    """One ingest run over files and folders, under the writer's lock."""

    def __init__(
        self,
        writer: Writer,
        intake: Intake,
        options: SyncOptions,
        progress: Progress | None = None,
    ) -> None:
        self._writer = writer
        self._intake = intake
        self._options = options
        self._progress = progress
        self._currents: dict[tuple[str, ...], set[str]] = {}
        self._surveyed: list[tuple[Target, list[FoundFile], list[Problem]]] = []
        self._known_files: dict[str, Known] = {}
        self._refused_files: dict[str, Known] = {}
        self._gone: list[Known] = []

    def survey(self, targets: Sequence[Target]) -> None:
        """Walk over the targets; refuses a run that would remove too much, changing nothing."""
        gone_of: Counter[str] = Counter()
        for target in targets:
            files, problems = self._walk(target)
            known = self._intake.memory.files(target)
            gone = _gone(target, known, files, problems)
            gone_of[target.label] += len(gone)
            self._known_files.update(known)
            self._refused_files.update(self._intake.memory.refused(target))
            self._surveyed.append((target, files, problems))
            self._gone += gone
        for target in targets:
            self._guard(target, gone_of[target.label])

    def run(self) -> None:
        """Bring the documents beneath the surveyed targets up to date."""
        intake = self._intake
        total = sum(len(files) for _, files, _ in self._surveyed)
        done = 0
        for target, files, problems in self._surveyed:
            for problem in problems:
                intake.refuse(f"{target.label}/{problem.relative}".rstrip("/"), problem.reason)
            for file in files:
                source = f"{target.label}/{file.relative}"
                held = self._known_files.get(source)
                if held is not None and self._is_settled(held, file, source):
                    intake.totals.unchanged += 1
                else:
                    before = self._refused_files.pop(source, None)
                    intake.file(target.label, file, source, held, before)
                done += 1
                if self._progress is not None:
                    self._progress(done, total, intake.totals.added)
        intake.part_with(self._gone)
        # What is left here was refused once and is not there any more.
        intake.forget_refused(self._refused_files)
        intake.flush()

    def give(self, targets: Sequence[Target], given: Mapping[str, object]) -> None:
        """Record metadata for all documents at and beneath the targets, now and later."""
        for target in targets:
            held = self._intake.given.after(target, given)
            self._writer.give(target.label, target.below, held)
        self._intake.given, self._currents = Given(self._writer.store), {}

    def _is_settled(self, known: Known, file: FoundFile, source: str) -> bool:
        return not self._options.rehash and is_settled(known, file.stat, self._current(source))

    def _current(self, source: str) -> set[str]:
        """How the fingerprint of a file begins that this run would not change."""
        around = self._intake.given.around(source)
        if around not in self._currents:
            given = digest(self._intake.given.of(source))
            self._currents[around] = {f"{reader} {given}" for reader in self._intake.readers}
        return self._currents[around]

    def _walk(self, target: Target) -> tuple[list[FoundFile], list[Problem]]:
        if not os.path.lexists(target.root):
            return [], [Problem("", f"the root's folder is gone: {target.root}", folder=True)]
        walk = Walk(target.root, target.below, self._options.ignore, target.skip)
        return list(walk.files()), walk.problems

    def _guard(self, target: Target, gone: int) -> None:
        if not gone or self._options.allow_removal or self._options.keep_missing:
            return
        held = self._intake.memory.count(target.label)
        if held >= _GUARDED_FILES and 2 * gone > held:
            raise IngestError(
                f"{target.root}: {gone} of {held} files of the root {target.label!r} are "
                "gone, more than half; nothing was changed. If that is right, use "
                "--allow-removal, or --keep-missing to leave their passages"
            )


def _gone(
    target: Target,
    known: Mapping[str, Known],
    files: Sequence[FoundFile],
    problems: Sequence[Problem],
) -> list[Known]:
    """Known files that are no longer there; what cannot be seen is not gone."""
    left = known.keys() - {f"{target.label}/{file.relative}" for file in files}
    for problem in problems:
        path = f"{target.label}/{problem.relative}".rstrip("/")
        left = {source for source in left if source != path}
        if problem.folder:
            left = {source for source in left if not source.startswith(path + "/")}
    return [known[source] for source in sorted(left)]
