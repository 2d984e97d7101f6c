"""Texts as tokens that tile them, and each token in the form that its equals share."""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import category, decomposition, normalize

from groundkit_core.terms import UNSPACED

if TYPE_CHECKING:
    import regex

__all__ = ["BROKEN", "Forms", "core", "iter_tokens", "tokens", "without_quotation_marks"]

BROKEN = "\r"
"""The form of a hyphen at the end of a line, which may belong to the word or not."""

_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))
_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_CONTROLS = [*range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x2070)]
_HIDDEN = "\xad\u061c\u180e\u200b\u200e\u200f\ufeff" + "".join(map(chr, _CONTROLS))
# These belong to the character before them: joiners, variants of a glyph, the Arabic stretch.
_JOINERS = "\u200c\u200d"
_ATTACHED = "\u034f\u0640" + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
_HYPHENS = "-‐‑"
_DASHES = _HYPHENS + "‒–—―⁃−⸺⸻﹘﹣－"
_APOSTROPHES = "'`´‘’‚‛′‹›＇ʻʼ"
_QUOTES = '"“”„‟″«»〝〞〟＂'

_MARGINS = _BLANKS + _HIDDEN + _JOINERS
_UNSEEN = f"[{_HIDDEN}{_JOINERS}]*+"
_MARGIN = f"[{_MARGINS}]*+"
_DASH = rf"[\{_DASHES}]"
_LETTER = rf"[[\p{{L}}\p{{N}}_㍱-㏟]--[{UNSPACED}{_APOSTROPHES}]]"
_REST = rf"[[\p{{L}}\p{{N}}\p{{M}}_㍱-㏟{_HIDDEN}{_JOINERS}]--[{UNSPACED}{_APOSTROPHES}\xad]]++"
_TURN = rf"[[{_BLANKS}]--[{_LINE_ENDS}]]*+[{_LINE_ENDS}]{_MARGIN}(?={_LETTER})"
_BREAK = rf"(?<=[\p{{L}}\p{{N}}\p{{M}}_{_JOINERS}])[\{_HYPHENS}\xad]{_TURN}"
# Whole are a number with its sign and inner points, `COVID-19`, and a word with an ending: `can't`.
_SIGN = rf"(?<![\p{{L}}\p{{N}}\p{{M}}_)\]]){_DASH}(?=\p{{Nd}})"
_POINT = rf"[.,:/．，：／{_APOSTROPHES}]|{_DASH}"
_INNER = rf"(?:(?<=\p{{N}})(?:{_POINT})|(?<=\p{{L}})[\{_HYPHENS}])(?=\p{{N}})"
_ENDING = rf"[{_APOSTROPHES}](?=\p{{L}}{{1,2}}+(?!\p{{L}}))"
_WORD = rf"(?:{_SIGN})?+{_LETTER}(?:{_REST}|\xad(?!{_TURN})|{_INNER}|{_ENDING})*+"
UNSPACED_LETTER = rf"[[\p{{L}}\p{{N}}]&&[[{UNSPACED}]--\p{{Hangul}}]]"
_WIDE = (
    rf"(?={UNSPACED_LETTER})\X(?:(?<=[\u0e4d\u0ecd])[\u0e32\u0eb2])?"
    r"|(?=[、-〃〈-】〔-〛〝-〟・！-＆（-，．／：-＠｛-･])\X"
)
_TOKEN = (
    # What most texts are made of; the other branches would divide it just so.
    r"[A-Za-z]++(?=[ .,\n])|[ ,(](?=[A-Za-zÀ-ɏЀ-ӿ가-힣])|[一-鿿](?=[一-鿿])|[가-힣](?=[가-힣 ])"
    # Blanks mean nothing beside scripts that are written without, and in French punctuation.
    rf"|{_WORD}|{_BREAK}|{_MARGIN}(?:{_WIDE}){_MARGIN}"
    rf"|{_MARGIN}(?=[;:!?»\u037e])\X{_UNSEEN}|(?=«)\X{_MARGIN}"
    rf"|{_UNSEEN}[{_BLANKS}]{_MARGIN}"
    rf"|{_UNSEEN}(?:{_WORD}|(?:{_DASH}++|[.…‥]++|°[CFK]?|\X)[\p{{M}}{_HIDDEN}{_JOINERS}]*+)"
    rf"|[{_HIDDEN}{_JOINERS}]++"
)
_AROUND = re.compile(rf"(?:[{_MARGINS}{_QUOTES}{_APOSTROPHES}「」『』…]|\.\.\.)*+")
_MANY_MARKS = r"\p{M}{31}"
_KEPT_FORMS = ("<super>", "<sub>", "<circle>", "<fraction>")


@cache
def _compiled(pattern: str) -> "regex.Pattern[str]":
    import regex

    return regex.compile(f"(?V1){pattern}")


def tokens(text: str) -> list[str]:
    """Words, marks and blanks; joined they are the text."""
    return _compiled(_TOKEN).findall(text)


def iter_tokens(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Tokens and their offsets, from the beginning of one."""
    for match in _compiled(_TOKEN).finditer(text, start):
        yield match.start(), match.group()


def core(passage: str) -> tuple[int, int]:
    """Where a passage begins and ends without the blanks and unseen characters around it."""
    bare = passage.rstrip(_MARGINS)
    rest = passage[len(bare) :]
    joined = len(rest) - len(rest.lstrip(_JOINERS)) if bare else 0
    return len(passage) - len(passage.lstrip(_MARGINS)), len(bare) + joined


def without_quotation_marks(quote: str) -> str:
    """A quote without the marks, blanks and ellipses around it."""
    start = _around(quote)
    return quote[start : max(start, len(quote) - _around(quote[::-1]))]


def _around(quote: str) -> int:
    match = _AROUND.match(quote)
    return match.end() if match else 0


class Forms(dict[str, str]):
    """Of each token the form that its equals share; no form holds a line feed."""

    def __missing__(self, token: str) -> str:
        self[token] = form = _form(token)
        return form


def _form(token: str) -> str:
    if token.isascii() and token.isalnum():
        return token
    if token[-1] in _BLANKS and token[0] in _HYPHENS + "\xad":
        return BROKEN
    plain = token.translate(_CHARACTERS)
    if not plain:
        return token if set(token).isdisjoint(_BLANKS) else " "
    if not plain.strip("-"):
        return "-"
    # Putting marks in order takes the square of their number.
    if plain.isascii() or _compiled(_MANY_MARKS).search(plain):
        return plain
    return normalize("NFC", plain)


class _Characters(dict[int, str]):
    """Each character as its equals are written."""

    def __missing__(self, code: int) -> str:
        self[code] = plain = _plain(chr(code))
        return plain


def _plain(character: str) -> str:
    """Ligatures and forms of letters in plain letters; a superscript stays: `10²` is not `102`."""
    if decomposition(character).startswith(_KEPT_FORMS):
        return character
    plain = normalize("NFKC", character)
    is_word = all(category(part)[0] in "LMN" for part in plain)
    return plain if is_word or len(plain) == 1 or plain in ("..", "...", "°C", "°F") else character


_CHARACTERS = _Characters(
    {ord(character): "" for character in _MARGINS + _ATTACHED}
    | {ord(character): "'" for character in _APOSTROPHES}
    | {ord(character): '"' for character in _QUOTES}
    | {ord(character): "-" for character in _DASHES}
)
