"""HTML: the text of a web page as a browser shows it, its main content or all of it."""

import re
from typing import TYPE_CHECKING

from groundkit_core.errors import RefusedError
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.flow import Flow
from groundkit_core.loading.html.elements import is_hidden
from groundkit_core.loading.html.encoding import decode_page
from groundkit_core.loading.html.reader import Reader
from groundkit_core.loading.html.tree import MAX_DEPTH
from groundkit_core.loading.inline import plain

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["extract"]

# Elements that nothing but their end tag closes; the parser needs quadratic time for such nests.
_NESTING = re.compile(
    r"<(/?)(?:address|article|aside|blockquote|center|details|dir|div|dl|fieldset|figure|footer"
    r"|header|main|menu|nav|ol|section|ul)\b",
    re.IGNORECASE,
)
_MAX_OPEN = 10 * MAX_DEPTH


def extract(
    data: bytes,
    encoding: str | None = None,
    *,
    full: bool = False,
    declared: str | None = None,
) -> Extracted:
    """The main content of a page, or with `full` all that it shows.

    The main content is that of the one `main` element; without one it is the body less
    navigation, header, footer and asides of the page. White space is collapsed, no-break spaces
    are spaces, soft hyphens and zero-width spaces are left out, so are readings above characters.
    `encoding` is the codec of an earlier reading, `declared` the one that HTTP named.
    """
    decoded = decode_page(data, encoding, declared)
    page = _parsed(decoded.text)
    warnings = [f"encoding guessed: {decoded.encoding}"] if decoded.guessed else []
    main = None if full else _main(page)
    flow = _read(page, main, full=full)
    if not flow.builder.parts and not full:
        flow = _read(page, None, full=True)
        if flow.builder.parts:
            warnings.append("no main content: all text of the page was taken")
    return flow.builder.extracted(
        title=_title(page) or flow.title, warnings=warnings, encoding=decoded.encoding
    )


def _parsed(text: str) -> "LexborHTMLParser":
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    _check_nesting(text)
    try:
        return LexborHTMLParser(text)
    except SelectolaxError:
        raise RefusedError("HTML: its parser ran out of memory") from None


def _check_nesting(text: str) -> None:
    depth = 0
    for match in _NESTING.finditer(text):
        depth = max(depth - 1, 0) if match[1] else depth + 1
        if depth > _MAX_OPEN:
            raise RefusedError(f"HTML: tags nested more than {MAX_DEPTH} deep, or left open")


def _main(page: "LexborHTMLParser") -> "LexborNode | None":
    """The element that the page names its main content, if there is one and no other."""
    found = [
        node for node in page.css("main, [role=main]") if not is_hidden("main", node.attributes)
    ]
    return found[0] if len(found) == 1 else None


def _read(page: "LexborHTMLParser", main: "LexborNode | None", *, full: bool) -> Flow:
    reader = Reader(full=full, in_part=main is not None)
    root = main or page.body
    if root is not None:
        reader.read(root)
    return reader.flow


def _title(page: "LexborHTMLParser") -> str | None:
    node = page.css_first("head > title")
    title = " ".join(plain(node.text()).split()) if node else ""
    return title or None
