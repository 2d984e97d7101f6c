"""Reading files of lines, plain or compressed."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from groundkit_core.errors import EvalError

__all__ = ["numbered"]


def numbered(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers, without a byte order mark."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError:
        raise EvalError(f"{path}:{number}: it is no UTF-8") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise EvalError(f"{path}: it is no whole gzip file") from None
    except OSError as error:
        raise EvalError(f"{path}: {error.strerror}") from None
