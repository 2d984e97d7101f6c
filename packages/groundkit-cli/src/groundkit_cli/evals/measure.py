"""One evaluation from its labelled set to its artifacts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from groundkit_core.blocking import result_of
from groundkit_core.embedding import EmbeddingProtocol, identity_of
from groundkit_core.errors import ConfigurationError
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.rerank import RerankerProtocol
from groundkit_core.terms import Analyzer
from groundkit_evals.artifacts import ECHO, LATEST, PAGE, write_artifact, write_text
from groundkit_evals.dataset import Dataset, hash_of
from groundkit_evals.echo import run_echo
from groundkit_evals.load import load_dataset
from groundkit_evals.runner import STRUCTURAL, Progress, run, search_at
from groundkit_evals.schema import EvalReport, RunConfig
from groundkit_evals.synthesis import Answering, synthesize
from groundkit_providers.protocols import ChatProtocol

from groundkit_cli.evals.tables import show_echo, show_report
from groundkit_cli.output import in_line, note

__all__ = ["Answers", "Measured", "measure", "progress_bar"]


@dataclass(frozen=True)
class Measured:
    """A labelled set's folder, where results go, and what is measured."""

    folder: Path
    results: Path
    config: RunConfig
    embedder: EmbeddingProtocol | None
    reranker: RerankerProtocol | None


@dataclass(frozen=True)
class Answers:
    """The model that answers each query from `top_k` passages."""

    chat: ChatProtocol
    judge: bool
    top_k: int
    reply_tokens: int
    settings: str = ""


def measure(asked: Measured, answers: Answers | None, *, quiet: bool) -> EvalReport:
    """Run every stage, then the model if there is one; write the artifacts and show them."""
    dataset = load_dataset(asked.folder)
    results = asked.results
    journals = [results / f".{name}.jsonl" for name in ("synthesis", "echo")]
    echo = None
    with _index(asked, dataset) as collection, progress_bar() as progress:
        report = run(dataset, collection, asked.config, reranker=asked.reranker, progress=progress)
        if answers is not None:
            for journal in journals:
                if journal.exists():
                    note(f"going on from {in_line(str(journal))} if it is the same run")
            answering = _answering(asked, answers, collection, report)
            made = result_of(synthesize(report, answering, journals[0], progress))
            warnings = report.warnings
            if answers.chat.provider in STRUCTURAL:
                warnings = (*warnings, STRUCTURAL[answers.chat.provider])
            report = report.model_copy(update={"synthesis": made, "warnings": warnings})
            planted = run_echo(
                answers.chat, journals[1], settings=answers.settings, progress=progress
            )
            echo = result_of(planted)
    if echo is not None:
        write_artifact(results / ECHO, echo)
    write_artifact(results / LATEST, report)
    for journal in journals if answers else ():
        journal.unlink(missing_ok=True)
    page = _write_page(results / PAGE, report)
    for warning in report.warnings:
        note(f"warning: {warning}")
    if not quiet:
        show_report(report)
        if echo is not None:
            show_echo(echo)
    written = [LATEST, *([ECHO] if echo else []), *([PAGE] if page else [])]
    note(f"written to {in_line(str(results))}: {', '.join(written)}")
    return report


def _index(asked: Measured, dataset: Dataset) -> Collection:
    """A collection that belongs to this set and these settings alone; it is kept for the next."""
    config = asked.config
    identity = identity_of(asked.embedder).model_dump_json() if asked.embedder else ""
    key = hash_of(
        [
            str(asked.folder.resolve()),
            dataset.corpus_hash,
            config.chunking.identity,
            Analyzer(config.language).identity,
            identity,
        ]
    )
    path = asked.results / "index" / key[:16]
    return Collection.open(path, embedder=asked.embedder, reader=dataset)


def _answering(
    asked: Measured, answers: Answers, collection: Collection, report: EvalReport
) -> Answering:
    stages = [stage.stage for stage in report.stages]
    best = next(stage for stage in ("rerank", "fusion", "bm25") if stage in stages)
    return Answering(
        search=search_at(best, collection, asked.config, answers.top_k, asked.reranker),
        input_stage=best,
        chat=answers.chat,
        top_k=answers.top_k,
        judge=answers.judge,
        reply_tokens=answers.reply_tokens,
        settings=answers.settings,
    )


def _write_page(path: Path, report: EvalReport) -> bool:
    """Whether there is a page; without what it needs there is none, not even an old one."""
    from groundkit_evals.page import render_page

    try:
        page = render_page(report)
    except ConfigurationError as error:
        note(f"no page: {error}")
        path.unlink(missing_ok=True)
        return False
    write_text(path, page)
    return True


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A bar for the step that runs, on stderr where that is a terminal."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def advance(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield advance
