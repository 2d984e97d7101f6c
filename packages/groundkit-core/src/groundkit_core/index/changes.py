"""What a commit is asked to do, and what it did."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundkit_core.contracts import Chunk, Document
from groundkit_core.ids import content_hash
from groundkit_core.terms import has_words

__all__ = ["Change", "Committed", "FileState", "Refusal", "embed_key", "indexed_text"]


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

    `afresh` replaces even the rows of passages that did not change.
    """

    document: Document
    chunks: Sequence[Chunk]
    hash: str
    fingerprint: str
    root: str | None = None
    state: FileState | None = None
    afresh: bool = False

    def with_chunks(self, document: Document, chunks: Sequence[Chunk]) -> "Change":
        """The same change with its document cut into chunks."""
        return replace(self, document=document, chunks=chunks)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that was refused for what it holds, and by which reader."""

    source: str
    root: str
    state: FileState
    fingerprint: str
    reason: str


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
