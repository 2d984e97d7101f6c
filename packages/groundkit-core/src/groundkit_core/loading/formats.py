"""Which format a file has, which module reads it, and how that reader is called for ever."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePath
from types import ModuleType
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from groundkit_core.chunking.blocks import Block
from groundkit_core.config import ExtractionConfig
from groundkit_core.errors import RefusedError, SourceError
from groundkit_core.loading.code import MEDIA_TYPES

__all__ = [
    "FORMATS",
    "USUAL",
    "Format",
    "check_installed",
    "check_suffix",
    "fetched_format",
    "format_of",
    "heading_title",
    "media_format",
    "named_format",
]

USUAL = ExtractionConfig()


@dataclass(frozen=True, slots=True)
class Format:
    """A format and the module `groundkit_core.loading.<name>` that reads it.

    A `text` format's bytes decode to the document's text; an `extracted` one needs `library`,
    which the extra `extra` brings; each line of `records` is a document of its own.
    """

    name: str
    version: int
    suffixes: Mapping[str, str]
    """Media types by suffix."""
    kind: Literal["text", "extracted", "records"] = "text"
    called: str = ""
    extra: str = ""
    library: str = ""

    @property
    def module(self) -> ModuleType:
        """The reader's module."""
        return import_module(f"groundkit_core.loading.{self.name}")

    @property
    def installed(self) -> bool:
        """Whether the library that reads it is there."""
        return not self.library or find_spec(self.library) is not None

    def media_type(self, source: str) -> str:
        """The media type of a file by its suffix, else the format's first."""
        types = self.suffixes
        return types.get(PurePath(source).suffix.lower()) or next(iter(types.values()))

    def options(self, config: ExtractionConfig) -> dict[str, Any]:
        """The settings that change what this format's reader gives, where they are not usual."""
        if self.name == "html" and config.html == "full":
            return {"content": "full"}
        return config.records() if self.kind == "records" else {}

    def identity(self, config: ExtractionConfig = USUAL) -> str:
        """Name, version and options of the reader, recorded with each document."""
        options = urlencode(self.options(config), doseq=True)
        return f"{self.name}@{self.version}" + (f"?{options}" if options else "")

    def blocks(self, text: str) -> list[Block]:
        """The structure of a text in this format."""
        found: list[Block] = self.module.blocks(text) if self.kind == "text" else []
        return found


TEXT = Format("text", 1, dict.fromkeys((".txt", ".text", ".log"), "text/plain"))
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FORMATS = (
    Format("markdown", 1, dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), "text/markdown")),
    Format("restructuredtext", 1, dict.fromkeys((".rst", ".rest"), "text/x-rst")),
    TEXT,
    Format("csv", 1, {".csv": "text/csv", ".tsv": "text/tab-separated-values"}),
    Format("code", 1, MEDIA_TYPES),
    Format("jsonl", 1, dict.fromkeys((".jsonl", ".ndjson"), "application/jsonl"), "records"),
    Format(
        "html",
        1,
        {".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml"},
        "extracted",
        "HTML",
        "html",
        "selectolax",
    ),
    Format("pdf", 1, {".pdf": "application/pdf"}, "extracted", "PDF", "pdf", "pypdfium2"),
    Format(
        "docx",
        1,
        {
            ".docx": f"{_WORD}document",
            ".dotx": f"{_WORD}template",
            ".docm": "application/vnd.ms-word.document.macroenabled.12",
        },
        "extracted",
        "Word",
    ),
    Format(
        "xlsx",
        1,
        {
            ".xlsx": _SHEET,
            ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
            ".xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
            ".xls": "application/vnd.ms-excel",
            ".ods": "application/vnd.oasis.opendocument.spreadsheet",
        },
        "extracted",
        "spreadsheet",
        "office",
        "python_calamine",
    ),
)

