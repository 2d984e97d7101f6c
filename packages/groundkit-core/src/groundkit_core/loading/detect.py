"""From bytes to text: which encoding, and whether it is text at all."""

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass

from groundkit_core.errors import RefusedError
from groundkit_core.loading.labels import codec_of

__all__ = ["Decoded", "decode", "decode_as"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_SAMPLE = 256 * 1024
_CONFIDENCE = 0.4


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, the codec that gave it, and whether that codec is a guess."""

    text: str
    encoding: str
    guessed: bool = False


def decode(data: bytes, *declared: str | None) -> Decoded:
    """Decode by byte order mark, strict UTF-8, detection, then Windows-1252; else refuse.

    Encodings that were `declared` come right after the mark, the first that fits.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return Decoded(decode_as(data, encoding), encoding)
    for codec in filter(None, map(codec_of, filter(None, declared))):
        with suppress(RefusedError):
            return Decoded(decode_as(data, codec), codec)
    if b"\0" in data:
        raise RefusedError("binary: it holds NUL bytes")
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    for guess in filter(None, (_detected(data), "cp1252")):
        try:
            return Decoded(data.decode(guess), guess, guessed=True)
        except UnicodeError:
            continue
    raise RefusedError("not text in UTF-8, in an encoding that can be told, or in Windows-1252")


def decode_as(data: bytes, encoding: str) -> str:
    """Decode with a known codec, refusing what it cannot read."""
    try:
        text = data.decode(encoding)
    except (UnicodeError, LookupError, ValueError):
        raise RefusedError(f"it does not decode as {encoding!a}") from None
    if "\0" in text:
        raise RefusedError("binary: it holds NUL characters")
    if _SURROGATES.search(text):
        raise RefusedError(f"as {encoding!a} it holds lone surrogates")
    return text


def _detected(data: bytes) -> str | None:
    import chardet

    found = chardet.detect(data[:_SAMPLE])
    name = found["encoding"]
    if found["confidence"] < _CONFIDENCE:
        return None
    if name is None:
        raise RefusedError("binary: its bytes are those of no text")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
