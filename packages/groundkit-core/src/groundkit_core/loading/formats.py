"""Which format a file has, and which module knows its structure."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath

from groundkit_core.chunking.blocks import Block
from groundkit_core.errors import RefusedError

__all__ = ["FORMATS", "Format", "check_suffix", "format_of", "heading_title", "media_format"]


@dataclass(frozen=True, slots=True)
class Format:
    """A text format: its bytes decode to the document's text, its module finds the blocks."""

    name: str
    version: int
    media_type: str
    suffixes: tuple[str, ...]

    @property
    def identity(self) -> str:
        """Name and version, recorded with each document."""
        return f"{self.name}@{self.version}"

    def blocks(self, text: str) -> list[Block]:
        """The structure of a text in this format."""
        found: list[Block] = import_module(f"groundkit_core.loading.{self.name}").blocks(text)
        return found


TEXT = Format("text", 1, "text/plain", (".txt", ".text", ".log"))
FORMATS = (
    Format("markdown", 1, "text/markdown", (".md", ".markdown", ".mdown", ".mkd")),
    Format("restructuredtext", 1, "text/x-rst", (".rst", ".rest")),
    TEXT,
)

_KNOWN_BINARY = {
    "PDF": (b"%PDF-", (".pdf",)),
    "Word": (None, (".docx", ".doc", ".odt", ".rtf")),
    "spreadsheet": (None, (".xlsx", ".xls", ".ods")),
    "presentation": (None, (".pptx", ".ppt", ".odp")),
    "e-book": (None, (".epub", ".mobi")),
    "PNG image": (b"\x89PNG", (".png",)),
    "JPEG image": (b"\xff\xd8\xff", (".jpg", ".jpeg")),
    "GIF image": (b"GIF89a", (".gif",)),
    "image": (None, (".webp", ".bmp", ".ico", ".tif", ".tiff", ".heic")),
    "Zip archive": (b"PK\x03\x04", (".zip", ".jar", ".whl")),
    "archive": (b"\x1f\x8b", (".gz", ".tgz", ".bz2", ".xz", ".7z", ".tar", ".zst")),
    "program": (b"\x7fELF", (".so", ".exe", ".dll", ".dylib", ".o", ".pyc", ".class", ".wasm")),
    "database": (b"SQLite format 3\0", (".db", ".sqlite", ".sqlite3")),
    "audio or video": (None, (".mp3", ".mp4", ".wav", ".ogg", ".webm", ".mov", ".avi", ".flac")),
    "font": (None, (".ttf", ".otf", ".woff", ".woff2")),
    "HTML": (None, (".html", ".htm", ".xhtml")),
}


def check_suffix(source: str) -> None:
    """Refuse by its name a file in a format without a reader, which spares reading it."""
    suffix = PurePath(source).suffix.lower()
    for name, (_, suffixes) in _KNOWN_BINARY.items():
        if suffix in suffixes:
            raise RefusedError(f"{name}: this version has no reader for it")


def format_of(source: str, data: bytes) -> Format:
    """The format of a file by its suffix, else by its content; refuses what has no reader."""
    check_suffix(source)
    suffix = PurePath(source).suffix.lower()
    for name, (magic, _) in _KNOWN_BINARY.items():
        if magic is not None and data.startswith(magic):
            raise RefusedError(f"{name}: this version has no reader for it")
    return next((known for known in FORMATS if suffix in known.suffixes), TEXT)


def media_format(media_type: str) -> Format:
    """The format of a document that came with a media type; plain text where it is unknown."""
    return next((known for known in FORMATS if known.media_type == media_type), TEXT)


def heading_title(blocks: Iterable[Block]) -> str | None:
    """The first heading, if no other stands at its level or above it."""
    headings = [block for block in blocks if block.kind == "heading"]
    if not headings or any(other.level <= headings[0].level for other in headings[1:]):
        return None
    return headings[0].title
