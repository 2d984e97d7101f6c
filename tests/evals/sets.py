"""Labelled sets that can be worked out by hand, as objects and as files."""

import gzip
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from groundkit_core import Document, Span
from groundkit_core.errors import EvalError
from groundkit_evals import Dataset, EvalReport, RunConfig
from groundkit_evals.schema import (
    DatasetInfo,
    Expected,
    Found,
    Kind,
    QueryRecord,
    QueryResult,
    StageResult,
)

SECRET = "confidential"
"""A word of texts that no message may hold."""


def query(id_: str, text: str, *expected: Expected, kind: Kind = "normal") -> QueryRecord:
    return QueryRecord(id=id_, text=text, kind=kind, expected=expected)


def document(source: str, gain: float = 1.0) -> Expected:
    """A whole document as gold."""
    return Expected(unit=source, source=source, gain=gain)


def span(source: str, start: int, end: int) -> Expected:
    """A span as gold, named as the loaders name it."""
    return Expected(unit=f"{source}:{start}-{end}", source=source, span=Span(start=start, end=end))


def dataset(texts: Mapping[str, str], *queries: QueryRecord) -> Dataset:
    documents = tuple(Document.from_text(source, text) for source, text in texts.items())
    return Dataset("small", queries, documents)


def jsonl(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def found(score: float, *holds: str) -> Found:
    """A passage with its score and what it holds."""
    return Found(score=score, source="d", span=Span(start=0, end=4), excerpt="pump", holds=holds)


def result(
    id_: str,
    *passages: Found,
    ranks: Mapping[str, int] | None = None,
    seconds: float = 0.0,
    **metrics: float,
) -> QueryResult:
    """What came of a query; `ndcg_10` stands for `ndcg@10`."""
    return QueryResult(
        query=id_,
        seconds=seconds,
        found=passages,
        ranks=dict(ranks or {}),
        metrics={name.replace("_", "@"): value for name, value in metrics.items()},
    )


def report(queries: Sequence[QueryRecord], *stages: StageResult) -> EvalReport:
    """A report made by hand."""
    return EvalReport(
        created="2026-01-01T00:00:00+00:00",
        groundkit="0.1.0",
        dataset=DatasetInfo(
            name="small", corpus_hash="c", judgments_hash="j", documents=3, passages=9
        ),
        config=RunConfig(),
        queries=tuple(queries),
        stages=stages,
    )


CORPUS = jsonl(
    {"_id": "d1", "title": "Pumps", "text": f"A {SECRET} pump stops at 7 bar."},
    {"_id": "d2", "title": "", "text": f"The {SECRET} valve opens."},
    {"_id": "d3", "text": "A hose."},
)
QUERIES = jsonl(
    {"_id": "q1", "text": f"{SECRET} pump"},
    {"_id": "q2", "text": f"{SECRET} valve"},
    {"_id": "q3", "text": "nobody judged this"},
)
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td2\t1\n"


def beir(
    folder: Path,
    *,
    corpus: str = CORPUS,
    queries: str = QUERIES,
    qrels: str = QRELS,
    at: str = "qrels.tsv",
) -> Path:
    """A folder in BEIR's form."""
    for name, text in (("corpus.jsonl", corpus), ("queries.jsonl", queries), (at, qrels)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def compressed(folder: Path) -> Path:
    """The folder, each of its files compressed."""
    for path in [each for each in folder.rglob("*") if each.is_file()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    return folder


def judgment(id_: str, *gold: tuple[str, str], **more: object) -> dict[str, object]:
    """A line of `judgments.jsonl`: quotes as source and words."""
    quotes = [{"source": source, "quote": quote} for source, quote in gold]
    kind = "normal" if gold else "no_answer"
    return {"id": id_, "kind": kind, "query": f"{SECRET} {id_}", "gold": quotes} | more


def golden(folder: Path, files: Mapping[str, str | bytes], judgments: str) -> Path:
    """A folder with `corpus/` and `judgments.jsonl`."""
    for name, content in files.items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "judgments.jsonl").write_bytes(judgments.encode())
    return folder


def refusal(act: Callable[[], object]) -> str:
    """The message of the EvalError, after nothing that a user sees of it gave a text away."""
    with pytest.raises(EvalError) as caught:
        act()
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)
