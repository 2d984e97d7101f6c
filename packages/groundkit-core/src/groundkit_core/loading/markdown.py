"""Markdown: CommonMark blocks with tables, by the lines they stand on."""

import re
from functools import cache
from itertools import takewhile

from markdown_it import MarkdownIt
from markdown_it.token import Token

from groundkit_core.chunking.blocks import Block
from groundkit_core.loading.front_matter import body_start
from groundkit_core.loading.rows import header_line
from groundkit_core.spans import Lines

__all__ = ["blocks"]

_ATTRIBUTES = re.compile(r"\{:?\s*[#.][^{}]*\}")
_LINED = {"fence", "code_block", "table_open", "list_item_open", "blockquote_open", "html_block"}


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable("reference")


def blocks(text: str) -> list[Block]:
    """Headings, paragraphs, list items, tables and code of a Markdown text."""
    found: list[Block] = []
    offset = body_start(text)
    if offset:
        found.append(Block(0, offset, "lined"))
    body = text[offset:]
    lines = Lines(body)
    parser = _parser()
    tokens: list[Token] = []
    # The parser's own normalisation, which keeps the number of lines.
    parser.block.parse(re.sub(r"\r\n|\r", "\n", body).replace("\0", "�"), parser, {}, tokens)
    for index, token in enumerate(tokens):
        nested = 1 if token.type == "list_item_open" else 0
        if token.map is None or token.level != nested or token.type.endswith("_list_open"):
            continue
        start, end = offset + lines.start(token.map[0]), offset + lines.start(token.map[1])
        if token.type == "heading_open":
            title = _title(tokens[index + 1].content)
            found.append(Block(start, end, "heading", int(token.tag[1]), title))
        elif token.type == "table_open":
            rows = offset + lines.start(token.map[0] + 2)
            header = header_line(_header(tokens, index))
            # The delimiter row stays with the header row; without names the table is one block.
            middle = rows if header else start
            found += [Block(start, middle, "lined"), Block(middle, end, "lined", header=header)]
        else:
            found.append(Block(start, end, "lined" if token.type in _LINED else "prose"))
    return found


def _header(tokens: list[Token], index: int) -> list[str]:
    """The cells of the first row of the table that begins at a token."""
    beneath = (tokens[at] for at in range(index, len(tokens)))
    cells = takewhile(lambda token: token.type != "thead_close", beneath)
    return [token.content for token in cells if token.type == "inline"]


def _title(content: str) -> str:
    """A heading on one line, without the `{#id .class}` that some dialects put behind it."""
    title = " ".join(content.split())
    at = title.rfind(" {")
    return title[:at].rstrip() if at > 0 and _ATTRIBUTES.fullmatch(title, at + 1) else title
