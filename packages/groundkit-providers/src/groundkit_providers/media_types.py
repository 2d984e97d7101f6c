"""What a reply says its body is, and which of that can be read."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from groundkit_core.loading.formats import FORMATS
from groundkit_core.loading.labels import codec_of

__all__ = ["ACCEPT", "charset", "document_type", "media_type"]

_BY_SUFFIX = {end: kind for known in FORMATS for end, kind in known.suffixes.items()}
_READABLE = dict.fromkeys(_BY_SUFFIX.values())
ACCEPT = ", ".join([*_READABLE, "*/*;q=0.1"])
"""The Accept header of a request for a document."""

_OTHER_NAMES = {
    "application/csv": "text/csv",
    "application/javascript": "text/javascript",
    "application/jsonlines": "application/jsonl",
    "application/x-javascript": "text/javascript",
    "application/x-jsonlines": "application/jsonl",
    "application/x-ndjson": "application/jsonl",
    "application/x-pdf": "application/pdf",
    "text/rst": "text/x-rst",
    "text/x-markdown": "text/markdown",
}
# What servers say of files they do not know, so that the suffix knows better.
_UNSAID = ("", "application/octet-stream", "binary/octet-stream", "text/plain")
_TYPE = re.compile(r"[a-z0-9.+-]{1,99}/[a-z0-9.+_-]{1,99}")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?\s*([\w.:+-]{1,40})", re.IGNORECASE)


def media_type(content_type: str) -> str:
    """The media type that a Content-Type names, in lower case and without parameters."""
    named = re.split("[;,]", content_type, maxsplit=1)[0].strip().lower()
    return named if _TYPE.fullmatch(named) else ""


def charset(content_type: str) -> str | None:
    """The character set that a Content-Type names, if browsers know it."""
    found = _CHARSET.search(content_type)
    return found[1] if found and codec_of(found[1]) else None


def document_type(content_type: str, urls: Iterable[str]) -> str | None:
    """The readable media type of a reply: the one it names, or that of a suffix in its URLs."""
    named = media_type(content_type)
    if named in _UNSAID:
        for url in urls:
            suffix = PurePosixPath(unquote(urlsplit(url).path)).suffix.lower()
            if suffix in _BY_SUFFIX:
                return _BY_SUFFIX[suffix]
    named = _OTHER_NAMES.get(named, named)
    return named if named in _READABLE else None
