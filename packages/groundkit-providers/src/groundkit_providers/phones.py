"""Telephone numbers: by their form alone, or in any form where a word says what they are."""

import re
from collections.abc import Iterator
from itertools import accumulate

__all__ = ["phones"]

Spans = Iterator[tuple[int, int]]

_DASH = r"\u2010\u2011\u2013\-"
_BETWEEN = rf"(?: [ \u00a0./{_DASH}]{{1,2}} | [ ]?\)[ ./{_DASH}]? | [ .{_DASH}]?\([ ]?(?=\d) )"
# A run starts at the first digit of a word, takes all that may belong to it and is judged as one.
_RUN = re.compile(
    rf"(?<![\w+])(?<![^\W\d_][-_#/])(?<!\d[.,:])(?:\+[ ]?)?\(?\+?\d++(?:{_BETWEEN}\(?\d++)*+",
    re.VERBOSE,
)
_GROUP = re.compile(r"\d+")
_EXTENSION = re.compile(r"[ ,]{0,2}(?:x|ext\.?|extension|#)[ .:]?\d{1,6}(?!\w)", re.IGNORECASE)
_FOLLOWED = re.compile(rf"\w|[{_DASH}/.]\w?\d|[,:]\d|%")

_DATE_OR_TIME = re.compile(
    rf"""
    (?<![\d./{_DASH}])(?:
      (?:19|20)\d\d([./{_DASH}])\d\d?\1\d\d?(?:[ T]\d\d?:\d\d(?::\d\d)?)?
    | \d\d?([./{_DASH}])\d\d?\2(?:19|20)\d\d(?:[ ,]{{1,2}}\d\d?[:.]\d\d(?:[:.]\d\d)?)?
    | (?:19|20)\d\d[ ]?[/{_DASH}][ ]?(?:19|20)\d\d
    | \d\d?:\d\d(?::\d\d)?
    )(?!\d|[./{_DASH}]\d)
    """,
    re.VERBOSE,
)
_AMOUNT_BEFORE = re.compile(r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|PLN|CHF|JPY|INR|Rs\.?))[ \u00a0]?\Z")
_AMOUNT_AFTER = re.compile(
    r"[ \u00a0]?(?:[$€£¥₹%°]|(?:USD|EUR|GBP|PLN|CHF|JPY|zł|kr|dollars?|euros?|people|inhabitants"
    r"|[kKMG]?[bB]ytes?|[kMGT]?B|[km]?m²?|kg|t|tons?|tonnes?|years?|times)\b)"
)
_SAID_BEFORE = re.compile(
    r"\b(?:(?:tele)?phones?|tel|mobile|mob|cell|fax|hotline|helpline|whatsapp|sms|dial|telefon"
    r"|handy|call(?:ing|ed)?|message|messages|answering|reach(?:ed|able)?)\b\.?"
    r"(?:[\s:.,#*()-]|\b(?:me|us|them|him|her|at|on|by|number|no|nr|is|to|via|or)\b){0,9}\Z",
    re.IGNORECASE,
)
_SAID_OTHERWISE = re.compile(
    r"\b(?:orders?|invoices?|tickets?|cases?|ref|reference|sku|parts?|items?|ids?|serials?|articles?"
    r"|versions?|releases?|builds?|isbn|issn|ean|imei|batch|lot|rows?|lines?|pages?)\b"
    r"(?:[\s:.,#=()\"'-]|\b(?:number|no|nr|num|id|is|was)\b){0,8}\Z",
    re.IGNORECASE,
)
_SAID_AFTER = re.compile(r"[ ]?[-(/]?(?:office|fax|mobile|cell|phone)\b", re.IGNORECASE)
_PARENTHESISED = re.compile(r"\d{0,3}[ -]?\((?!(?:19|20)\d\d\))\d(?:[ -]?\d){0,4}\)")

