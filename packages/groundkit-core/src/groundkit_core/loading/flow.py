"""Blocks of a document in the order in which they are read, lists among them."""

from groundkit_core.loading.extracted import TextBuilder
from groundkit_core.loading.tables import Table

__all__ = ["Flow"]

_INDENT = "  "


class Flow:
    """Hands blocks to a builder; the items of a list become one block."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.title: str | None = None
        self._lines: list[str] = []

    def heading(self, level: int, title: str) -> None:
        """A heading, on one line; the first is the title of a document without another."""
        title = " ".join(title.split())
        self.end_list()
        self.builder.heading(level, title)
        self.title = self.title or title or None

    def paragraph(self, text: str) -> None:
        """A paragraph."""
        self.end_list()
        self.builder.prose(text)

    def code(self, text: str) -> None:
        """Lines that are kept as they are."""
        self.end_list()
        lines = (line.rstrip() for line in text.split("\n"))
        self.builder.lined("\n".join(lines).strip("\n"))

    def item(self, depth: int, mark: str, text: str) -> None:
        """A list item, or with no mark what goes on in one."""
        first, *others = text.split("\n")
        indent = _INDENT * depth
        self._lines.append(f"{indent}{mark}{first}")
        self._lines += [f"{indent}{_INDENT if mark else ''}{line}" for line in others]

    def end_list(self) -> None:
        """The next item belongs to another list."""
        if self._lines:
            self.builder.lined("\n".join(self._lines))
            self._lines = []

    def table(self, table: Table) -> None:
        """A table."""
        self.end_list()
        table.add_to(self.builder)
