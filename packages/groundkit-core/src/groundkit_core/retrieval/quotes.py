"""Finding a quoted passage in the text that it is said to come from."""

from collections.abc import Iterator, Mapping
from typing import Literal

from groundkit_core.contracts import Contract, Span
from groundkit_core.retrieval.typography import core, without_quotation_marks
from groundkit_core.retrieval.wording import find_wording, is_whole
from groundkit_core.terms import count_words

__all__ = [
    "MIN_QUOTE_LETTERS",
    "MIN_QUOTE_WORDS",
    "Attribution",
    "QuoteMatch",
    "attribute_quote",
    "locate_quote",
]

MIN_QUOTE_WORDS = 3
"""A shorter quote stands in too many texts; a character of an unspaced script counts one."""

MIN_QUOTE_LETTERS = 6
"""Letters and digits that a quote has at least."""

_MOST_TRIES = 8


class QuoteMatch(Contract):
    """Whether a text holds a quote, and the first span at which it does.

    `exact`: character by character; `normalized`: but for typography.
    """

    status: Literal["exact", "normalized", "not_found", "too_short"]
    span: Span | None = None


class Attribution(Contract):
    """Whether a quote stands in what was cited for it, and where it was found.

    `misattributed`: not there, but in another text, which `found_in` names.
    """

    status: Literal["exact", "normalized", "misattributed", "not_found", "too_short"]
    found_in: str | None = None
    span: Span | None = None


def locate_quote(text: str, quote: str) -> QuoteMatch:
    """Find a quote in a text, contiguous and in whole words.

    Typography is looked through: ligatures, hyphens at line ends, kinds of quotation marks,
    dashes and blanks, characters without a width. Letters, their case, accents, digits and
    other punctuation count. Blanks and quotation marks around the quote do not.
    """
    bare, plain = quote[slice(*core(quote))], without_quotation_marks(quote)
    if _is_too_short(plain):
        return QuoteMatch(status="too_short")
    for written in (bare, plain):
        start = _first_whole(text, written)
        if start is not None:
            return _match("exact", start, start + len(written))
    found = find_wording(text, plain)
    if found is None:
        return QuoteMatch(status="not_found")
    return _match("exact" if text[slice(*found)] in (bare, plain) else "normalized", *found)


def attribute_quote(quote: str, cited: Mapping[str, str], others: Mapping[str, str]) -> Attribution:
    """Find a quote in the cited texts, or else in others; the keys say which text it was."""
    if _is_too_short(without_quotation_marks(quote)):
        return Attribution(status="too_short")
    for key, match in _found(quote, cited):
        return Attribution(status=match.status, found_in=key, span=match.span)
    for key, match in _found(quote, others):
        return Attribution(status="misattributed", found_in=key, span=match.span)
    return Attribution(status="not_found")


def _found(quote: str, texts: Mapping[str, str]) -> Iterator[tuple[str, QuoteMatch]]:
    """The texts that hold the quote, in their order, exact ones first."""
    later = []
    for key, text in texts.items():
        match = locate_quote(text, quote)
        if match.status == "exact":
            yield key, match
        elif match.status == "normalized":
            later.append((key, match))
    yield from later


def _is_too_short(plain: str) -> bool:
    letters = sum(map(str.isalnum, plain))
    return letters < MIN_QUOTE_LETTERS or count_words(plain.replace("-", " ")) < MIN_QUOTE_WORDS


def _first_whole(text: str, written: str) -> int | None:
    """Where a string first stands in whole words, if one of its first places is such."""
    start = text.find(written)
    for _ in range(_MOST_TRIES):
        if start < 0:
            break
        if is_whole(text, start, start + len(written)):
            return start
        start = text.find(written, start + 1)
    return None


def _match(status: Literal["exact", "normalized"], start: int, end: int) -> QuoteMatch:
    return QuoteMatch(status=status, span=Span(start=start, end=end))