_WITHIN_LIST = re.compile(
    rf"(?<!\d)(?<!\d[./{_DASH}])(?:\(\d{{3}}\)[ ]?|\d{{3}}[ .-])\d{{3}}[ .-]\d{{4}}"
    rf"(?!\d|[./{_DASH}]\d)"
)
_LONGEST = 40
_MOST_DIGITS = 15
_BARE_AMERICAN = re.compile(r"1?([2-9]\d\d)(?!.11)[2-9]\d{6}")
# Area codes in use in the North American plan: their first two digits, and what may follow.
_AREA_CODE_TABLE = (
    "20123456789 21023456789 2203456789 2314569 240689 250123467 2602379 27023469 28139 "
    "30123456789 31023456789 3201345679 330124679 3401367 3501234 3601345789 380256 "
    "40123456789 41023456789 423458 430124578 440123578 4508 463489 47024589 4804 "
    "500123456789 51023456789 520123456789 53012349 540148 55179 56123467 5701234579 "
    "5801245678 600123456789 61023456789 62023689 6301369 6401567 65016789 6601279 670128 "
    "68012369 70123456789 7123456789 72045678 73012478 7402378 753478 7602359 7701234589 "
    "780124567 800123456789 81023456789 82015689 830123589 840345789 850456789 8602345678 "
    "870236789 888 900123456789 91023456789 920589 930146789 9401235789 9512469 970123589 "
    "98034569"
)
_AREA_CODES = frozenset(
    entry[:2] + last for entry in _AREA_CODE_TABLE.split() for last in entry[2:]
)
# Group sizes that numbers without a leading 0 have where they are written in groups.
_GROUPINGS = {
    (3, 3, 4), (1, 3, 3, 4), (3, 3, 3), (3, 2, 3), (3, 2, 2, 2), (2, 3, 2, 2), (3, 4, 4),
    (2, 2, 2, 2), (2, 2, 2, 2, 2), (2, 5, 4), (5, 5), (2, 4, 4), (1, 3, 3, 2, 2), (3, 3, 2, 2),
}  # fmt: skip
_SOCIAL_SECURITY = (3, 2, 4)


def phones(text: str) -> Spans:
    """Numbers with a plus sign, in groups as people write them, or named as a telephone's."""
    masked = _DATE_OR_TIME.sub(lambda match: "," * len(match[0]), text)
    for run in _RUN.finditer(masked):
        start, end = run.span()
        is_whole = not _FOLLOWED.match(masked, end) or _EXTENSION.match(masked, end)
        if end - start >= 6 and is_whole:
            yield from _numbers_in(masked, start, end)


def _numbers_in(text: str, start: int, end: int) -> Spans:
    if text[start] == "(" and (text[start + 1] == "+" or ")" not in text[start:end]):
        start += 1
    is_named = text[start] == "+" or _is_said(text, start, end)
    if end - start > _LONGEST and not is_named:
        yield from _in_list(text, start, end)
        return
    groups = [group.span() for group in _GROUP.finditer(text, start, min(end, start + _LONGEST))]
    sizes = tuple(last - first for first, last in groups)
    if is_named:
        length = sum(total <= _MOST_DIGITS for total in accumulate(sizes))
        if sum(sizes[:length]) >= 6:
            last = groups[length - 1][1]
            yield start, _with_extension(text, last)
            yield from _in_list(text, last, end)
    elif _looks_dialled(text[start:end], sizes) and not _is_other(text, start, end):
        yield start, _with_extension(text, end)
    elif sum(sizes) > 12:
        yield from _in_list(text, start, end)


def _in_list(text: str, start: int, end: int) -> Spans:
    return (match.span() for match in _WITHIN_LIST.finditer(text, start, end))


def _with_extension(text: str, end: int) -> int:
    extension = _EXTENSION.match(text, end)
    return extension.end() if extension else end


def _is_said(text: str, start: int, end: int) -> bool:
    """Whether the words around say that this is a telephone number."""
    return bool(
        _SAID_AFTER.match(text, end) or _SAID_BEFORE.search(text, max(0, start - 40), start)
    )


def _is_other(text: str, start: int, end: int) -> bool:
    """Whether the words around say that this is an amount or a number of something else."""
    return bool(
        _AMOUNT_AFTER.match(text, end)
        or _AMOUNT_BEFORE.search(text, max(0, start - 6), start)
        or _SAID_OTHERWISE.search(text, max(0, start - 32), start)
    )


def _looks_dialled(run: str, sizes: tuple[int, ...]) -> bool:
    digits = sum(sizes)
    separators = "".join(character for character in run if not character.isdecimal())
    if not 7 <= digits <= _MOST_DIGITS or separators.count("/") > 1 or sizes == _SOCIAL_SECURITY:
        return False
    if len(sizes) == 1:
        bare = _BARE_AMERICAN.fullmatch(run)
        return bare is not None and bare[1] in _AREA_CODES
    if run.startswith(("00", "011")):
        return digits >= 10 and min(sizes) >= 2
    if "(" in run and digits <= 13 and _PARENTHESISED.match(run):
        return sizes[-1] >= 2
    if run.startswith("0"):
        return 9 <= digits <= 12 and min(sizes[1:]) >= 2
    if len(set(separators)) != 1 or separators[0] not in " \u00a0-.":
        return False
    return sizes in _GROUPINGS and not (separators[0] == "." and max(sizes) < 3)
