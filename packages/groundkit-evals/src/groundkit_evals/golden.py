"""A labelled set whose gold are quotes, so that it outlives any way of cutting documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import Self

from groundkit_core.config import MAX_FILE_BYTES
from groundkit_core.contracts import Contract, Span
from groundkit_core.errors import EvalError, SourceError
from groundkit_core.loading.read import load_document, read_file
from groundkit_core.loading.walk import Walk
from pydantic import ValidationError, model_validator

from groundkit_evals.artifacts import problem_of
from groundkit_evals.dataset import Dataset
from groundkit_evals.lines import numbered
from groundkit_evals.schema import Expected, Kind, QueryRecord

__all__ = ["INJECTION_MARKERS", "Judgment", "Quote", "is_golden", "judgments", "load_golden"]

INJECTION_MARKERS = (
    "ignore all previous instructions",
    "disregard the sources",
    "forget everything above",
    "new instructions:",
    "you are now",
    "system prompt",
    "as an ai assistant",
    "do not cite",
)
"""Pieces, in lower case, of the text in the golden corpus that speaks to a model."""

CORPUS, JUDGMENTS = "corpus", "judgments.jsonl"


class Quote(Contract):
    """A passage that answers, by its file below `corpus/` and its words."""

    source: str
    quote: str


class Judgment(Contract):
    """A query and the quotes that answer it; none for a query that nothing answers."""

    id: str
    kind: Kind
    query: str
    gold: tuple[Quote, ...]

    @model_validator(mode="after")
    def _gold_fits_kind(self) -> Self:
        if (self.kind == "no_answer") == bool(self.gold):
            raise ValueError(f"kind {self.kind} {'must have no' if self.gold else 'needs'} gold")
        return self


def is_golden(folder: Path) -> bool:
    """Whether a folder holds such a set."""
    return (folder / JUDGMENTS).is_file()


def judgments(folder: Path) -> Iterator[Judgment]:
    """The lines of a set's judgments."""
    path = folder / JUDGMENTS
    for number, line in numbered(path):
        try:
            yield Judgment.model_validate_json(line)
        except ValidationError as error:
            raise EvalError(f"{path}:{number}: {problem_of(error)}") from None


def load_golden(folder: Path) -> Dataset:
    """The set, each quote with its place, which must be the only one in the whole corpus."""
    corpus = folder / CORPUS
    if not corpus.is_dir():
        raise EvalError(f"{folder}: there is no folder {CORPUS}/ beside {JUDGMENTS}")
    walk = Walk(corpus, ignore=False)
    texts = {file.relative: _text(Path(file.path)) for file in walk.files()}
    for problem in walk.problems:
        raise EvalError(f"{corpus / problem.relative}: {problem.reason}")
    queries = tuple(
        QueryRecord(
            id=row.id,
            text=row.query,
            kind=row.kind,
            expected=tuple(_expected(row.id, quote, texts) for quote in row.gold),
        )
        for row in judgments(folder)
    )
    return Dataset(
        folder.resolve().name,
        queries,
        folder=corpus,
        texts=texts,
    )


def _text(path: Path) -> str:
    try:
        document = load_document(path.name, read_file(str(path), MAX_FILE_BYTES)).document
    except SourceError as error:
        raise EvalError(f"{path}: {error}") from None
    return document.text


def _expected(query: str, gold: Quote, texts: dict[str, str]) -> Expected:
    places = {source: _count(text, gold.quote) for source, text in texts.items()}
    if places.get(gold.source) != 1 or sum(places.values()) != 1:
        raise EvalError(
            f"query {query!r}: its quote stands {places.get(gold.source, 0)} times in "
            f"{gold.source} and {sum(places.values())} times in all, it must be once"
        )
    start = texts[gold.source].index(gold.quote)
    span = Span(start=start, end=start + len(gold.quote))
    source = f"{CORPUS}/{gold.source}"
    return Expected(
        unit=f"{source}:{span.start}-{span.end}", source=source, span=span, excerpt=gold.quote
    )


def _count(text: str, quote: str) -> int:
    """How often a quote stands in a text, overlaps too."""
    found, at = 0, text.find(quote)
    while at >= 0 and quote:
        found, at = found + 1, text.find(quote, at + 1)
    return found
