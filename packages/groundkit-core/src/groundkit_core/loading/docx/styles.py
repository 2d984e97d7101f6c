"""Styles of a Word file: which are headings, which are numbered, which are code."""

import re
from dataclasses import dataclass
from xml.etree.ElementTree import Element

__all__ = ["NO_OUTLINE", "Style", "Styles", "integer"]

_HEADING = re.compile(r"heading ([1-9])")
_CODE = {"code", "html preformatted", "macro", "macro text", "source code"}
NO_OUTLINE = 9


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph has by its style; `heading` is 0 for text and for the title's style."""

    heading: int = 0
    is_title: bool = False
    is_code: bool = False
    num_id: str | None = None
    level: int | None = None


class Styles:
    """Paragraph styles by their id."""

    def __init__(self, root: Element | None) -> None:
        self._elements = {
            element.get("styleId", ""): element
            for element in (root.iter("style") if root is not None else ())
        }
        self._default = next(
            (
                name
                for name, element in self._elements.items()
                if element.get("type") == "paragraph" and element.get("default") in ("1", "true")
            ),
            "",
        )
        self._styles: dict[str, Style] = {}

    def __getitem__(self, name: str | None) -> Style:
        name = self._default if name is None else name
        if name not in self._styles:
            self._styles[name] = self._resolved(name)
        return self._styles[name]

    def _resolved(self, name: str) -> Style:
        chain = self._chain(name)
        if not chain:
            return Style()
        names = [_value(element, "name").lower() for element in chain]
        built_in = _HEADING.fullmatch(names[0])
        outlines = (_value(element, "pPr/outlineLvl") for element in chain)
        outline = integer(next(filter(None, outlines), ""), NO_OUTLINE)
        numbers = (_value(element, "pPr/numPr/numId") for element in chain)
        levels = (_value(element, "pPr/numPr/ilvl") for element in chain)
        level = next(filter(None, levels), None)
        return Style(
            heading=int(built_in[1]) if built_in else outline + 1 if outline < NO_OUTLINE else 0,
            is_title=names[0] == "title",
            is_code=names[0] in _CODE,
            num_id=next(filter(None, numbers), None),
            level=None if level is None else integer(level, 0),
        )

    def _chain(self, name: str) -> list[Element]:
        """A style and those that it is based on."""
        chain: list[Element] = []
        seen: set[str] = set()
        while name in self._elements and name not in seen:
            seen.add(name)
            chain.append(self._elements[name])
            name = _value(chain[-1], "basedOn")
        return chain


def integer(text: str, default: int) -> int:
    """A number of at most six ASCII digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else default


def _value(element: Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else found.get("val", "")
