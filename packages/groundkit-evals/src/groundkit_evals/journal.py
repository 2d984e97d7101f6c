"""What a long run has done so far, so that a run that was stopped goes on."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import Any, Generic, TypeVar

from groundkit_core.contracts import Contract
from groundkit_core.errors import EvalError
from pydantic import ValidationError

__all__ = ["Journal"]

T = TypeVar("T", bound=Contract)


class Journal(Generic[T]):
    """Finished parts of one run by their key, a line each in a file, flushed one by one.

    The first line is `header`, all that the parts depend on. A file with another is begun anew; if
    it holds parts, it stays beside the new one as `.old`.
    """

    def __init__(self, path: Path, kind: type[T], header: Mapping[str, Any]) -> None:
        self._path = path
        self._kind = kind
        self._header = json.dumps(header, sort_keys=True)
        self.done: dict[str, T] = self._read()

    def add(self, key: str, part: T) -> None:
        """Keep a finished part."""
        self._append(json.dumps([key, part.model_dump_json()]))
        self.done[key] = part

    def _read(self) -> dict[str, T]:
        with self._translated():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            text = self._path.read_bytes() if self._path.exists() else b""
            whole, _, _ = text.rpartition(b"\n")  # what follows the last line break was cut off
            first, *lines = whole.split(b"\n")
            if first.decode(errors="replace") == self._header:
                os.truncate(self._path, len(whole) + 1)
                return self._parts(lines)
            if lines:
                self._path.replace(self._path.with_name(f"{self._path.name}.old"))
            self._path.write_bytes(b"")
            self._append(self._header)
            return {}

    def _parts(self, lines: list[bytes]) -> dict[str, T]:
        try:
            parts = [json.loads(line) for line in lines]
            return {key: self._kind.model_validate_json(part) for key, part in parts}
        except (TypeError, ValueError, ValidationError):
            raise EvalError(
                f"{self._path}: it is damaged; delete it to begin the run anew"
            ) from None

    def _append(self, line: str) -> None:
        with self._translated(), self._path.open("ab", buffering=0) as stream:
            size = stream.seek(0, os.SEEK_END)
            try:
                data = line.encode() + b"\n"
                if stream.write(data) != len(data):
                    raise OSError(ENOSPC, os.strerror(ENOSPC))
                os.fsync(stream.fileno())
            except OSError:
                stream.truncate(size)
                raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise EvalError(f"{self._path}: {error.strerror}") from None
