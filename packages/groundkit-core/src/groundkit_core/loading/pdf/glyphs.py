"""The characters of a PDF: what its glyphs stand for, in the order in which they are read."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import TypeAlias

__all__ = ["UNKNOWN", "Box", "Char", "character", "clean", "logical", "reads_leftwards", "tex"]

Box: TypeAlias = tuple[float, float, float, float]
Char: TypeAlias = tuple[str, Box | None]

UNKNOWN = "\ufffd"
_FORMS = re.compile("[\ufb00-\ufb4f\ufb50-\ufdcf\ufdf0-\ufdf9\ufe70-\ufefc]")
_SPACES = re.compile(r"\s+")
_DROPPED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e"
                      "\u2060\u2066-\u2069\ufeff\ufffe\uffff]")  # fmt: skip
_WINDOWS = {code: bytes([code]).decode("cp1252", "replace") for code in range(0x80, 0xA0)}
_RIGHT_TO_LEFT = {"R", "AL"}
_WITH_MARKS = {"R", "AL", "NSM"}
_RETURN_ARROW = re.compile(r"(?<=[a-zA-Z])\u21b5(?=[a-z-])")
_UNKNOWN_LIGATURE = re.compile(rf"(?<=[a-zA-Z]){UNKNOWN}(?=([a-z]))")


def character(code: int) -> str:
    """What a code of pdfium's stands for; a control is a glyph whose character is not known."""
    return UNKNOWN if code < 0x20 and code != 0x09 else chr(code)


def clean(text: str) -> str:
    """Text with ligatures and presentation forms spelt out, every blank one space, no controls."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = _FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return _SPACES.sub(" ", _DROPPED.sub("", text.translate(_WINDOWS))).strip()


def tex(texts: Iterable[str]) -> list[str]:
    """Texts with the ligatures that macOS leaves out of the fonts of TeX.

    It calls the glyph for "ff" a return arrow, which shows that unknown glyphs inside words are
    those for "ffi" and "ffl".
    """
    found = list(texts)
    if not any(map(_RETURN_ARROW.search, found)):
        return found
    return [_UNKNOWN_LIGATURE.sub(_ligature, _RETURN_ARROW.sub("ff", text)) for text in found]


def _ligature(match: re.Match[str]) -> str:
    return "ffl" if match[1] in "eiu" else "ffi"


def reads_leftwards(text: Iterable[str]) -> bool:
    """Whether most letters belong to a script that is written from right to left."""
    directions = [unicodedata.bidirectional(char) for char in text]
    return sum(way in _RIGHT_TO_LEFT for way in directions) > directions.count("L")


def logical(chars: list[Char]) -> list[Char]:
    """Right-to-left characters in the order in which they are spoken.

    pdfium turns a line round by characters: what one glyph stands for (a ligature) comes out
    reversed, and a vowel sign before its letter, with a blank between.
    """
    found: list[Char] = []
    for box, run in groupby(chars, key=lambda char: char[1]):
        same = list(run)
        turned = box and all(unicodedata.bidirectional(char) in _WITH_MARKS for char, _ in same)
        found += reversed(same) if turned else same
    marks = [bool(box) and unicodedata.combining(char) > 0 for char, box in found]
    found = [
        char for char, next_is_mark in zip(found, [*marks[1:], False], strict=True)
        if char[1] or not next_is_mark
    ]  # fmt: skip
    for index, ((char, box), (_, after)) in enumerate(pairwise(found)):
        before = found[index - 1][1] if index else None
        if box and after and unicodedata.combining(char) and _over(after, box, before):
            found[index], found[index + 1] = found[index + 1], found[index]
    return found


def _over(letter: Box, mark: Box, before: Box | None) -> bool:
    middle = (mark[0] + mark[2]) / 2
    if before and before[0] <= middle <= before[2]:
        return False
    return letter[0] <= middle <= letter[2]
