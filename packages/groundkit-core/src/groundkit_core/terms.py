"""From text to search terms, the same way for documents and for queries."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING
from unicodedata import normalize

import Stemmer

from groundkit_core.errors import ConfigurationError

if TYPE_CHECKING:
    import regex

__all__ = [
    "LANGUAGES",
    "UNSPACED",
    "Analyzer",
    "count_words",
    "has_words",
    "term_hash",
    "term_key",
    "word_spans",
    "words",
]

LANGUAGES = ("none", *sorted(Stemmer.algorithms()))
"""Snowball stemmers, and `none` for languages without one."""

_VERSION = "terms@1"
_QUERY_KEEPS = frozenset({"not", "no", "it", "or"})
_LONGEST_STEMMED = 64
_MOST_ATOMS = 24

# Scripts written without spaces (and Hangul, whose words carry particles) go by character pairs.
UNSPACED = (
    "ก-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19df\u1a20-\u1aad\u1b00-\u1b7f"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30ff\u3100-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\ua980-\ua9df"
    "\uaa60-\uaadf\uac00-\ud7fb\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f"
    "\U00020000-\U000323af"
)
_JOINER = r"[-‐‑./]"


def _word(first: str, rest: str) -> str:
    # Bounded, so that one endless run neither makes an endless term nor an endless passage.
    simple = f"{first}{rest}{{0,127}}+"
    return f"{simple}(?:{_JOINER}{simple}){{0,15}}+"


_ASCII = re.compile(_word("[A-Za-z0-9_]", "[A-Za-z0-9_]"))
_SPACED = _word(r"[\p{L}\p{N}_]", r"[\p{L}\p{N}\p{M}_\u00ad]")
_MIXED = _word(
    rf"[[\p{{L}}\p{{N}}_]--[{UNSPACED}]]", rf"[[\p{{L}}\p{{N}}\p{{M}}_\u00ad]--[{UNSPACED}]]"
)
_LETTER = rf"[[\p{{L}}\p{{N}}]&&[{UNSPACED}]]"
_CHARACTERS = rf"{_LETTER}\p{{M}}*+|{_MIXED}"
_RUNS = rf"{_LETTER}[{_LETTER}\p{{M}}]*+|{_MIXED}"
_CLUSTER = r"\P{M}\p{M}*+|\p{M}++"
_HAS_UNSPACED = re.compile(f"[{UNSPACED}]")

_ASCII_BOUNDARY = re.compile(
    "_+|[-./]|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    "|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_BOUNDARY = (
    r"_+|[-‐./]|(?<=\p{Ll}\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})"
    r"|(?<=\p{L}\p{M}*)(?=\p{N})|(?<=\p{N}\p{M}*)(?=\p{L})"
)
_JOINS = re.compile("[-‐_]")
_DROPPED_JOIN = r"(?<=\p{L}\p{M}*)[-‐_]+|[-‐_]+(?=\p{L})|(?<![^./])_+|_+(?![^./])"
# Marks that writers leave out; vowel signs of Indic scripts are letters to their readers.
_OPTIONAL_MARK = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]")


@cache
def _compiled(pattern: str) -> "regex.Pattern[str]":
    """A pattern that needs Unicode properties, compiled when a text first needs it."""
    import regex

    return regex.compile(f"(?V1){pattern}")


def _pattern(text: str, unspaced: str) -> "re.Pattern[str] | regex.Pattern[str]":
    """The cheapest of three patterns that agree on this text."""
    if text.isascii():
        return _ASCII
    return _compiled(unspaced if _HAS_UNSPACED.search(text) else _SPACED)


def words(text: str) -> list[str]:
    """The words of a text; an unspaced script comes as runs of characters."""
    return _pattern(text, _RUNS).findall(text)


def word_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Spans of the words by which passages are sized: an unspaced character counts one."""
    part = text[start:end]
    for match in _pattern(part, _CHARACTERS).finditer(part):
        yield start + match.start(), start + match.end()


def count_words(text: str) -> int:
    """Number of words by which passages are sized."""
    return len(_pattern(text, _CHARACTERS).findall(text))


def has_words(text: str) -> bool:
    """Whether there is a word in a text."""
    return _pattern(text, _CHARACTERS).search(text) is not None


def term_key(term: str) -> bytes:
    """The eight bytes that a term is in a segment, the highest first."""
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def term_hash(term: str) -> int:
    """A term's key as a number."""
    return int.from_bytes(term_key(term))


def _atoms(word: str) -> list[str]:
    """The parts of an identifier."""
    boundary = _ASCII_BOUNDARY if word.isascii() else _compiled(_BOUNDARY)
    return [atom for atom in boundary.split(word) if atom]


def _forms(word: str) -> list[str]:
    """An NFKC word as lower-case forms: its parts, then the whole, then neighbouring pairs."""
    lower = word.lower()
    if word.isalpha() and (word == lower or word[1:] == lower[1:]):
        return [lower]
    pieces = [_atoms(piece) for piece in re.split("[./]", word)]
    atoms = [atom for piece in pieces for atom in piece]
    if len(atoms) > _MOST_ATOMS:
        atoms, pieces = [atom for atom in re.split(r"[-‐./_]+", word) if atom], []
    if len(atoms) < 2:
        return [atoms[0].lower() if atoms else lower]
    # `e-mail` in one piece is `email`; `conf.py` and `2026-04` stay as written.
    whole = _compiled(_DROPPED_JOIN).sub("", word) if _JOINS.search(word) else word
    found = dict.fromkeys([*map(str.lower, atoms), whole.lower()])
    for piece in pieces:
        # Neighbours in longer names go together, so that `username` finds `getUserName`.
        if len(piece) > 2:
            for left, right in pairwise(piece):
                if left.isalpha() and right.isalpha():
                    found[(left + right).lower()] = None
    return list(found)


