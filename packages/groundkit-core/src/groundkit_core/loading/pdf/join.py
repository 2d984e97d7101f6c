"""The running text of a PDF's lines: joined with spaces, words put together again."""

import re
from itertools import pairwise

from groundkit_core.loading.pdf.lines import Line

__all__ = ["UNSPACED", "Joiner"]

_HYPHEN = re.compile("[\u2010\u2011]")
_WORDS = re.compile(r"\w+(?:-\w+)*")
# From the end of a line backwards, and no further than a word reaches.
_TORN = re.compile(r"([-\u2010\xad])(\w+(?:[-\u2010\u2011]\w+)*)")
_WORD = 80
_REST = re.compile(r"\w+(?:[-\u2010\u2011]\w+)*")
# Scripts that put no space between words, Hangul not among them.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u3400-\u9fff"
                       "\uf900-\ufaff\uff00-\uff9f\uffe0-\uffef]")  # fmt: skip
# Shorter parts are prefixes that also stand where a word is merely torn.
_PREFIX = 3
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")


class Joiner:
    """Joins lines as one document's words want it.

    A hyphen at the end of a line goes and its word is put together. It stays where the word goes
    on with a capital or a digit, where the document has the word with its hyphen inside a line,
    and where it has there another word that begins or ends with the same part and a hyphen
    ("low-dimensional" for "high-dimensional") and never the word without one. A soft hyphen
    always goes.

    Korean lines are joined without a space where the document shows, by blanks at the ends of
    others, that it would have one.
    """

    def __init__(self, lines: list[Line]) -> None:
        korean = [line.spaced for line in lines if _HANGUL.match(line.text[-1])]
        self._tight = sum(korean) >= max(3, 0.2 * len(korean))
        self._words: set[str] = set()
        self._heads: set[str] = set()
        self._tails: set[str] = set()
        for line in lines:
            for word in _WORDS.findall(_plain(line.text)):
                self._words.add(word)
                if "-" in word:
                    self._heads.add(word.partition("-")[0])
                    self._tails.add(word.rpartition("-")[2])

    def join(self, lines: list[Line]) -> tuple[str, list[tuple[int, int]]]:
        """One text of the lines, and for each further page the offset at which it begins.

        A word torn between two pages belongs to the first.
        """
        parts = [flat(lines[0].text)]
        length = len(parts[0])
        begins: list[tuple[int, int]] = []
        for before, line in pairwise(lines):
            more = flat(line.text)
            head, blank = self._seam(parts[-1], more)
            if self._tight and not before.spaced and _HANGUL.match(head[-1]):
                blank = "" if _HANGUL.match(more) else blank
            length += len(head) - len(parts[-1]) + len(blank)
            parts[-1] = head
            if line.page != before.page:
                torn = not blank and not UNSPACED.match(more)
                word = _REST.match(more) if torn else None
                begins.append((line.page, length + (word.end() if word else 0)))
            parts += [blank, more] if blank else [more]
            length += len(more)
        return "".join(parts), begins

    def _seam(self, text: str, more: str) -> tuple[str, str]:
        """A line as it ends before the next, and the blank between them."""
        torn, rest = _TORN.match(text[: -_WORD - 1 : -1]), _REST.match(more)
        if torn and rest and not torn[2][0].isdigit():
            left = _plain(torn[2][::-1])
            hyphened = not more[0].islower() or self._hyphened(left, _plain(rest[0]))
            return text if hyphened and torn[1] != "\xad" else text[:-1], ""
        text = text.removesuffix("\xad")
        if UNSPACED.match(text[-1:]) and UNSPACED.match(more):
            return text, ""
        return text, " "

    def _hyphened(self, left: str, right: str) -> bool:
        if f"{left}-{right}" in self._words or left + right in self._words:
            return f"{left}-{right}" in self._words
        return right in self._tails or (len(left) > _PREFIX and left in self._heads)


def _plain(text: str) -> str:
    return _HYPHEN.sub("-", text).lower()


def flat(text: str) -> str:
    """A line's text with the gaps of a table closed, and soft hyphens inside it taken out."""
    return text[:-1].replace("\xad", "").replace("\t", " ") + text[-1:]
