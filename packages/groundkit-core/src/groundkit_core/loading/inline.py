"""Text of one paragraph as it is put together from its parts."""

import re

__all__ = ["Inline", "plain"]

_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ud800-\udfff\ufffe\uffff]+"
)
_BLANK = re.compile("[\x0b\x0c\x1c-\x1f\x85\u00a0\u1680\u2007\u2028\u2029\u202f]")
_LINE_END = re.compile("\r\n?")


def plain(text: str) -> str:
    """Text without soft hyphens, zero-width spaces and controls, with common spaces and \\n.

    Joiners and marks of direction stay: they are part of words in some scripts.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub("", _BLANK.sub(" ", _LINE_END.sub("\n", text)))


class Inline:
    """Collects text, collapsing white space as a browser does."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blank = self._apart = False

    def add(self, text: str) -> None:
        """Text that goes on where the last ended."""
        text = plain(text)
        words = text.split()
        if not words:
            self._blank |= bool(text)
            return
        if self._parts and self._parts[-1] != "\n" and self._is_spaced(text):
            self._parts.append(" ")
        self._parts.append(" ".join(words))
        self._blank, self._apart = text[-1].isspace(), False

    def raw(self, text: str) -> None:
        """Text whose white space stays as it is."""
        text = plain(text)
        if text:
            self._parts.append(text)

    def space(self) -> None:
        """The next text is another word."""
        self._blank = True

    def apart(self) -> None:
        """The next text is another word, though punctuation may follow at once."""
        self._apart = True

    def newline(self) -> None:
        """The next text begins a line."""
        self._parts.append("\n")
        self._blank = self._apart = False

    def end_line(self) -> None:
        """The next text begins a line, unless it does so already."""
        if self._parts and not self._parts[-1].endswith("\n"):
            self.newline()

    def take(self) -> str:
        """What was collected, blanks at its ends included; the next text begins anew."""
        text = "".join(self._parts)
        self._parts = []
        self._blank = self._apart = False
        return text

    def _is_spaced(self, text: str) -> bool:
        if self._blank or text[0].isspace():
            return True
        return self._apart and self._parts[-1][-1].isalnum() and text[0].isalnum()
