"""Numbers of a Word file's lists and headings, counted as Word counts them."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from groundkit_core.loading.docx.styles import integer
from groundkit_core.loading.docx.xml import is_on
from groundkit_core.loading.numerals import numeral

__all__ = ["Numbering"]

_FORMATS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class _Level:
    style: str = "decimal"
    text: str = "%1."
    start: int = 1
    is_legal: bool = False
    linked: str = ""


@dataclass(slots=True)
class _List:
    """What a paragraph's numId names: levels, some of its own, and where it starts anew."""

    abstract: str
    levels: dict[int, _Level]
    starts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Marks of numbered paragraphs, in the order in which they are asked for."""

    def __init__(self, root: Element | None) -> None:
        self._lists: dict[str, _List] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        if root is not None:
            self._read(root)

    def level_of(self, num_id: str, style: str) -> int:
        """The level that a list ties to a paragraph style."""
        levels = self._lists[num_id].levels if num_id in self._lists else {}
        return next((place for place, level in levels.items() if level.linked == style), 0)

    def mark(self, num_id: str, place: int) -> str:
        """The next mark of a list at a level and a blank, if there is such a list."""
        found = self._lists.get(num_id)
        if found is None:
            return ""
        level = found.levels.get(place, _Level())
        if level.style == "bullet":
            return "- "
        counts = self._counts[found.abstract]
        start = found.starts.pop(place, None)
        counts[place] = counts.get(place, level.start - 1) + 1 if start is None else start
        for deeper in [other for other in counts if other > place]:
            del counts[deeper]
        text = _PLACE.sub(lambda match: self._number(found, int(match[1]) - 1, level), level.text)
        return f"{text} " if text else ""

    def _number(self, found: _List, place: int, shown: _Level) -> str:
        level = found.levels.get(place, _Level())
        number = self._counts[found.abstract].setdefault(place, level.start)
        if shown.is_legal or level.style not in _FORMATS:
            return f"{number:02}" if level.style == "decimalZero" else str(number)
        return numeral(number, _FORMATS[level.style])

    def _read(self, root: Element) -> None:
        abstracts: dict[str, dict[int, _Level]] = {}
        by_link: dict[str, str] = {}
        links: dict[str, str] = {}
        for element in root.iter("abstractNum"):
            name = element.get("abstractNumId", "")
            abstracts[name] = _levels(element)
            if (link := _value(element, "styleLink")) is not None:
                by_link[link] = name
            if (link := _value(element, "numStyleLink")) is not None:
                links[name] = link
        for element in root.iter("num"):
            abstract = _value(element, "abstractNumId") or ""
            abstract = by_link.get(links.get(abstract, ""), abstract)
            self._lists[element.get("numId", "")] = _list(element, abstract, abstracts)


def _list(element: Element, abstract: str, abstracts: dict[str, dict[int, _Level]]) -> _List:
    found = _List(abstract, dict(abstracts.get(abstract, {})))
    for override in element.iter("lvlOverride"):
        found.levels |= _levels(override)
        start = _value(override, "startOverride")
        if start is not None:
            found.starts[integer(override.get("ilvl", ""), 0)] = integer(start, 1)
    return found


def _levels(element: Element) -> dict[int, _Level]:
    levels = {}
    for level in element.iter("lvl"):
        legal = level.find("isLgl")
        text = _value(level, "lvlText")
        levels[integer(level.get("ilvl", ""), 0)] = _Level(
            style=_value(level, "numFmt") or "decimal",
            text="" if text is None or _value(level, "numFmt") == "none" else text,
            start=integer(_value(level, "start") or "", 1),
            is_legal=legal is not None and is_on(legal.attrib),
            linked=_value(level, "pStyle") or "",
        )
    return levels


def _value(element: Element, path: str) -> str | None:
    found = element.find(path)
    return None if found is None else found.get("val", "")
