"""Reading a source again: files beneath named roots, or an application's own reader."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from groundkit_core.config import MAX_FILE_BYTES
from groundkit_core.errors import SourceError

__all__ = ["FileReader", "SourceReader", "SourceRouter"]


class SourceReader(Protocol):
    """Gives what a source holds now."""

    def read(self, source: str) -> str | bytes:
        """Text or bytes of a source; `SourceError` with the reason where it cannot be read."""
        ...


class FileReader:
    """Reads `label/relative/path` beneath the folder that the label names."""

    def __init__(self, roots: Mapping[str, Path]) -> None:
        self.roots = {label: root.resolve() for label, root in roots.items()}

    def read(self, source: str) -> bytes:
        """Bytes of a file that stands inside its root."""
        label, _, relative = source.partition("/")
        root = self.roots.get(label)
        if root is None:
            raise SourceError(f"no root is called {label!r}")
        path = root / relative
        try:
            resolved = path.resolve(strict=True)
            if not resolved.is_relative_to(root):
                raise SourceError("it leads out of its root")
            if not resolved.is_file():
                raise SourceError("it is no regular file")
            if resolved.stat().st_size > MAX_FILE_BYTES:
                raise SourceError(f"it is larger than {MAX_FILE_BYTES} bytes")
            return resolved.read_bytes()
        except FileNotFoundError:
            raise SourceError("the file is gone") from None
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise SourceError(f"it cannot be read: {reason}") from None


class SourceRouter:
    """Reads files for sources beneath a root, snapshots of URLs, and else asks the application."""

    def __init__(
        self,
        roots: Mapping[str, Path],
        reader: SourceReader | None,
        snapshot: Callable[[str], bytes | None] = lambda _: None,
    ) -> None:
        self._files = FileReader(roots)
        self._reader = reader
        self._snapshot = snapshot

    def read(self, source: str) -> str | bytes:
        """Text or bytes of a source."""
        if source.partition("/")[0] in self._files.roots:
            return self._files.read(source)
        if (kept := self._snapshot(source)) is not None:
            return kept
        if self._reader is None:
            raise SourceError("no root has it, and no SourceReader was given")
        return self._reader.read(source)
