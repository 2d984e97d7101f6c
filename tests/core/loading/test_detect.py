import codecs
from hashlib import shake_128

import pytest
from groundkit_core.errors import RefusedError
from groundkit_core.loading.detect import Decoded, decode, decode_as
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import texts, unhurried

MARKED = {
    "utf-8-sig": (codecs.BOM_UTF8, "utf-8"),
    "utf-16": (codecs.BOM_UTF16_LE, "utf-16-le"),
    "utf-16, big": (codecs.BOM_UTF16_BE, "utf-16-be"),
    "utf-32": (codecs.BOM_UTF32_LE, "utf-32-le"),
    "utf-32, big": (codecs.BOM_UTF32_BE, "utf-32-be"),
}


@pytest.mark.parametrize("name", MARKED)
@unhurried
@given(text=texts)
def test_a_byte_order_mark_decides_and_is_no_part_of_the_text(name: str, text: str) -> None:
    mark, codec = MARKED[name]
    text = "x" + text.replace("\0", "")
    assert decode(mark + text.encode(codec)) == Decoded(text, name.partition(",")[0])


@pytest.mark.parametrize("name", MARKED)
def test_a_mark_alone_is_an_empty_text(name: str) -> None:
    assert decode(MARKED[name][0]).text == ""


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + b"caf\xe9",
        codecs.BOM_UTF8 + b"\xed\xa0\x80",
        codecs.BOM_UTF16_LE + b"o\0k",
        codecs.BOM_UTF16_LE + b"\x00\xd8o\0",
        codecs.BOM_UTF16_BE + b"\xd8\x00",
        codecs.BOM_UTF32_LE + b"o\0\0",
        codecs.BOM_UTF32_BE + b"\0\x11\0\0",
    ],
)
def test_what_is_invalid_after_a_mark_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError, match=r"does not decode as .utf-"):
        decode(data)


@pytest.mark.parametrize("name", MARKED)
def test_a_nul_after_a_mark_is_refused(name: str) -> None:
    mark, codec = MARKED[name]
    with pytest.raises(RefusedError, match="NUL"):
        decode(mark + "o\0k".encode(codec))


@pytest.mark.parametrize("data", [b"o\0k", b"\0", "ok".encode("utf-16-le"), b"caf\xe9\0"])
def test_a_nul_without_a_mark_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError, match="NUL"):
        decode(data)


@unhurried
@given(texts)
def test_utf8_is_taken_as_it_is(text: str) -> None:
    text = "x" + text.replace("\0", "")
    assert decode(text.encode()) == Decoded(text, "utf-8")


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode(b"") == Decoded("", "utf-8")


def test_line_ends_stay() -> None:  # A4
    assert decode(b"\xef\xbb\xbfLine one\r\nLine two\r\n").text == "Line one\r\nLine two\r\n"


def test_windows_text_keeps_every_character() -> None:  # A4
    assert decode(b"Caf\xe9 costs 5 \x80") == Decoded("Café costs 5 €", "cp1252", guessed=True)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("日本語のテキストです。これは文字コードの試験です。", "cp932"),
        ("日本語のテキストです。これは文字コードの試験です。", "euc_jp"),
        ("這是一個用來測試編碼偵測的中文句子，內容很普通。", "big5"),
        ("이 문장은 문자 인코딩을 시험하기 위한 한국어 문장입니다.", "cp949"),
    ],
)
def test_an_encoding_that_can_be_told_is_a_guess(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding))
    assert (found.text, found.guessed) == (text, True)
    assert decode_as(text.encode(encoding), found.encoding) == text


def test_a_byte_far_into_plain_ascii_is_still_decoded() -> None:
    data = b"a" * 600_000 + b"\xe9"
    assert decode(data).text == "a" * 600_000 + "é"


@pytest.mark.parametrize("data", [b"\x81", b"a\x81\x8d", b"\xc0\x80\x81", b"\x8f\x90\x9d\xff"])
def test_what_no_step_can_read_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError, match="not text"):
        decode(data)


@pytest.mark.parametrize("seed", range(5))
def test_bytes_without_text_are_refused_though_every_byte_has_a_character(seed: int) -> None:
    noise = shake_128(bytes([seed])).digest(64)
    data = bytes(byte for byte in noise if byte not in b"\0\x81\x8d\x8f\x90\x9d")
    assert data.decode("cp1252")
    with pytest.raises(RefusedError):
        decode(data)


@unhurried
@given(st.binary(max_size=60))
def test_every_file_is_refused_or_gives_text_that_its_recorded_codec_gives_again(
    data: bytes,
) -> None:
    try:
        found = decode(data)
    except RefusedError:
        return
    assert "\0" not in found.text
    assert decode_as(data, found.encoding) == found.text
    assert found.text.encode().decode() == found.text


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii", "utf-16", "klingon", "base64"])
def test_a_codec_that_cannot_read_the_bytes_refuses_them(encoding: str) -> None:
    with pytest.raises(RefusedError, match=f"does not decode as .{encoding}"):
        decode_as(b"\x81", encoding)
