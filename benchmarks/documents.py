"""Words of HTML and Word files and their order, beside markitdown, against reference Markdown."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

from groundkit_core.loading import docx as word_file
from groundkit_core.loading import html as web_page

from benchmarks.labelled import data_folder
from benchmarks.report import Report, Row, Table, Target

__all__ = ["run", "words"]

Readers = dict[str, Callable[[bytes], str]]

# The references hold all that a page shows, not its main content alone.
_COMPARED = {"html": "full", "docx": "ours"}
_QUICK_BYTES = 20_000

# What Markdown adds to the words of a document is taken from references and candidates alike:
# comments, targets of links and images, marks of tasks, TeX commands, escapes, emphasis and code.
_ADDED = (
    (re.compile(r"<!--.*?-->", re.DOTALL), " "),
    (re.compile(r"\]\((?:[^()]|\([^()]*\))*\)"), "] "),
    (re.compile(r"\[[ xX]\] "), " "),
    (re.compile(r"\\[A-Za-z]+"), " "),
    (re.compile(r"\\(.)"), r"\1"),
    (re.compile(r"[*~`]+"), ""),
)
_WORD = re.compile(r"[^\W_]+")


def run(*, quick: bool) -> Report:
    """Word recall and reading order of each file and of all, and whether ours finds as much."""
    tables, targets = [], []
    for kind, readers in _readers().items():
        rows = [_row(path, readers) for path in _files(kind, quick=quick)]
        rows.append(_together(rows, readers))
        tables.append(
            Table(f"{kind}: share of the reference's words found, and in its order", rows)
        )
        ours = _COMPARED[kind]
        targets.append(
            Target(
                f"{kind}, words found by {ours} less markitdown's",
                round(rows[-1][f"{ours} words"] - rows[-1]["markitdown words"], 9),
                at_least=0.0,
            )
        )
    return Report(
        benchmark="documents",
        quick=quick,
        peers=("markitdown", "rapidfuzz", "selectolax"),
        tables=tables,
        targets=targets,
    )


def words(text: str) -> list[str]:
    """The casefolded words of a text, without what Markdown adds to them."""
    for pattern, replacement in _ADDED:
        text = pattern.sub(replacement, text)
    return _WORD.findall(html.unescape(text).casefold())


def _readers() -> dict[str, Readers]:
    from markitdown import MarkItDown, MarkItDownException, StreamInfo

    markitdown = MarkItDown()

    def peer(data: bytes, kind: str) -> str:
        """A file that it cannot read has no words."""
        try:
            found = markitdown.convert_stream(BytesIO(data), stream_info=StreamInfo(extension=kind))
        except MarkItDownException:
            return ""
        return str(found.text_content)

    return {
        "html": {
            "ours": lambda data: web_page.extract(data).text,
            "full": lambda data: web_page.extract(data, full=True).text,
            "markitdown": partial(peer, kind=".html"),
        },
        "docx": {
            "ours": lambda data: word_file.extract(data).text,
            "markitdown": partial(peer, kind=".docx"),
        },
    }


def _files(kind: str, *, quick: bool) -> Iterator[Path]:
    for path in sorted((data_folder("docs_docling") / kind).glob(f"*.{kind}")):
        if not quick or path.stat().st_size <= _QUICK_BYTES:
            yield path


def _content(path: Path) -> bytes:
    """A file's bytes; what a page hides is taken out, or it counts for words that it repeats."""
    if path.suffix != ".html":
        return path.read_bytes()
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(path.read_text("utf-8"))
    for node in page.css("[hidden]"):
        node.decompose()
    return (page.html or "").encode()


def _row(path: Path, readers: Readers) -> Row:
    """Shares of the reference's words: as many as there are, and their longest common sequence."""
    from rapidfuzz.distance import LCSseq

    expected = words(path.with_name(f"{path.name}.md").read_text("utf-8"))
    data = _content(path)
    texts = {name: words(read(data)) for name, read in readers.items()}
    row: Row = {"file": path.name, "reference": len(expected)}
    for name, text in texts.items():
        row[f"{name} words"] = (Counter(expected) & Counter(text)).total() / len(expected)
    for name, text in texts.items():
        row[f"{name} order"] = LCSseq.similarity(expected, text) / len(expected)
    return row


def _together(rows: list[Row], readers: Readers) -> Row:
    """All files as if they were one, each as long as its reference."""
    size = sum(row["reference"] for row in rows)
    keys = [f"{name} {measure}" for measure in ("words", "order") for name in readers]
    shares = {key: sum(row[key] * row["reference"] for row in rows) / size for key in keys}
    return {"file": "all", "reference": size, **shares}
