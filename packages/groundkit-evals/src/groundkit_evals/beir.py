"""Labelled sets in BEIR's form, plain or compressed: documents, queries, judgments."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundkit_core.contracts import Document, Span
from groundkit_core.errors import EvalError

from groundkit_evals.dataset import Dataset
from groundkit_evals.lines import numbered
from groundkit_evals.schema import Expected, QueryRecord

__all__ = ["is_beir", "load_beir"]

_QRELS = ("qrels.tsv", "qrels/test.tsv")
_EXCERPT = 300
Gains = dict[str, dict[str, float]]
"""For each query id, the gain of each document."""


def is_beir(folder: Path) -> bool:
    """Whether a folder holds such a set."""
    return _file(folder, "corpus.jsonl") is not None


def load_beir(folder: Path) -> Dataset:
    """The set; where a query has `answers` (document, start, end), these spans are its gold.

    Queries without a judgment are left out, as they are where such sets are scored.
    """
    documents = _documents(folder)
    gains = _gains(folder)
    queries = tuple(
        QueryRecord(
            id=row["_id"],
            text=row["text"],
            expected=_expected(row, gains[row["_id"]], documents),
        )
        for row in _rows(folder, "queries.jsonl")
        if row["_id"] in gains
    )
    lost = {source for found in gains.values() for source in found} - documents.keys()
    warning = f"judgments name {len(lost)} documents that the set does not hold"
    return Dataset(
        folder.resolve().name,
        queries,
        tuple(documents.values()),
        warnings=(warning,) if lost else (),
    )


def _documents(folder: Path) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for row in _rows(folder, "corpus.jsonl"):
        if row["_id"] in documents:
            raise EvalError(f"{folder}: the document id {row['_id']!r} is given twice")
        title = row.get("title") or None
        documents[row["_id"]] = Document.from_text(row["_id"], row["text"], title=title)
    return documents


def _gains(folder: Path) -> Gains:
    path = next((found for name in _QRELS if (found := _file(folder, name))), None)
    if path is None:
        raise EvalError(f"{folder}: there is neither {_QRELS[0]} nor {_QRELS[1]}")
    gains: Gains = {}
    for number, line in numbered(path):
        fields = line.split("\t")
        if not gains and len(fields) == 3 and fields[2].lower() == "score":
            continue  # the header
        gain = _number(fields[2]) if len(fields) == 3 else None
        if gain is None:
            raise EvalError(
                f"{path}:{number}: a judgment is a query id, a document id and a number"
            )
        query, source, _ = fields
        if source in gains.setdefault(query, {}):
            raise EvalError(f"{path}:{number}: this document is judged twice for this query")
        gains[query][source] = gain
    return gains


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) and "_" not in text else None


def _expected(
    row: dict[str, Any], gains: dict[str, float], documents: dict[str, Document]
) -> tuple[Expected, ...]:
    answers = row.get("answers") or ()
    if not answers:
        return tuple(
            Expected(unit=source, source=source, gain=gain) for source, gain in gains.items()
        )
    found = [_span(answer, documents) for answer in answers] if isinstance(answers, list) else []
    spans = [span for span in found if span is not None]
    if not spans or len(spans) < len(found):
        raise EvalError(
            f"query {row['_id']!r}: an answer needs doc, start and end within that document"
        )
    return tuple(dict.fromkeys(spans))


def _span(answer: Any, documents: dict[str, Document]) -> Expected | None:
    try:
        source, start, end = answer["doc"], answer["start"], answer["end"]
        text = documents[source].text
        if 0 <= start < end <= len(text):
            return Expected(
                unit=f"{source}:{start}-{end}",
                source=source,
                span=Span(start=start, end=end),
                excerpt=text[start:end][:_EXCERPT],
            )
    except (KeyError, TypeError, ValueError):
        pass
    return None


def _rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    path = _file(folder, name)
    if path is None:
        raise EvalError(f"{folder}: there is no {name}")
    for number, line in numbered(path):
        try:
            row = json.loads(line)
            texts = (row["_id"], row["text"], row.get("title") or "")
            if all(isinstance(text, str) for text in texts):
                "".join(texts).encode()  # half a surrogate pair is no text
                yield row
                continue
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            pass
        raise EvalError(f"{path}:{number}: it must be an object with _id and text")


def _file(folder: Path, name: str) -> Path | None:
    return next(
        (path for path in (folder / name, folder / f"{name}.gz") if path.is_file()),
        None,
    )
