"""The fenced blocks of a page of the documentation."""

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DOCS", "Block", "blocks", "write_tutorial"]

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    language: str
    title: str | None
    body: str

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block, each on one line."""
        return self.body.replace("\\\n", " ").splitlines()


def blocks(page: str) -> list[Block]:
    """All of a page, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [Block(**found.groupdict()) for found in _BLOCK.finditer(text)]


def write_tutorial(folder: Path) -> None:
    """The files that the tutorial begins with."""
    for block in blocks("tutorial/index.md"):
        path = folder / (block.title or "")
        if block.title and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, encoding="utf-8")
