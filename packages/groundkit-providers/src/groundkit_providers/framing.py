"""Source text as it stands in a prompt: one block, in which no source can pass for another."""

import re
from collections.abc import Mapping, Sequence

from groundkit_core.errors import ConfigurationError

from groundkit_providers.markers import bracket_groups, source_forms
from groundkit_providers.masking import masked

__all__ = ["filled", "framed", "neutralised", "without_delimiters"]

_GAP = r"[\s\u00ad\u200b-\u200f\u2060\ufeff]*+"
_DELIMITER = re.compile(
    rf"(?:[<＜﹤]|&lt;?|&\#0*+60;?|&\#x0*+3c;?)"
    rf"(?={_GAP}(?:[/／\\]{_GAP})?+(?:retrieved[_ -]?context|source|answer))",
    re.IGNORECASE,
)


def neutralised(text: str) -> str:
    """Source text in which nothing reads as a marker or as a delimiter of the prompt.

    Everywhere the `<` of a delimiter becomes `‹`. Outside code brackets with a number in them
    become parentheses, and `(Source 1)` becomes `(“Source 1”)`. Doing it twice changes nothing.
    """
    return _quote_sources(_round_brackets(without_delimiters(text)))


def without_delimiters(text: str) -> str:
    """The text with the `<` of every delimiter of a prompt turned into `‹`."""
    return _DELIMITER.sub("‹", text)


def framed(sources: Sequence[str]) -> str:
    """The sources in one block, numbered from 1, each neutralised on its own."""
    blocks = [
        f'<source id="{number}">\n{neutralised(source)}\n</source>\n'
        for number, source in enumerate(sources, 1)
    ]
    return f"<retrieved_context>\n{''.join(blocks)}</retrieved_context>"


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with each `{name}` of `values` replaced, in one pass; other braces stay."""
    for name in values:
        if f"{{{name}}}" not in template:
            raise ConfigurationError(f"the prompt template lacks {{{name}}}")
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda found: values[found[1]], template)


def _round_brackets(text: str) -> str:
    characters = list(text)
    for group in bracket_groups(masked(text), markers=True):
        if group.numbered:
            characters[group.start] = "("
            if group.end is not None:
                characters[group.end - 1] = ")"
    return "".join(characters)


def _quote_sources(text: str) -> str:
    parts: list[str] = []
    at = 0
    for start, end in source_forms(masked(text)):
        parts += text[at:start], f"“{text[start:end]}”"
        at = end
    return "".join([*parts, text[at:]])