_UNREADABLE = {
    "office document": (".doc", ".odt", ".rtf"),
    "presentation": (".pptx", ".ppt", ".odp"),
    "e-book": (".epub", ".mobi"),
    "PNG image": (".png",),
    "JPEG image": (".jpg", ".jpeg"),
    "GIF image": (".gif",),
    "image": (".webp", ".bmp", ".ico", ".tif", ".tiff", ".heic"),
    "Zip archive": (".zip", ".jar", ".whl"),
    "archive": (".gz", ".tgz", ".bz2", ".xz", ".7z", ".tar", ".zst"),
    "program": (".so", ".exe", ".dll", ".dylib", ".o", ".pyc", ".class", ".wasm"),
    "database": (".db", ".sqlite", ".sqlite3"),
    "audio or video": (".mp3", ".mp4", ".wav", ".ogg", ".webm", ".mov", ".avi", ".flac"),
    "font": (".ttf", ".otf", ".woff", ".woff2"),
}
_MAGIC = {
    b"\x89PNG": "PNG image",
    b"\xff\xd8\xff": "JPEG image",
    b"GIF89a": "GIF image",
    b"PK\x03\x04": "Zip archive",
    b"\x1f\x8b": "archive",
    b"\x7fELF": "program",
    b"SQLite format 3\0": "database",
}
_PDF = next(known for known in FORMATS if known.name == "pdf")
_BY_SUFFIX = {suffix: known for known in FORMATS for suffix in known.suffixes}
_BY_NAME = {known.name: known for known in FORMATS}
_BY_MEDIA_TYPE = {type_: known for known in FORMATS for type_ in known.suffixes.values()}


def check_suffix(source: str) -> None:
    """Refuse by its name a file that cannot be read, which spares reading it."""
    suffix = PurePath(source).suffix.lower()
    for name, suffixes in _UNREADABLE.items():
        if suffix in suffixes:
            raise RefusedError(f"{name}: this version has no reader for it")
    if known := _BY_SUFFIX.get(suffix):
        check_installed(known)


def check_installed(known: Format) -> None:
    """Say how to install what reads a format, if it is missing."""
    if not known.installed:
        raise SourceError(f"{known.called}: run: pip install 'groundkit-core[{known.extra}]'")


def format_of(source: str, data: bytes, config: ExtractionConfig = USUAL) -> Format:
    """The format of a file by its suffix, else by its content; refuses what has no reader."""
    check_suffix(source)
    known = _BY_SUFFIX.get(PurePath(source).suffix.lower())
    if known is not None and known.kind == "records" and config.jsonl_text is None:
        known = TEXT
    if known is not None and known.kind == "extracted":
        return known
    if data.startswith(b"%PDF-"):
        check_installed(_PDF)
        return _PDF
    for magic, name in _MAGIC.items():
        if data.startswith(magic):
            raise RefusedError(f"{name}: this version has no reader for it")
    return known or TEXT


def fetched_format(url: str, media_type: str, data: bytes, config: ExtractionConfig) -> Format:
    """The format of a URL's body by its media type, else by the end of its path."""
    known = _BY_MEDIA_TYPE.get(media_type)
    if known is None or known is TEXT:
        known = format_of(urlsplit(url).path, data, config)
    if known.kind == "records":
        return TEXT
    check_installed(known)
    return known


def media_format(media_type: str) -> Format:
    """The format of a document that came with a media type; plain text where it is unknown."""
    known = _BY_MEDIA_TYPE.get(media_type, TEXT)
    return known if known.kind == "text" else TEXT


def named_format(identity: str) -> tuple[Format, dict[str, list[str]]] | None:
    """The format and the options of a recorded reader; None where this version lacks it."""
    name, _, options = identity.partition("?")
    known = _BY_NAME.get(name.partition("@")[0])
    if known is None or name != f"{known.name}@{known.version}":
        return None
    found: dict[str, list[str]] = {}
    for key, value in parse_qsl(options, keep_blank_values=True):
        found.setdefault(key, []).append(value)
    return known, found


def heading_title(blocks: Iterable[Block]) -> str | None:
    """The first heading, if no other stands at its level or above it."""
    headings = [block for block in blocks if block.kind == "heading"]
    if not headings or any(other.level <= headings[0].level for other in headings[1:]):
        return None
    return headings[0].title
