"""Links that open a citation's source where it is cited, as far as its scheme can say that."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from groundkit_core.contracts import Citation
from groundkit_core.loading.records import file_of

__all__ = ["link_to", "web_link"]

_WORDS = 6


def web_link(citation: Citation, content: str) -> str | None:
    """The link of a citation whose source is a URL; None for others."""
    if citation.source.startswith(("http://", "https://")):
        return citation.source + _fragment(citation, content)
    return None


def link_to(citation: Citation, content: str, roots: Mapping[str, Path]) -> str | None:
    """The link of a citation of a URL or of a file beneath one of the roots."""
    label, _, relative = citation.source.partition("/")
    if label in roots:
        if citation.extractor.startswith("jsonl@"):
            relative = file_of(relative)
        return (roots[label] / relative).as_uri() + _fragment(citation, content)
    return web_link(citation, content)


def _fragment(citation: Citation, content: str) -> str:
    """`#page=12` for a PDF, `#:~:text=first words,last words` for a web page."""
    name = citation.extractor.partition("@")[0]
    if name == "pdf" and citation.pages:
        return f"#page={citation.pages[0]}"
    words = content.split()
    if name != "html" or not words:
        return ""
    lines = [line.split() for line in content.splitlines() if line.strip()]
    if len(words) <= 2 * _WORDS and len(lines) == 1:
        return f"#:~:text={_encoded(words)}"
    return f"#:~:text={_encoded(lines[0][:_WORDS])},{_encoded(lines[-1][-_WORDS:])}"


def _encoded(words: list[str]) -> str:
    # A dash, which `quote` leaves, has a meaning of its own there.
    return quote(" ".join(words), safe="").replace("-", "%2D")
