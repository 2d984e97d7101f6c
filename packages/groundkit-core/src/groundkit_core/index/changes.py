"""What a commit is asked to do, and what it did."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundkit_core.chunking.blocks import Block
from groundkit_core.contracts import Chunk, Document
from groundkit_core.ids import content_hash
from groundkit_core.loading.snapshot import Snapshot
from groundkit_core.terms import has_words

__all__ = ["Change", "Committed", "FileState", "OtherFile", "embed_key", "indexed_text"]


@dataclass(frozen=True, slots=True)
class FileState:
    """What is remembered of a file so that an unchanged one need not be read."""

    size: int
    mtime_ns: int
    ctime_ns: int
    read_at_ns: int


@dataclass(frozen=True, slots=True)
class Change:
    """A document as it shall stand: its chunks, and for files the root and state.

    `afresh` replaces even the rows of passages that did not change. `blocks` and `pages` are what
    an extractor knows; `part_of` is the file of which the document is a record, `snapshot` the
    bytes to keep of a URL.
    """

    document: Document
    chunks: Sequence[Chunk]
    hash: str
    fingerprint: str
    root: str | None = None
    state: FileState | None = None
    afresh: bool = False
    blocks: Sequence[Block] | None = None
    pages: Sequence[int] = ()
    part_of: str | None = None
    snapshot: Snapshot | None = None

    def with_chunks(self, document: Document, chunks: Sequence[Chunk]) -> "Change":
        """The same change with its document cut into chunks."""
        return replace(self, document=document, chunks=chunks)


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A file that is no document itself: refused by `reason`, or None for one full of records."""

    source: str
    root: str
    state: FileState
    fingerprint: str
    reason: str | None


@dataclass(slots=True)
class Committed:
    """How many passages a commit added and dropped."""

    added: int = 0
    dropped: int = 0


def embed_key(text: str) -> str:
    """What a text that is embedded goes by; the empty string for one without a word."""
    return content_hash(text) if has_words(text) else ""


def indexed_text(title: str | None, headings: Sequence[str], content: str) -> str:
    """What is searched of a passage: its title and headings count as its own words."""
    above = [title] if title and title not in headings else []
    return "\n".join([*above, *headings, content])
