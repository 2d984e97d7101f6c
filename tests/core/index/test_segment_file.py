"""Array files: what is written comes back, and damage is told by the file's name."""

import json
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.index import bm25
from groundkit_core.index.lexical import LexicalIndex, LexicalSegment
from groundkit_core.index.segment_file import (
    Array,
    SegmentFile,
    damaged_arrays,
    open_segment,
    write_segment,
)
from groundkit_core.terms import term_hash
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

MAGIC = 8

dtypes = st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64, np.int64, np.float64])
some_arrays = st.dictionaries(
    st.sampled_from(["terms", "offsets", "ordinals", "seq", "id"]),
    dtypes.flatmap(lambda dtype: arrays_of.arrays(dtype, st.integers(0, 40))),
)


@settings(max_examples=150, deadline=None)
@given(some_arrays)
def test_arrays_come_back_as_they_were(arrays: dict[str, Array]) -> None:
    with TemporaryDirectory() as folder:
        written = write_segment(Path(folder), "lex", arrays)
        opened = open_segment(Path(folder), written)

        assert list(opened) == list(arrays)
        for name, array in arrays.items():
            assert opened[name].dtype == array.dtype
            assert opened[name].tobytes() == array.tobytes()
        assert written.bytes == (Path(folder) / written.file).stat().st_size
        assert damaged_arrays(Path(folder), written) == []


def test_arrays_are_aligned_and_read_only(tmp_path: Path) -> None:
    arrays: dict[str, Array] = {
        "a": np.arange(3, dtype=np.uint8),
        "b": np.arange(5, dtype=np.uint64),
    }
    opened = open_segment(tmp_path, write_segment(tmp_path, "lex", arrays))

    assert [opened[name].ctypes.data % 64 for name in arrays] == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        opened["b"][0] = 7


def test_a_name_says_the_content(tmp_path: Path) -> None:
    first = write_segment(tmp_path, "lex", {"a": np.arange(3)})
    again = write_segment(tmp_path, "lex", {"a": np.arange(3)})
    other = write_segment(tmp_path, "lex", {"a": np.arange(4)})

    assert first == again
    assert first.file != other.file
    assert {path.name for path in tmp_path.iterdir()} == {first.file, other.file}


@pytest.fixture
def written(tmp_path: Path) -> SegmentFile:
    arrays: dict[str, Array] = {
        "a": np.arange(100, dtype=np.uint32),
        "b": np.arange(50, dtype=np.uint64),
    }
    return write_segment(tmp_path, "lex", arrays)


def flipped(at: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "truncated by a byte": lambda data: data[:-1],
    "truncated in the header": lambda data: data[:20],
    "longer by a byte": lambda data: data + b"\0",
    "zeroed": lambda data: bytes(len(data)),
    "no end of header": lambda data: data.replace(b"\n", b" "),
    "magic": flipped(0),
    "version": flipped(MAGIC - 1),
    "directory": flipped(MAGIC + 3),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_when_a_file_is_opened(
    kind: str, written: SegmentFile, tmp_path: Path
) -> None:
    path = tmp_path / written.file
    path.write_bytes(DAMAGE[kind](path.read_bytes()))

    with pytest.raises(CollectionCorruptError, match=written.file):
        open_segment(tmp_path, written)
    with pytest.raises(CollectionCorruptError, match=written.file):
        damaged_arrays(tmp_path, written)


def test_a_damaged_byte_of_an_array_is_found_by_its_name(
    written: SegmentFile, tmp_path: Path
) -> None:
    path = tmp_path / written.file
    data = path.read_bytes()
    start = -(-(data.index(b"\n", MAGIC) + 1) // 64) * 64
    for at in range(start, start + 400, 7):
        path.write_bytes(flipped(at)(data))
        assert damaged_arrays(tmp_path, written) == ["a"]
    for at in range(start + 448, start + 448 + 400, 7):
        path.write_bytes(flipped(at)(data))
        assert damaged_arrays(tmp_path, written) == ["b"]
    assert len(data) == start + 448 + 400


@pytest.mark.parametrize(
    "entry",
    [
        ["a", "<u4", 0, 101, ""],
        ["a", "<u4", 64, 100, ""],
        ["a", "<u4", 1 << 40, 1, ""],
        ["a", "<u4", 0, 1 << 60, ""],
        ["a", "<u4", -64, 100, ""],
        ["a", "<u4", 0, -1, ""],
    ],
)
def test_an_array_beyond_the_file_is_corrupt(entry: list[object], tmp_path: Path) -> None:
    header = b"GKSEG\x00\x00\x01" + json.dumps([entry]).encode() + b"\n"
    data = header.ljust(-(-len(header) // 64) * 64, b"\0") + bytes(400)
    (tmp_path / "x.lex").write_bytes(data)
    checksum = blake2b(header, digest_size=16).hexdigest()

    with pytest.raises(CollectionCorruptError, match=r"x\.lex"):
        open_segment(tmp_path, SegmentFile("x.lex", len(data), checksum))


def lexical(**changed: object) -> LexicalSegment:
    """Two chunks; the first holds the term `pump` twice, the second once."""
    arrays: dict[str, Array] = {
        "terms": np.array([term_hash("pump")], np.uint64),
        "offsets": np.array([0, 2], np.uint64),
        "ordinals": np.array([0, 1], np.uint32),
        "frequencies": np.array([2, 1], np.uint8),
        "lengths": np.array([2, 1], np.uint32),
        "seq": np.array([1, 2], np.uint64),
        "id": np.array([5, 6], np.uint64),
        "content": np.array([7, 8], np.uint64),
        "doc": np.array([1, 1], np.uint32),
        "embed": np.array([9, 10], np.uint64),
    }
    dead = np.array(changed.pop("dead", []), np.uint32)
    arrays |= {name: np.array(value, arrays[name].dtype) for name, value in changed.items()}
    return LexicalSegment("x.lex", arrays, dead)


def pumps(segment: LexicalSegment) -> list[bm25.Hit]:
    """What a search for `pump` finds."""
    index, query = LexicalIndex([segment]), {term_hash("pump"): 1.0}
    return bm25.search(index, query, bm25.statistics(index, 2, 3, query), 10)


@pytest.mark.parametrize(
    "changed",
    [
        {"ordinals": [0, 2]},
        {"ordinals": [0, 2**32 - 1]},
        {"offsets": [0, 3]},
        {"offsets": [2, 0]},
        {"offsets": [2**63, 2**64 - 1]},
    ],
)
def test_a_posting_beyond_the_segment_is_corrupt(changed: dict[str, object]) -> None:
    with pytest.raises(CollectionCorruptError, match=r"x\.lex"):
        pumps(lexical(**changed))


def test_a_dead_chunk_beyond_the_segment_is_corrupt() -> None:
    with pytest.raises(CollectionCorruptError, match=r"x\.lex"):
        lexical(dead=[2])
