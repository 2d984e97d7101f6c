"""E-mail and network addresses, payment cards, bank accounts and US social security numbers.

Each expression either consumes a whole run of its characters or starts only where one begins, so
every search is linear in the text.
"""

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address

__all__ = [
    "cards",
    "emails",
    "ibans",
    "ipv4_addresses",
    "ipv6_addresses",
    "social_security_numbers",
]

Spans = Iterator[tuple[int, int]]

# `%40` is an `@` in a URL.
_EMAIL = re.compile(
    r"""
    (?: (?<![\w.+'&~%-]) (?: [\w.+'&~-] | %(?!40) )++ | "[^"\n]{1,64}" )
    (?: (?:@|%40) (?: (?<=[@0])\[[0-9A-Fa-f:.IPv]{3,50}\] | [\w-]++(?:\.[\w-]++)++ ) )++
    """,
    re.VERBOSE,
)
_TOP_LEVEL = re.compile(r"[^\W\d_][\w-]+")

_VERSION_BEFORE = re.compile(
    r"\b(?:v|ver|version|release|build|firmware)(?:\s+is)?[\s.:=#\"']{0,4}\Z", re.IGNORECASE
)
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)", re.ASCII)
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]++(?:\.\d++)*+(?!\w)")

_DASH = r"\u2010\u2011\u2013\-"
_DIGIT_RUN = re.compile(rf"(?<!\w)(?<![^\W\d_][-_])(?<!\d[.,])\d++(?:[ \u00a0{_DASH}]\d++)*+")
_CARD_IN_LIST = re.compile(
    rf"""
    (?<!\d)(?=
      (\d{{4}} (?:[ \u00a0{_DASH}]\d{{4}}){{2}} [ \u00a0{_DASH}]\d{{1,4}}(?!\d) )
      ([ \u00a0{_DASH}]\d{{1,3}}(?!\d))?
    | (\d{{4}} [ \u00a0{_DASH}]\d{{6}} [ \u00a0{_DASH}]\d{{4,5}}(?!\d) )
    | (\d{{12,19}}(?!\d)) )
    """,
    re.VERBOSE,
)
_LONGEST_CARD = 37
_LAST_GROUP = re.compile(r"(?<!\d)\d++\Z")
_FOLLOWED = re.compile(r"\w|[.,]\d")

_SSN = re.compile(
    rf"(?<!\w)(?<![\w][{_DASH}])(?!000|666|9)\d{{3}}([ {_DASH}])(?!00)\d\d\1(?!0000)\d{{4}}"
    rf"(?!\w|[{_DASH}.,]\d)"
)
_SSN_NAMED = re.compile(
    r"\b(?:ssn|social security(?: number| no\.?)?)\W{0,4}(?:is\W{1,2})?(\d{9})(?!\w)", re.IGNORECASE
)

_IBAN_BETWEEN = " \u00a0\r\n./\u2010\u2011\u2013-"
_IBAN_START = re.compile(
    rf"(?<![^\W_])[A-Za-z]{{2}}[{_IBAN_BETWEEN}]{{0,2}}[0-9](?=[{_IBAN_BETWEEN}]{{0,2}}[0-9])",
    re.ASCII,
)
_IBAN_TABLE = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 "
    "DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 "
    "IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 "
    "MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 "
    "SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
)
_IBAN_HEAD = re.compile(r"[A-Z]{2}\d\d[ \u00a0-]\Z")
_IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_TABLE.split()}


def emails(text: str) -> Spans:
    """Addresses whose domain ends in a label that starts with a letter."""
    for match in _EMAIL.finditer(text):
        start, end = match.span()
        while text[start] in ".+'&~-":
            start += 1
            if text[start : start + 1] == "@":
                break
        if (last := _domain_end(text, start, end)) is not None and text[start] not in "@%":
            yield start, last


def _domain_end(text: str, start: int, end: int) -> int | None:
    """The end without labels such as those of a version number; None if no domain is left."""
    if text[end - 1] == "]":
        return end
    while True:
        dot = text.rfind(".", start, end)
        at = max(text.rfind("@", start, end), text.rfind("%40", start, end))
        if dot < at or dot < 0:
            return None
        if _TOP_LEVEL.fullmatch(text, dot + 1, end):
            return end
        end = dot


