"""Formulas of a Word file on one line, as Word's linear form shows them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from groundkit_core.loading.docx.xml import Attributes

__all__ = ["Formula"]

_CLOSED = ("f", "func", "limLow", "limUpp", "nary", "rad", "sSub", "sSubSup", "sSup")
_SIGNS = ("begChr", "chr", "endChr", "sepChr")


@dataclass(slots=True)
class _Part:
    name: str
    texts: list[tuple[str, str]] = field(default_factory=list)
    signs: dict[str, str] = field(default_factory=dict)

    def text(self, *names: str) -> str:
        """The texts of the parts with these names, or of all; none is glued to a part before it."""
        text, is_closed = "", False
        for name, more in self.texts:
            if more and (not names or name in names):
                if (is_closed or name == "func") and text[-1:].isalnum() and more[0].isalnum():
                    text += " "
                text += more
                is_closed = name in _CLOSED
        return text


class Formula:
    """Puts the text of a formula together from its parts."""

    def __init__(self) -> None:
        self._parts = [_Part("oMath")]

    def start(self, name: str, attributes: Attributes) -> None:
        """An element of the formula begins."""
        if name in _SIGNS and len(self._parts) > 1:
            self._parts[-2].signs[name] = attributes.get("val", "")
        self._parts.append(_Part(name))

    def end(self) -> None:
        """The element that began last ends."""
        part = self._parts.pop()
        if self._parts:
            self._parts[-1].texts.append((part.name, _shown(part)))

    def add(self, text: str) -> None:
        """Text in the element that began last."""
        self._parts[-1].texts.append(("t", text))

    def take(self) -> str:
        """The formula."""
        return self._parts[0].text()


def _shown(part: _Part) -> str:
    match part.name:
        case "f":
            return f"{_grouped(part.text('num'))}/{_grouped(part.text('den'))}"
        case "sSup" | "sSub" | "sSubSup" | "limLow" | "limUpp":
            return _grouped(part.text("e")) + _scripts(part)
        case "sPre":
            return _scripts(part) + part.text("e")
        case "nary":
            return f"{part.signs.get('chr', '∫')}{_scripts(part)} {part.text('e')}"
        case "rad":
            return f"{part.text('deg')}√{_grouped(part.text('e'))}"
        case "d":
            inner = part.signs.get("sepChr", "|").join(_all(part, "e"))
            return part.signs.get("begChr", "(") + inner + part.signs.get("endChr", ")")
        case "func":
            argument = part.text("e")
            return part.text("fName") + ("" if argument.startswith("(") else " ") + argument
        case "mr":
            return " ".join(_all(part, "e"))
        case "m" | "eqArr":
            return "; ".join(_all(part, "mr", "e"))
        case _:
            return part.text()


def _scripts(part: _Part) -> str:
    below = part.text("sub") or (part.text("lim") if part.name == "limLow" else "")
    above = part.text("sup") or (part.text("lim") if part.name == "limUpp" else "")
    return "".join(f"{sign}{_grouped(text)}" for sign, text in (("_", below), ("^", above)) if text)


def _all(part: _Part, *names: str) -> Iterable[str]:
    return (text for name, text in part.texts if name in names)


def _grouped(text: str) -> str:
    """In brackets, unless it is one number, word or sign."""
    text = text.strip()
    if len(text) < 2 or text.isalpha() or text.isdigit():
        return text
    if text[0] == "(" and text[-1] == ")" and text.count("(") == 1:
        return text
    return f"({text})"
