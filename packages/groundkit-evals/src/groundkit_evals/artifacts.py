"""Files of results: whole or not there, read back only if they say what they should."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from groundkit_core.contracts import Contract
from groundkit_core.errors import EvalError
from pydantic import ValidationError

__all__ = ["ECHO", "LATEST", "PAGE", "problem_of", "read_artifact", "write_artifact", "write_text"]

LATEST, ECHO, PAGE = "latest.json", "echo-latest.json", "latest.html"

T = TypeVar("T", bound=Contract)


def write_artifact(path: Path, artifact: Contract) -> None:
    """Replace a file by an artifact in one step."""
    write_text(path, artifact.model_dump_json(indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Replace a file by a text in one step, so that it is never half written."""
    with _translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with new.open("w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


def read_artifact(path: Path, kind: type[T]) -> T:
    """An artifact of a kind; anything else in the file is an error."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise EvalError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        raise EvalError(f"{path}: it is no {kind.__name__}: {problem_of(error)}") from None


def problem_of(error: ValidationError) -> str:
    """What is wrong and where, without the text that it is wrong in."""
    first = error.errors(include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from None
    except UnicodeEncodeError:
        raise EvalError(f"{path}: cannot be written: its text is no valid Unicode") from None
