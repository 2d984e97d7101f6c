"""What a long run has done so far, so that a run that was stopped goes on."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from groundkit_core.contracts import Contract
from groundkit_core.errors import EvalError
from pydantic import ValidationError

__all__ = ["Journal"]

T = TypeVar("T", bound=Contract)


class Journal(Generic[T]):
    """Finished parts of one run by their key, a line each in a file, flushed one by one.

    The first line is `header`, all that the parts depend on; a file with another is begun anew.
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

    def remove(self) -> None:
        """Forget the run, once its result is written."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, T]:
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            text = b""
        whole, _, _ = text.rpartition(b"\n")  # what follows the last line break was cut off
        first, *lines = whole.split(b"\n")
        if first.decode(errors="replace") != self._header:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.unlink(missing_ok=True)
            self._append(self._header)
            return {}
        os.truncate(self._path, len(whole) + 1)
        try:
            parts = [json.loads(line) for line in lines]
            return {key: self._kind.model_validate_json(part) for key, part in parts}
        except (ValueError, ValidationError):
            raise EvalError(
                f"{self._path}: it is damaged; delete it to begin the run anew"
            ) from None

    def _append(self, line: str) -> None:
        with self._path.open("ab") as stream:
            stream.write(line.encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
