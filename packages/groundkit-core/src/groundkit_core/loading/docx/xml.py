"""Reading the XML parts of a Word file, which have no document type and sane depths."""

from collections.abc import Mapping
from typing import Protocol
from xml.etree import ElementTree

from groundkit_core.errors import RefusedError

__all__ = ["Attributes", "Handler", "is_on", "local", "parse", "prefixed", "tree"]

MAX_DEPTH = 1000
Attributes = Mapping[str, str]

# The namespaces of Transitional and Strict files.
_PREFIXES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
}


class Handler(Protocol):
    """Takes the elements of a part as they begin and end."""

    def start(self, name: str, attributes: Attributes) -> None:
        """An element begins; names are those of Word's own prefixes."""

    def end(self) -> None:
        """The element that began last ends."""

    def text(self, text: str) -> None:
        """Characters in the element that began last."""


class _Target:
    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._names: dict[str, str] = {}
        self._depth = 0
        self.data = handler.text

    def doctype(self, *_: str | None) -> None:
        raise RefusedError("Word: its XML has a document type")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise RefusedError(f"Word: XML nested more than {MAX_DEPTH} deep")
        self._handler.start(self._name(tag), {local(key): attributes[key] for key in attributes})

    def end(self, _: str) -> None:
        self._depth -= 1
        self._handler.end()

    def close(self) -> None:
        pass

    def _name(self, tag: str) -> str:
        name = self._names.get(tag)
        if name is None:
            name = self._names[tag] = prefixed(tag)
        return name


class _Builder:
    """Makes a tree of a small part."""

    def __init__(self) -> None:
        self.builder = ElementTree.TreeBuilder()
        self._names: list[str] = []

    def start(self, name: str, attributes: Attributes) -> None:
        self._names.append(local(name))
        self.builder.start(self._names[-1], dict(attributes))

    def end(self) -> None:
        self.builder.end(self._names.pop())

    def text(self, text: str) -> None:
        self.builder.data(text)


def parse(data: bytes, handler: Handler) -> None:
    """Hand the elements of a part to a handler."""
    parser = ElementTree.XMLParser(target=_Target(handler))
    try:
        parser.feed(data)
        parser.close()
    except (ElementTree.ParseError, LookupError, ValueError):
        raise RefusedError("Word: its XML is damaged") from None


def tree(data: bytes) -> ElementTree.Element:
    """A part as a tree, its names without prefixes."""
    builder = _Builder()
    parse(data, builder)
    return builder.builder.close()


def prefixed(tag: str) -> str:
    """`w:p` for `{namespace}p`."""
    namespace, _, name = tag.rpartition("}")
    prefix = _PREFIXES.get(namespace[1:])
    return f"{prefix}:{name}" if prefix else name


def local(tag: str) -> str:
    """A name without its namespace or prefix."""
    return tag.rpartition("}")[2].rpartition(":")[2]


def is_on(attributes: Attributes) -> bool:
    """Whether an element that is a switch is on."""
    return attributes.get("val", "true").lower() not in ("0", "false", "off", "none")
