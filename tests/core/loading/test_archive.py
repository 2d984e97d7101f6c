import struct
import zipfile
from contextlib import suppress
from io import BytesIO
from zlib import crc32

import pytest
from groundkit_core.errors import RefusedError
from groundkit_core.loading.archive import check_zip
from hypothesis import given
from hypothesis import strategies as st

MIB = 1024 * 1024


def packed(*contents: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A Zip archive with an entry for each content."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for place, content in enumerate(contents):
            archive.writestr(f"entry{place}", content)
    return stream.getvalue()


def reason(data: bytes) -> str:
    with pytest.raises(RefusedError) as caught:
        check_zip(data, "Word")
    return str(caught.value)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_is_let_through(method: int) -> None:
    check_zip(packed(b"", b"text" * 1000, b"\0" * MIB, method=method), "Word")


@pytest.mark.parametrize("data", [b"", b"PK", b"%PDF-1.7", packed(b"a")[:-5]])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    assert reason(data) == "Word: no valid Zip archive"


def test_an_ole_file_is_refused_as_encrypted_or_old() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    assert reason(data) == "Word: it is encrypted or in an old format"


def test_encrypted_entries_are_refused() -> None:
    data = bytearray(packed(b"text"))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert reason(bytes(data)) == "Word: it is encrypted"


def test_other_methods_of_packing_are_refused() -> None:
    data = packed(b"\0" * MIB, method=zipfile.ZIP_BZIP2)
    assert reason(data) == "Word: its Zip archive is packed in a way that is not read"


def test_more_than_twenty_thousand_entries_are_refused() -> None:
    check_zip(packed(*[b""] * 20_000), "Word")
    assert reason(packed(*[b""] * 20_001)) == "Word: more than 20000 entries in its Zip archive"


def test_more_than_512_mib_are_refused_before_they_are_unpacked() -> None:
    data = packed(b"\0" * MIB, b"")
    lies = data.replace(struct.pack("<L", MIB), struct.pack("<L", 512 * MIB + 1))
    assert reason(lies) == "Word: more than 512 MiB when unpacked"


@pytest.mark.parametrize("declared", [0, 1000, 16 * MIB - 1, 16 * MIB + 1])
def test_entries_of_another_size_than_they_say_are_refused(declared: int) -> None:
    content = b"\0" * (16 * MIB)
    checksum = struct.pack("<L", crc32(content))
    lies = packed(content).replace(struct.pack("<L", len(content)), struct.pack("<L", declared))
    assert reason(lies) == "Word: its Zip archive is damaged"
    forged = lies.replace(checksum, struct.pack("<L", crc32(content[:declared])))
    assert reason(forged) == "Word: its Zip archive is damaged"


def test_a_changed_byte_is_refused() -> None:
    data = bytearray(packed(b"some text", method=zipfile.ZIP_STORED))
    data[data.index(b"text")] ^= 1
    assert reason(bytes(data)) == "Word: its Zip archive is damaged"


@given(st.lists(st.binary(max_size=40), max_size=3), st.data())
def test_damaged_archives_are_refused_or_read_but_never_an_error(
    contents: list[bytes], data: st.DataObject
) -> None:
    damaged = bytearray(packed(*contents))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with suppress(RefusedError):
        check_zip(bytes(damaged), "Word")
