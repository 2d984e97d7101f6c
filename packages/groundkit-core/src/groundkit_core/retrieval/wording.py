"""Finding where a text is worded like a quote."""

from collections.abc import Sequence, Set

from groundkit_core.retrieval.typography import BROKEN, Forms, core, iter_tokens, tokens

__all__ = ["find_wording", "is_whole"]

_FARTHEST_BLANK = 1000


def find_wording(text: str, quote: str) -> tuple[int, int] | None:
    """The first span of a text that is worded like the quote, in whole words."""
    parts, sought = tokens(text), tokens(quote)
    known = Forms()
    forms, wanted = [known[part] for part in parts], [known[part] for part in sought]
    if BROKEN in wanted:
        _, wanted = _settled(sought, wanted, set(forms))
    if BROKEN in forms:
        parts, forms = _settled(parts, forms, set(wanted))
    stream = "\n".join(["", *forms, ""])
    at = stream.find("\n".join(["", *wanted, ""]))
    if at < 0:
        return None
    first = stream.count("\n", 0, at)
    offset = sum(map(len, parts[:first]))
    begin, end = core("".join(parts[first : first + len(wanted)]))
    return offset + begin, offset + end


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether a span begins and ends where words do; False also where that would take long."""
    since = max(0, start - _FARTHEST_BLANK)
    blank = max(text.rfind(" ", since, start), text.rfind("\n", since, start))
    if blank < 0 < since:
        return False
    begun = False
    for offset, token in iter_tokens(text, blank + 1):
        first, last = core(token)
        begun = begun or offset + first == start
        if offset + last >= end or (offset + first > start and not begun):
            return begun and offset + last == end
    return False


def _settled(parts: list[str], forms: list[str], known: Set[str]) -> tuple[list[str], list[str]]:
    """A hyphen at a line end goes where the word without it is known, and stays elsewhere."""
    whole: list[str] = []
    settled: list[str] = []
    done = 0
    for mark in [index for index, form in enumerate(forms) if form == BROKEN]:
        if mark < done:
            continue
        reach = _reach(forms[mark - 1 : mark + 4], known) if mark > done else 0
        start = mark - 1 if reach else mark
        end = start + (reach or 1)
        whole += [*parts[done:start], "".join(parts[start:end])]
        settled += [*forms[done:start], _unbroken(forms[start:end:2]) if reach else "-"]
        done = end
    return whole + parts[done:], settled + forms[done:]


def _reach(forms: Sequence[str], known: Set[str]) -> int:
    """Over how many tokens a known word runs that one or two line ends divide."""
    for reach in (5, 3):
        marks = forms[1:reach:2]
        if len(forms) >= reach and set(marks) == {BROKEN} and _unbroken(forms[:reach:2]) in known:
            return reach
    return 0


def _unbroken(forms: Sequence[str]) -> str:
    """The word that line ends divide into these; a hyphen before a digit stays."""
    return forms[0] + "".join(f"-{form}" if form[0].isdigit() else form for form in forms[1:])
