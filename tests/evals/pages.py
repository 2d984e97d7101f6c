"""A page read by a parser, so that what is checked is what a browser would make of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from groundkit_evals.page import render_page
from groundkit_evals.schema import EvalReport

VOID = {"input", "meta"}


@dataclass
class Element:
    """A tag with its attributes and what stands in it."""

    tag: str
    attributes: dict[str, str | None]
    children: list["Element | str"] = field(default_factory=list)

    def all(self, tag: str = "", **attributes: str) -> Iterator["Element"]:
        """Every element within, of a tag and with these attributes; `class_` is `class`."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        for child in self.children:
            if isinstance(child, Element):
                if tag in ("", child.tag) and wanted.items() <= child.attributes.items():
                    yield child
                yield from child.all(tag, **attributes)

    @property
    def text(self) -> str:
        """Its text, with runs of blanks as one."""
        parts = [child if isinstance(child, str) else f" {child.text} " for child in self.children]
        return " ".join("".join(parts).split())

    def rows(self) -> list[list[str]]:
        """The texts of a table's cells."""
        return [
            [cell.text for cell in row.all() if cell.tag in ("th", "td")] for row in self.all("tr")
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"</{tag}> closes another"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(page: str) -> Element:
    """The root of a page whose every element is closed where it should be."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    (root,) = reader.open
    return root


def text_of(run: EvalReport) -> str:
    """The page of a run; the test is skipped where what draws it is missing."""
    for name in ("jinja2", "matplotlib"):
        pytest.importorskip(name, reason="the page needs groundkit-evals[report]")
    return render_page(run)


def read(run: EvalReport) -> Element:
    """The page of a run."""
    return parsed(text_of(run))


def one(page: Element, tag: str, **attributes: str) -> Element:
    """The only element of a kind."""
    (found,) = page.all(tag, **attributes)
    return found


def asked(page: Element) -> list[Element]:
    """The queries, as they stand."""
    return list(page.all("details", class_="query"))


def table(page: Element, label: str) -> list[list[str]]:
    """The cells of the table in the box of a name, the headings first."""
    (box,) = page.all("div", aria_label=label)
    return box.rows()
