"""Immutable array files: a checksummed directory, then 64-byte aligned arrays."""

import json
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from groundkit_core.errors import CollectionCorruptError
from groundkit_core.failpoints import reach

__all__ = ["Array", "SegmentFile", "damaged_arrays", "open_segment", "sync_folder", "write_segment"]

Array = np.ndarray[Any, Any]
"""A NumPy array, without the cost of importing numpy.typing."""

_MAGIC = b"GKSEG\x00\x00\x01"
_ALIGN = 64
_LONGEST_HEADER = 1 << 16


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A segment's file name, size in bytes and header checksum, as the database records them."""

    file: str
    bytes: int
    checksum: str


def _digest(data: bytes | memoryview) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN


def write_segment(folder: Path, kind: str, arrays: Mapping[str, Array]) -> SegmentFile:
    """Write arrays to a file named by its content, durable when this returns.

    Offsets count from the first aligned byte after the header.
    """
    directory: list[tuple[str, str, int, int, str]] = []
    contents: list[tuple[int, memoryview]] = []
    offset = length = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).data.cast("B")
        contents.append((offset, data))
        directory.append((name, array.dtype.str, offset, array.size, _digest(data)))
        length = offset + data.nbytes
        offset = _aligned(length)
    header = _MAGIC + json.dumps(directory, separators=(",", ":")).encode() + b"\n"
    checksum = _digest(header)
    name = f"{checksum}.{kind}"
    temporary = folder / f"{name}.tmp{os.getpid()}"
    with temporary.open("wb") as out:
        out.write(header)
        start = _aligned(len(header))
        for offset, data in contents:
            out.seek(start + offset)
            out.write(data)
        size = start + length
        out.truncate(size)
        out.flush()
        reach("segment.written")
        os.fsync(out.fileno())
    reach("segment.synced")
    temporary.replace(folder / name)
    sync_folder(folder)
    reach("segment.named")
    return SegmentFile(name, size, checksum)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system has that notion."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_segment(folder: Path, segment: SegmentFile) -> dict[str, Array]:
    """Map a segment's arrays, read-only; checks the size and the header, not the arrays."""
    path = folder / segment.file
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != segment.bytes:
            raise CollectionCorruptError(
                f"{path}: {size} bytes where the collection recorded {segment.bytes}"
            )
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header = data[: data.find(b"\n", len(_MAGIC), _LONGEST_HEADER) + 1]
    if not header.startswith(_MAGIC) or _digest(header) != segment.checksum:
        raise CollectionCorruptError(f"{path}: its header does not match its recorded checksum")
    start = _aligned(len(header))
    arrays: dict[str, Array] = {}
    for name, dtype, offset, count, _ in json.loads(header[len(_MAGIC) :]):
        if min(offset, count) < 0 or start + offset + count * np.dtype(dtype).itemsize > size:
            raise CollectionCorruptError(f"{path}: array {name} lies beyond the file")
        arrays[name] = np.frombuffer(data, dtype, count, start + offset)
    return arrays


def damaged_arrays(folder: Path, segment: SegmentFile, only: str | None = None) -> list[str]:
    """Names of the arrays, or whether it is this one, whose bytes do not match their checksums."""
    arrays = open_segment(folder, segment)
    with (folder / segment.file).open("rb") as file:
        header = file.readline(_LONGEST_HEADER)
    return [
        name
        for name, _, _, _, checksum in json.loads(header[len(_MAGIC) :])
        if only in (None, name)
        and _digest(np.ascontiguousarray(arrays[name]).data.cast("B")) != checksum
    ]