def ipv4_addresses(text: str) -> Spans:
    """Four numbers up to 255 that are not said to be a version."""
    for match in _IPV4.finditer(text):
        start, end = match.span()
        in_range = all(int(part) <= 255 for part in match[0].split("."))
        if in_range and not _VERSION_BEFORE.search(text, max(0, start - 18), start):
            yield start, end


def ipv6_addresses(text: str) -> Spans:
    """Addresses in any written form that hold a digit."""
    for match in _IPV6.finditer(text):
        start, end = match.span()
        if not 3 <= end - start <= 46 or text.count(":", start, end) < 2:
            continue
        if text[end - 1] == ":" and text[end - 2] != ":":
            end -= 1
        if any(map(str.isdigit, text[start:end])) and _is_ipv6(text[start:end]):
            yield start, end


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def cards(text: str) -> Spans:
    """Digits, also in groups, that pass the Luhn check and begin as cards of their length do."""
    for run in _DIGIT_RUN.finditer(text):
        start, end = run.span()
        # A long account number whose check fails holds no card.
        in_account = end - start > 23 and _IBAN_HEAD.search(text, max(0, start - 5), start)
        if end - start >= 12 and not in_account:
            if _FOLLOWED.match(text, end):
                end = start + len(_LAST_GROUP.sub("", run[0])[:-1])
            yield from _cards_in(text, start, end)


def _cards_in(text: str, start: int, end: int) -> Spans:
    if end - start <= _LONGEST_CARD and _is_card(text[start:end]):
        yield start, end
        return
    covered = start
    for match in _CARD_IN_LIST.finditer(text, start, end):
        if match.start() < covered:
            continue
        for last in (match.end(group) for group in (2, 1, 3, 4) if match[group]):
            if _is_card(text[match.start() : last]):
                covered = last
                yield match.start(), last
                break


def _is_card(text: str) -> bool:
    digits = [int(character) for character in text if character.isdecimal()]
    length, first = len(digits), digits[0] if digits else 0
    if not 12 <= length <= 19 or len(set(digits)) == 1:
        return False
    # Identifiers of twelve to fourteen digits are many, cards of these lengths few; a leading 1
    # is a time stamp or a serial number except on cards of fifteen digits.
    if (length < 15 and not (5 if length == 12 else 3) <= first <= 6) or first == 0:
        return False
    if first == 1 and length != 15:
        return False
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def ibans(text: str) -> Spans:
    """Account numbers of their country's length that pass the check modulo 97."""
    for match in _IBAN_START.finditer(text):
        length = _IBAN_LENGTHS.get(match[0][:2].upper())
        end = _iban_end(text, match.start(), length) if length else None
        if end is not None:
            yield match.start(), end


def _iban_end(text: str, start: int, length: int) -> int | None:
    characters: list[str] = []
    at = start
    while len(characters) < length:
        character = text[at : at + 1]
        if character.isascii() and character.isalnum():
            characters.append(character)
        elif (
            not character
            or character not in _IBAN_BETWEEN
            or not (text[at - 1].isalnum() or text[at - 2].isalnum())
        ):
            return None
        at += 1
    if text[at : at + 1].isalnum():
        return None
    return at if _is_iban("".join(characters), is_spaced=at - start > length) else None


def _is_iban(number: str, *, is_spaced: bool) -> bool:
    # In blanks-separated text two letters and a number may be words, such as "is 89 000 EUR".
    if is_spaced and (
        not (number.isupper() or number.islower())
        or 2 * sum(map(str.isdecimal, number)) < len(number)
    ):
        return False
    digits = "".join(str(int(character, 36)) for character in number[4:] + number[:4])
    return number[2:4].isdecimal() and int(digits) % 97 == 1


def social_security_numbers(text: str) -> Spans:
    """Numbers in three groups that can have been issued, and nine digits that are named as one."""
    for match in _SSN.finditer(text):
        yield match.span()
    for match in _SSN_NAMED.finditer(text):
        yield match.span(1)