class Analyzer:
    """Turns text into terms for one language.

    Terms are folded and stemmed; they never touch the offsets of a passage.
    """

    def __init__(self, language: str, stop_words: Collection[str] = ()) -> None:
        if language not in LANGUAGES:
            raise ConfigurationError(
                f"unknown language {language!r}; one of: {', '.join(LANGUAGES)}"
            )
        self.language = language
        self.stop_words = frozenset(stop_words) - _QUERY_KEEPS
        self._stemmer = None if language == "none" else Stemmer.Stemmer(language)
        self.word_terms = lru_cache(1 << 17)(self._word_terms)
        self.word_keys = lru_cache(1 << 17)(self._word_keys)

    @property
    def identity(self) -> str:
        """What decides the terms of a text; two equal identities give equal terms."""
        stemmer = "none" if self._stemmer is None else f"snowball{Stemmer.version().split('.')[0]}"
        return f"{_VERSION}:{self.language}:{stemmer}"

    def _stem(self, form: str) -> str:
        if self._stemmer is None or len(form) > _LONGEST_STEMMED:
            return form
        stem: str = self._stemmer.stemWord(form)
        return stem

    def _variants(self, form: str) -> Iterator[str]:
        yield self._stem(form)
        if not form.isascii():
            bare = normalize("NFC", _OPTIONAL_MARK.sub("", normalize("NFD", form))).casefold()
            if bare != form:
                yield self._stem(bare)

    def _word_terms(self, word: str) -> tuple[str, ...]:
        """Terms of one word as `words` found it."""
        folded = _folded(word)
        if _is_unspaced(folded):
            return (*_clusters(folded), *_pairs(folded))
        return tuple(
            dict.fromkeys(term for form in _forms(folded) for term in self._variants(form))
        )

    def _word_keys(self, word: str) -> bytes:
        """Keys of the terms of one word, one after another."""
        return b"".join(map(term_key, self._word_terms(word)))

    def _word_weights(self, word: str) -> dict[str, float]:
        """Terms that ask for one word: each of its forms weighs one, shared by its spellings."""
        folded = _folded(word)
        if _is_unspaced(folded):
            return dict.fromkeys(_pairs(folded) or _clusters(folded), 1.0)
        weights: dict[str, float] = {}
        for form in _forms(folded):
            spellings = tuple(dict.fromkeys(self._variants(form)))
            for term in spellings:
                weights.setdefault(term, 1 / len(spellings))
        return weights

    def terms(self, text: str) -> list[str]:
        """Terms of a document's text, in order, repeats kept."""
        return [term for word in words(text) for term in self.word_terms(word)]

    def query_terms(self, text: str) -> dict[str, float]:
        """Terms of a query and their weights; stop words are left out where others remain."""
        found = words(text)
        telling = [word for word in found if _folded(word).lower() not in self.stop_words]
        weights: Counter[str] = Counter()
        for word in telling or found:
            weights.update(self._word_weights(word))
        return dict(weights)

    def matches(self, text: str, terms: Collection[str]) -> Iterator[tuple[int, int]]:
        """Spans of the words in `text` that give one of the terms, for emphasis."""
        wanted = set(terms)
        for match in _pattern(text, _RUNS).finditer(text):
            word = match.group()
            if not wanted.intersection(self.word_terms(word)):
                continue
            if not _is_unspaced(_folded(word)):
                yield match.span()
            else:
                yield from _matching_pairs(word, match.start(), wanted)


def _folded(word: str) -> str:
    return word if word.isascii() else normalize("NFKC", word.replace("\u00ad", ""))


def _is_unspaced(folded: str) -> bool:
    return not folded.isascii() and _HAS_UNSPACED.match(folded) is not None


def _clusters(run: str) -> list[str]:
    """Characters with the marks on them."""
    return _compiled(_CLUSTER).findall(run.lower())


def _pairs(run: str) -> list[str]:
    return [left + right for left, right in pairwise(_clusters(run))]


def _matching_pairs(run: str, offset: int, wanted: set[str]) -> Iterator[tuple[int, int]]:
    """Spans in a run of an unspaced script whose characters or pairs are wanted, joined."""
    parts = _folding_parts(run)
    start = end = -1
    for index, (begin, stop, folded) in enumerate(parts):
        following = parts[index + 1 : index + 2]
        if folded in wanted:
            reach = stop
        elif following and folded + following[0][2] in wanted:
            reach = following[0][1]
        else:
            continue
        if following and folded + following[0][2] in wanted:
            reach = following[0][1]
        if begin > end >= 0:
            yield offset + start, offset + end
            start = -1
        start = begin if start < 0 else start
        end = max(end, reach)
    if start >= 0:
        yield offset + start, offset + end


def _folding_parts(run: str) -> list[tuple[int, int, str]]:
    """The run in the smallest parts that fold on their own, each with its folded text."""
    parts: list[tuple[int, int, str]] = []
    for match in _compiled(_CLUSTER).finditer(run):
        begin, stop = match.span()
        folded = _folded(match.group())
        if parts:
            before = parts[-1]
            together = _folded(run[before[0] : stop])
            if together.lower() != before[2] + folded.lower():
                parts[-1] = (before[0], stop, together.lower())
                continue
        parts.append((begin, stop, folded.lower()))
    return parts
