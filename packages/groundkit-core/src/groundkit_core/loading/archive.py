"""Guarding against Zip archives that are none, encrypted, damaged or far larger than they look."""

import copy
import struct
import zipfile
import zlib
from io import BytesIO

from groundkit_core.errors import RefusedError

__all__ = ["check_zip", "read_entry"]

_MAX_ENTRIES = 20_000
_MAX_SIZE = 512 * 1024 * 1024
_OLE = b"\xd0\xcf\x11\xe0"
_DIRECTORY_ENTRY = b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_PIECE = 1024 * 1024
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    ValueError,
)


def check_zip(data: bytes, name: str) -> None:
    """Refuse what is no Zip archive of a sane size whose entries are as large as they say.

    `name` is that of the format, with which the reason begins.
    """
    if data.startswith(_OLE):
        raise RefusedError(f"{name}: it is encrypted or in an old format")
    if data.count(_DIRECTORY_ENTRY) > _MAX_ENTRIES:
        raise RefusedError(f"{name}: more than {_MAX_ENTRIES} entries in its Zip archive")
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except _BROKEN:
        raise RefusedError(f"{name}: no valid Zip archive") from None
    with archive:
        entries = archive.infolist()
        if any(entry.flag_bits & 1 for entry in entries):
            raise RefusedError(f"{name}: it is encrypted")
        if any(entry.compress_type not in _METHODS for entry in entries):
            raise RefusedError(f"{name}: its Zip archive is packed in a way that is not read")
        if sum(entry.file_size for entry in entries) > _MAX_SIZE:
            raise RefusedError(f"{name}: more than {_MAX_SIZE // 1024**2} MiB when unpacked")
        for entry in entries:
            _check_entry(archive, entry, name)


def read_entry(archive: zipfile.ZipFile, path: str, name: str) -> bytes | None:
    """The content of an entry, if there is one; never more than its declared size."""
    try:
        return archive.read(path)
    except KeyError:
        return None
    except _BROKEN:
        raise RefusedError(f"{name}: its Zip archive is damaged") from None


def _check_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> None:
    """Unpack an entry as if it were a byte longer, which ends at once where it truly is."""
    longer = copy.copy(entry)
    longer.file_size += 1
    size = 0
    try:
        with archive.open(longer) as stream:
            while piece := stream.read(_PIECE):
                size += len(piece)
    except _BROKEN:
        raise RefusedError(f"{name}: its Zip archive is damaged") from None
    if size != entry.file_size:
        raise RefusedError(f"{name}: its Zip archive is damaged")
