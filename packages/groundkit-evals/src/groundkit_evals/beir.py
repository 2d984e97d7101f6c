"""Labelled sets in BEIR's form, plain or compressed: documents, queries, judgments."""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from groundkit_core.contracts import Document, Span
from groundkit_core.errors import EvalError

from groundkit_evals.dataset import Dataset, hash_of
from groundkit_evals.schema import Expected, QueryRecord

__all__ = ["is_beir", "load_beir"]

_QRELS = ("qrels.tsv", "qrels/test.tsv")
_EXCERPT = 300


def is_beir(folder: Path) -> bool:
    """Whether a folder holds such a set."""
    return _file(folder, "corpus.jsonl") is not None


def load_beir(folder: Path) -> Dataset:
    """The set; where a query has `answers` (document, start, end), these spans are its gold.

    Queries without a judgment are left out, as they are where such sets are scored.
    """
    texts = {row["_id"]: row for row in _rows(folder, "corpus.jsonl", "_id", "text")}
    documents = tuple(
        Document.from_text(id_, row["text"], title=row.get("title") or None)
        for id_, row in texts.items()
    )
    gains = _gains(folder)
    queries = []
    for row in _rows(folder, "queries.jsonl", "_id", "text"):
        if row["_id"] in gains:
            answers = row.get("answers") or ()
            expected = (
                tuple(_span(row["_id"], answer, texts) for answer in answers)
                if answers
                else tuple(
                    Expected(unit=source, source=source, gain=gain)
                    for source, gain in gains[row["_id"]].items()
                )
            )
            queries.append(QueryRecord(id=row["_id"], text=row["text"], expected=expected))
    return Dataset(
        folder.resolve().name,
        tuple(queries),
        documents,
        corpus_hash=hash_of(
            part for each in documents for part in (each.source, each.title or "", each.text)
        ),
    )


def _gains(folder: Path) -> dict[str, dict[str, float]]:
    path = next((found for name in _QRELS if (found := _file(folder, name))), None)
    if path is None:
        raise EvalError(f"{folder}: there is neither {_QRELS[0]} nor {_QRELS[1]}")
    gains: dict[str, dict[str, float]] = {}
    with _opened(path) as stream:
        lines = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        for number, fields in enumerate(lines, start=1):
            try:
                query, source, gain = fields
                gains.setdefault(query, {})[source] = float(gain)
            except ValueError:
                if number > 1:
                    raise EvalError(
                        f"{path}:{number}: a judgment is a query id, a document id and a number"
                    ) from None
                gains.clear()  # the header
    return gains


def _span(query: str, answer: dict[str, Any], texts: dict[str, dict[str, Any]]) -> Expected:
    try:
        source, start, end = answer["doc"], answer["start"], answer["end"]
        text = texts[source]["text"][start:end]
        if len(text) == end - start > 0:
            return Expected(
                unit=f"{source}:{start}-{end}",
                source=source,
                span=Span(start=start, end=end),
                excerpt=text[:_EXCERPT],
            )
    except (KeyError, TypeError, ValueError):
        pass
    raise EvalError(f"query {query!r}: an answer needs doc, start and end within that document")


def _rows(folder: Path, name: str, *needed: str) -> Iterator[dict[str, Any]]:
    path = _file(folder, name)
    if path is None:
        raise EvalError(f"{folder}: there is no {name}")
    with _opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = json.loads(line)
                if all(isinstance(row[key], str) for key in needed):
                    yield row
                    continue
            except (KeyError, TypeError, ValueError):
                pass
            raise EvalError(f"{path}:{number}: it must be an object with {' and '.join(needed)}")


def _file(folder: Path, name: str) -> Path | None:
    return next(
        (path for path in (folder / name, folder / f"{name}.gz") if path.is_file()),
        None,
    )


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")
