"""Where source code holds strings and comments that span lines, in any of the usual languages."""

import re
from collections.abc import Iterator

__all__ = ["literals"]

# What spans no lines is matched to hide the marks in it; unclosed, it ends with its line.
_TOKEN = re.compile(
    r"""\"""|'''|/\*|`|(?m:^=(?:begin|head[1-4]|item|over|pod)\b)|(?:\#|//|--)[^\r\n]*+"""
    r"""|"(?:[^"\\\r\n]++|\\.)*+"?|'(?:[^'\\\r\n]++|\\.)*+'?"""
)
_CLOSERS = {
    '"""': '"""',
    "'''": "'''",
    "`": "`",
    "/*": "*/",
    "=begin": "\n=end",
    **dict.fromkeys(("=head1", "=head2", "=head3", "=head4", "=item", "=over", "=pod"), "\n=cut"),
}
# A lone back quote is no template: one that goes on for longer than this is not closed.
_LONGEST_TEMPLATE = 20_000
_BEFORE_COMMENT = " \t\r\n;,(){}"


def literals(text: str) -> Iterator[tuple[int, int, bool]]:
    """Spans of long strings, templates and block comments, and which of them are comments."""
    position = 0
    unclosed: set[str] = set()
    while match := _TOKEN.search(text, position):
        start, position = match.span()
        opener = match.group()
        closer = _CLOSERS.get(opener)
        if closer is None or closer in unclosed or (opener == "/*" and _is_path(text, start)):
            continue
        limit = position + _LONGEST_TEMPLATE if opener == "`" else len(text)
        end = text.find(closer, position, limit)
        if end >= 0:
            position = end + len(closer)
            yield start, position, opener[0] in "/="
        elif opener != "`":
            unclosed.add(closer)


def _is_path(text: str, start: int) -> bool:
    """Whether `/*` belongs to a pattern of paths such as `src/*`."""
    return start > 0 and text[start - 1] not in _BEFORE_COMMENT
