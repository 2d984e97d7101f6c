"""What lexical search finds on labelled sets, beside bm25s with its own tokenizer."""

import logging
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from groundkit_core import ChunkingConfig, Collection, Document
from groundkit_core.contracts import SearchMode
from groundkit_core.embedding import EmbeddingProtocol
from groundkit_evals.metrics import Span, ndcg, recall, span_recall

from benchmarks.labelled import SETS, LabelledSet, Question, load
from benchmarks.plain_bm25s import PlainBm25s
from benchmarks.report import Report, Row, Table, Target
from benchmarks.stop_words import stop_word_policies

__all__ = ["DEPTH", "QUICK_QUESTIONS", "WHOLE", "collection_of", "covered", "hits", "ranked", "run"]

WHOLE = ChunkingConfig(strategy="fixed", size=1_000_000)
QUICK_QUESTIONS = 100
DEPTH = 100
Search = Callable[[str], list[str]]
SpanSearch = Callable[[str], list[Span]]


def run(*, quick: bool, only: str | None) -> Report:
    """nDCG and recall of documents, character recall of answers, effect of stop words."""
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    documents: list[Row] = []
    answers: list[Row] = []
    policies: list[Row] = []
    for name in [only] if only else SETS:
        print(f"{name} ...", file=sys.stderr)
        data = load(name)
        if quick:
            data = replace(data, questions=data.questions[:QUICK_QUESTIONS])
        if len(data.texts) > 10:
            documents.append(_documents(data))
        if data.questions[0].answers:
            answers.append(_answers(data))
        if name == "scifact":
            policies = stop_word_policies(data)
    tables = [
        Table("documents found, each indexed whole", documents),
        Table("characters of the answers in ten passages (ours: with their copies)", answers),
        Table("scifact, stop words", policies),
    ]
    return Report(
        benchmark="quality",
        quick=quick,
        peers=("bm25s", "PyStemmer"),
        tables=[table for table in tables if table.rows],
        targets=[
            Target("nDCG@10 on scifact", row["nDCG@10"], at_least=0.68)
            for row in documents
            if row["set"] == "scifact" and not quick
        ],
    )


def _documents(data: LabelledSet) -> Row:
    """Ranking of whole documents; recall goes as deep as the set is large."""
    texts = [text.searched for text in data.texts]
    peer = PlainBm25s(texts, data.language)
    ids = [text.id for text in data.texts]
    with TemporaryDirectory() as folder, collection_of(folder, data, WHOLE) as collection:
        ours = ranked(data.questions, lambda query: [s for s, *_ in hits(collection, query)])
    plain = ranked(data.questions, lambda query: [ids[at] for at in peer.search(query, DEPTH)])
    deep = DEPTH if len(ids) > 2_000 else 10
    return {
        "set": data.name,
        "language": data.language,
        "documents": len(ids),
        "queries": len(data.questions),
        "nDCG@10": fmean(ndcg(found, asked.gains, 10) for asked, found in ours),
        "bm25s nDCG@10": fmean(ndcg(found, asked.gains, 10) for asked, found in plain),
        "recall at": deep,
        "recall": fmean(recall(found, asked.gains, deep) for asked, found in ours),
        "bm25s recall": fmean(recall(found, asked.gains, deep) for asked, found in plain),
    }


def ranked(questions: Iterable[Question], search: Search) -> list[tuple[Question, list[str]]]:
    """Each question with the documents that a search finds, best first."""
    return [(question, search(question.text)) for question in questions]


def _answers(data: LabelledSet) -> Row:
    """What of the answers is returned; the peer ranks the same passages."""
    titles = {text.id: f"{text.title}\n" if text.title else "" for text in data.texts}
    with TemporaryDirectory() as folder, collection_of(folder, data) as collection:
        passages = [
            ((citation.source, citation.start, citation.end), content)
            for document in collection.passages()
            for citation, content in document
        ]
        peer = PlainBm25s([titles[span[0]] + text for span, text in passages], data.language)
        ours = covered(data, lambda query: hits(collection, query, 10))
    plain = covered(data, lambda query: [passages[at][0] for at in peer.search(query, 10)])
    return {
        "set": data.name,
        "language": data.language,
        "passages": len(passages),
        "queries": len(data.questions),
        "recall": ours,
        "bm25s recall": plain,
    }


def covered(data: LabelledSet, search: SpanSearch) -> float:
    """Mean share of the answers' characters that a search finds."""
    values = []
    for question in data.questions:
        found = search(question.text)
        wanted = [question.answers]
        if data.answers_are_alternatives:
            wanted = [(answer,) for answer in question.answers]
        values.append(max(span_recall(found, spans) for spans in wanted))
    return fmean(values)


def hits(
    collection: Collection, query: str, k: int = DEPTH, mode: SearchMode = "bm25"
) -> list[Span]:
    """Where the best k texts stand; one that stands at several places names them all."""
    results = collection.search(query, top_k=k, mode=mode).results
    cited = [citation for result in results for citation in (result.citation, *result.copies)]
    return [(citation.source, citation.start, citation.end) for citation in cited]


def collection_of(
    folder: str,
    data: LabelledSet,
    chunking: ChunkingConfig | None = None,
    embedder: EmbeddingProtocol | None = None,
) -> Collection:
    """A collection of the set's texts."""
    collection = Collection.open(Path(folder) / "measured", embedder=embedder)
    documents = [
        Document.from_text(text.id, text.text, title=text.title or None) for text in data.texts
    ]
    collection.add(documents, chunking=chunking, language=data.language)
    return collection
