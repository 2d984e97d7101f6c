"""The grammar of `[n]`, by which an answer cites its sources."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import category

from groundkit_core.errors import SynthesisError

from groundkit_providers.masking import masked

__all__ = ["Group", "Marker", "bracket_groups", "cited_numbers", "find_markers", "source_forms"]

_LONGEST_SHOWN = 40
_SAID = re.compile(r"[^\W\d_]{3,}")
_NAMED = {"source", "sources", "and", "see", "from", "per", "sqrt"}
_LONG_NUMBER = re.compile(r"(\d{4})\d+")

_OPENING = "[［【〔〖〘〚⟦⟬⦋⦍⦏⦗❲⁅﹝﹇︹︻︗⸢⸤⹕⹗"
_CLOSING = "]］】〕〗〙〛⟧⟭⦌⦎⦐⦘❳⁆﹞﹈︺︼︘⸣⸥⹖⹘"
_MARKER = r"\[ *+[1-9][0-9]{0,3}+(?: *+, *+[1-9][0-9]{0,3}+)*+ *+\]"
_TOKEN = r"\[[A-Z][A-Z0-9_]*_[1-9][0-9]*+\]"
_BRACKET = (
    rf"(?P<opening>[{re.escape(_OPENING)}])|(?P<closing>[{re.escape(_CLOSING)}])"
    r"|(?P<blank>\n[ \t\r]*+\n)"
)
_MARKERS = re.compile(_MARKER)
_NUMBER = re.compile("[0-9]+")
_BESIDE_MARKERS = re.compile(f"{_MARKER}|{_TOKEN}|{_BRACKET}")
_BESIDE_TOKENS = re.compile(f"{_TOKEN}|{_BRACKET}")
_TOUCHING = "(:!]\\"
_COMMAND = re.compile(r"\\(?:sqrt *+|[A-Za-z]++\*?)(?=\[)")
# On one line, so that quoting it moves no line's beginning.
_SOURCE = re.compile(
    r"[(（][ \t]*+(?P<said>(?:(?:see|cf\.?|from|per)[ \t]++)?sources?[ \t:#]*+\d++"
    r"(?:[ \t]*+(?:[,;&/–-]|and\b|or\b|to\b)(?:[ \t#]|and\b|sources?\b)*+\d++)*+)"
    r"[ \t]*+(?=[)），,;:])",
    re.IGNORECASE,
)


class Marker(NamedTuple):
    """A marker in an answer and the numbers it names."""

    start: int
    end: int
    numbers: tuple[int, ...]


class Group(NamedTuple):
    """Brackets and whether a number stands in them; `end` is None where nothing closes them."""

    start: int
    end: int | None
    numbered: bool


def find_markers(answer: str) -> list[Marker]:
    """The markers outside code, in order, whatever stands beside them."""
    return _markers(masked(answer))


def cited_numbers(answer: str, sources: int) -> tuple[int, ...]:
    """The numbers that an answer cites, each once, in the order of their first mention.

    `SynthesisError` for a number without a source and for every form that a reader could take for
    a citation although the grammar does not.
    """
    text = masked(answer)
    if not text.strip() and answer.strip():
        raise SynthesisError("the whole answer stands in a code fence, where nothing cites")
    markers = _markers(text)
    _refuse_touched(text, markers)
    _refuse_groups(answer, text)
    for start, end in source_forms(text):
        raise _refused(f"({answer[start:end]})")
    numbers = dict.fromkeys(number for marker in markers for number in marker.numbers)
    for number in numbers:
        if number > sources:
            raise SynthesisError(f"the answer cites [{number}], but it had {sources} sources")
    return tuple(numbers)


def bracket_groups(text: str, *, markers: bool) -> Iterator[Group]:
    """The bracket groups of a masked text, inner ones first; redaction tokens are none.

    Any opening bracket pairs with any closing one, look-alikes included. A group may span lines
    but no blank line. With `markers` valid markers are groups too, otherwise they hold nothing.
    """
    stack: list[tuple[int, bool]] = []
    at = 0
    for found in (_BESIDE_TOKENS if markers else _BESIDE_MARKERS).finditer(text):
        if stack and not stack[-1][1] and _numbered(text[at : found.start()]):
            stack[-1] = (stack[-1][0], True)
        at = found.end()
        if found["opening"]:
            stack.append((found.start(), False))
        elif found["closing"] and stack:
            start, numbered = stack.pop()
            yield Group(start, found.end(), numbered)
            if stack and numbered:
                stack[-1] = (stack[-1][0], True)
        elif found["blank"]:
            yield from _left_open(stack, "")
            stack.clear()
    yield from _left_open(stack, text[at:])


def source_forms(text: str) -> Iterator[tuple[int, int]]:
    """Spans of what is said in `(Source 1)` and its like, in a masked text."""
    for found in _SOURCE.finditer(text):
        yield found.span("said")


def _left_open(stack: list[tuple[int, bool]], rest: str) -> Iterator[Group]:
    numbered = bool(stack) and _numbered(rest)
    for start, held in reversed(stack):
        numbered = numbered or held
        yield Group(start, None, numbered)


def _numbered(text: str) -> bool:
    """Whether a character of the text is a number to Unicode: a digit of any script, `²`, `①`."""
    if text.isascii():
        return _NUMBER.search(text) is not None
    return any(category(character)[0] == "N" for character in text)


def _markers(text: str) -> list[Marker]:
    return [
        Marker(*found.span(), tuple(int(number) for number in _NUMBER.findall(found.group())))
        for found in _MARKERS.finditer(text)
    ]


def _refused(form: str) -> SynthesisError:
    # The form is named, what else the answer says stays out of messages.
    shown = _SAID.sub(lambda found: found[0] if found[0].lower() in _NAMED else "…", form)
    shown = _LONG_NUMBER.sub(r"\1…", shown)
    shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[: _LONGEST_SHOWN - 1]}…"
    return SynthesisError(f"the answer holds {shown!r}, which is no citation; it must be [n]")


def _refuse_touched(text: str, markers: list[Marker]) -> None:
    """Refuse markers that Markdown or LaTeX would read as part of something else."""
    starts = {marker.start for marker in markers}
    ends = {marker.end for marker in markers}
    commands = {found.end(): found.start() for found in _COMMAND.finditer(text)}
    for start, end, _ in markers:
        if start in commands:
            raise _refused(text[commands[start] : end])
        before = start not in ends and start > 0 and text[start - 1] in _TOUCHING
        after = end not in starts and end < len(text) and text[end] in f"{_TOUCHING}["
        if before or after:
            raise _refused(text[start - before : end + after])


def _refuse_groups(answer: str, text: str) -> None:
    for group in bracket_groups(text, markers=False):
        if group.numbered and group.end is None:
            raise SynthesisError("the answer opens a bracket before a number and never closes it")
        if group.numbered:
            raise _refused(answer[group.start : group.end])
