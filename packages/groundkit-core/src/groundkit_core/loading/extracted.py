"""What an extractor makes of a file that is no text: its text, structure and pages."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from groundkit_core.chunking.blocks import Block

__all__ = ["Extracted", "TextBuilder"]


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a file, which the same bytes and the same extractor always give.

    `pages` holds the offset at which each page begins, the first 0; `partial` says what of the
    file is not in the text, `encoding` by which codec its bytes were read.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    pages: tuple[int, ...] = ()
    title: str | None = None
    warnings: tuple[str, ...] = ()
    partial: str | None = None
    encoding: str | None = None


@dataclass(slots=True)
class TextBuilder:
    """Grows a text block by block, so that every span is right by construction."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    length: int = 0

    def heading(self, level: int, title: str) -> None:
        """A heading on its own line."""
        self._add(title, "heading", level, title)

    def prose(self, text: str) -> None:
        """A paragraph."""
        self._add(text, "prose")

    def lined(self, text: str, header: str = "") -> None:
        """Lines that are divided between lines only: code, list items, rows beneath a header."""
        self._add(text, "lined", header=header)

    def page(self) -> None:
        """The next block begins a page."""
        self.pages.append(self.length)

    def extracted(
        self,
        *,
        title: str | None = None,
        warnings: Iterable[str] = (),
        partial: str | None = None,
        encoding: str | None = None,
    ) -> Extracted:
        """What was built, with what else is known of it."""
        return Extracted(
            "".join(self.parts),
            tuple(self.blocks),
            tuple(self.pages),
            title,
            tuple(warnings),
            partial,
            encoding,
        )

    def _add(
        self,
        text: str,
        kind: Literal["heading", "prose", "lined"],
        level: int = 0,
        title: str = "",
        header: str = "",
    ) -> None:
        if not text.strip():
            return
        start, end = self.length, self.length + len(text)
        self.parts += [text, "\n\n"]
        self.blocks.append(Block(start, end, kind, level, title, header))
        self.length = end + 2
