"""What the elements of a web page are taken for."""

import re
from collections.abc import Mapping

__all__ = ["APART", "BLOCKS", "HEADINGS", "SCOPES", "is_furniture", "is_hidden", "number"]

Attributes = Mapping[str, str | None]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = _names(
    "address article aside blockquote body caption center dd details dialog dir div dl dt"
    " fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li"
    " listing main menu nav ol optgroup option p plaintext pre search section summary table tbody"
    " td tfoot th thead tr ul xmp"
)
# Where a header or footer is that of a part and not that of the page.
SCOPES = _names("article blockquote main section")
# What is no part of the word beside it, though a browser puts no blank between them.
APART = _names("button mspace mtd mtext mtr select text textarea")

_NEVER = _names(
    "annotation annotation-xml applet audio base canvas datalist defs desc embed frameset head"
    " iframe link meta metadata noembed noframes noscript object param rp rt rtc script source"
    " style template title track video"
)
_INLINE = _names("a b em i img small span strong sub sup svg")
_UNSEEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_FURNITURE = _names("button nav search select")
_PAGE_FURNITURE = _names("aside footer header")
_PAGE_ROLES = _names("banner complementary contentinfo navigation search")


def is_hidden(tag: str, attributes: Attributes) -> bool:
    """Whether a browser shows nothing of an element, or the same again elsewhere."""
    if tag in _NEVER or (tag == "dialog" and "open" not in attributes):
        return True
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    if attributes.get("aria-hidden") == "true" and tag in _INLINE:
        return True
    return _UNSEEN.search(attributes.get("style") or "") is not None


def is_furniture(tag: str, attributes: Attributes, *, in_part: bool) -> bool:
    """Whether an element serves the page and not its content; a part may have a header too."""
    role = attributes.get("role")
    if tag in _FURNITURE or role in ("navigation", "search"):
        return True
    return not in_part and (tag in _PAGE_FURNITURE or role in _PAGE_ROLES)


def number(attributes: Attributes, name: str, default: int) -> int:
    """A number that an attribute gives in ASCII digits."""
    value = (attributes.get(name) or "").strip()
    digits = value.removeprefix("-")
    return int(value) if digits.isascii() and digits.isdigit() and len(digits) < 7 else default
