import gzip
import zlib
from collections.abc import Callable

import pytest
from groundkit_core.errors import RefusedError, SourceError
from groundkit_providers.body import Body
from hypothesis import given
from hypothesis import strategies as st

CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "nothing said": ("", bytes),
    "identity": ("Identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "x-gzip": (" X-GZIP ", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare deflate": ("deflate", lambda data: zlib.compress(data, wbits=-15)),
    "bare stored deflate": ("deflate", lambda data: zlib.compress(data, 0, wbits=-15)),
}
COMPRESSED = [name for name in CODINGS if name not in ("nothing said", "identity")]


def body_of(coding: str, blocks: list[bytes], limit: int = 10_000) -> bytes:
    body = Body("http://docs.test/a", coding, limit)
    for block in blocks:
        body.add(block)
    return body.whole()


@given(st.binary(max_size=300), st.integers(1, 50), st.sampled_from(sorted(CODINGS)))
def test_a_body_is_the_same_however_it_arrives(data: bytes, size: int, name: str) -> None:
    coding, pack = CODINGS[name]
    packed = pack(data)
    assert body_of(coding, [packed[i : i + size] for i in range(0, len(packed), size)]) == data


@given(st.binary(min_size=1, max_size=300), st.data(), st.sampled_from(COMPRESSED))
def test_a_compressed_body_that_ends_early_is_an_error(
    text: bytes, data: st.DataObject, name: str
) -> None:
    coding, pack = CODINGS[name]
    packed = pack(text)
    cut = packed[: data.draw(st.integers(0, len(packed) - 1))]
    with pytest.raises(SourceError, match="its compressed reply ends too early"):
        body_of(coding, [cut] if cut else [])


@pytest.mark.parametrize("name", COMPRESSED)
@pytest.mark.parametrize("more", [b"x", b"\0", gzip.compress(b"a second part", mtime=0)])
@pytest.mark.parametrize("together", [True, False])
def test_bytes_after_the_end_of_compressed_data_are_an_error(
    name: str, more: bytes, together: bool
) -> None:
    coding, pack = CODINGS[name]
    blocks = [pack(b"a part") + more] if together else [pack(b"a part"), more]
    with pytest.raises(SourceError, match="valid"):
        body_of(coding, blocks)


@pytest.mark.parametrize("data", [b"<p>plain</p>", b"\x1f\x8b\x08", b"\x78\x9c\xff\xff", b"\0" * 9])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_what_is_not_compressed_as_it_says_is_an_error(coding: str, data: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        body_of(coding, [data])
    assert caught.value.__context__ is None


@pytest.mark.parametrize("name", CODINGS)
def test_the_limit_is_one_of_decompressed_bytes(name: str) -> None:
    coding, pack = CODINGS[name]
    assert body_of(coding, [pack(b"x" * 500)], limit=500) == b"x" * 500
    with pytest.raises(RefusedError) as caught:
        body_of(coding, [pack(b"x" * 501)], limit=500)
    assert str(caught.value) == "http://docs.test/a: larger than 500 bytes"


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "gzip,br"])
def test_another_coding_is_refused_by_name(coding: str) -> None:
    with pytest.raises(RefusedError) as caught:
        Body("http://docs.test/a", coding, 9)
    assert str(caught.value) == f"http://docs.test/a: compressed as {coding}, which is not read"
