"""Which encoding a web page has."""

import re

from groundkit_core.loading.detect import Decoded, decode, decode_as

__all__ = ["decode_page"]

_HEAD = 4096
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(rb"<meta\b[^>]*?charset\s*=\s*[\"']?\s*([\w:.+-]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w:.+-]+)", re.IGNORECASE)


def decode_page(data: bytes, encoding: str | None, declared: str | None) -> Decoded:
    """Decode as `encoding` if given, else by mark, declaration, UTF-8 or detection.

    What HTTP declares goes before what the page declares; either counts if it decodes.
    """
    if encoding is not None:
        return Decoded(decode_as(data, encoding), encoding)
    return decode(data, declared, _declared_in(data))


def _declared_in(data: bytes) -> str | None:
    head = _COMMENT.sub(b"", data[:_HEAD])
    match = _XML.match(head) or _META.search(head)
    return match[1].decode("ascii", "replace") if match else None
