"""Real sentences and paragraphs, for vectors that lie as vectors of text do."""

import random
import re
from collections.abc import Iterator

from benchmarks.labelled import data_folder, load, rows

__all__ = ["asked", "sentences"]

_FOLDERS = ("docs_fastapi", "docs_rust_book", "docs_peps")
_WORDS = range(5, 61)
_SEED = 7


def sentences() -> list[str]:
    """Distinct sentences of abstracts and paragraphs of documents, mixed in a fixed order."""
    found = {text: None for text in (*_abstracts(), *_paragraphs()) if len(text.split()) in _WORDS}
    mixed = sorted(found)
    random.Random(_SEED).shuffle(mixed)
    return list(dict.fromkeys(text.strip() for text in mixed))


def asked() -> list[str]:
    """Distinct queries, mixed in a fixed order."""
    names = ("scifact", "covid_faq_en", "xquad/en")
    found = sorted({question.text for name in names for question in load(name).questions})
    random.Random(_SEED).shuffle(found)
    return found


def _abstracts() -> Iterator[str]:
    for row in rows(data_folder("scifact") / "corpus"):
        for start, end in row["sentences"]:
            yield row["text"][start:end]


def _paragraphs() -> Iterator[str]:
    for name in _FOLDERS:
        for path in sorted(data_folder(name).rglob("*")):
            if path.suffix in (".md", ".rst"):
                for paragraph in re.split(r"\n\s*\n", path.read_text("utf-8")):
                    yield " ".join(paragraph.split())
