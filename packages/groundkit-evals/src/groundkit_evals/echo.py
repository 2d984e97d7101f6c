"""Whether a model's citations lead to the text that answers, told by markers planted in it.

Markers are new in every run, so no model can know them. The corpus is made for the run and has
nothing to do with that of `latest.json`.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from groundkit_core.contracts import Citation, Contract, RetrievalResult
from groundkit_core.errors import ChatReplyError, EvalError, SourceError, SynthesisError
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.sources import FileReader
from groundkit_providers.llm import RedactingChat
from groundkit_providers.protocols import ChatProtocol
from groundkit_providers.synthesis import Synthesizer

from groundkit_evals.journal import Journal
from groundkit_evals.plants import PLANTS, Plant
from groundkit_evals.runner import STRUCTURAL, Progress
from groundkit_evals.schema import ModelIdentity
from groundkit_evals.synthesis import synthesis_identity

__all__ = ["EchoCase", "EchoOutcome", "EchoReport", "check", "run_echo"]

EchoOutcome = Literal["passed", "wrong_source", "unresolved", "leaked", "abstained", "rejected"]

_MARKER = re.compile(r"GK-ECHO-[0-9a-f]+", re.IGNORECASE)


class EchoCase(Contract):
    """One question: the markers of the text that answers, of its decoy, and one shown nowhere."""

    id: str
    question: str
    positive: str
    decoy: str
    absent: str
    outcome: EchoOutcome
    answer: str | None = None
    cited: tuple[str, ...] = ()
    reason: str | None = None


class EchoReport(Contract):
    """What came of each case; `cited` are the sources that the answer cites."""

    schema_version: Literal[1] = 1
    created: str
    groundkit: str
    corpus: Literal["planted for this run"] = "planted for this run"
    chat: ModelIdentity
    redacted: bool
    warnings: tuple[str, ...] = ()
    cases: tuple[EchoCase, ...]

    def count(self, outcome: EchoOutcome) -> int:
        """Number of cases with an outcome."""
        return sum(case.outcome == outcome for case in self.cases)


async def run_echo(
    chat: ChatProtocol,
    journal: Path,
    plants: Sequence[Plant] = PLANTS,
    *,
    settings: str = "",
    progress: Progress | None = None,
) -> EchoReport:
    """Ask a model about planted texts; cases that a killed run had finished are kept."""
    identity = synthesis_identity(chat)
    redacted = isinstance(chat, RedactingChat)
    kept = Journal(
        journal,
        EchoCase,
        {
            "chat": identity.model_dump(),
            "redacted": redacted,
            "plants": plants,
            "settings": settings,
        },
    )
    for number, plant in enumerate(plants):
        if progress:
            progress("echo", number, len(plants))
        if plant.id not in kept.done:
            # Every second decoy comes first, or whoever always cites [1] would pass.
            kept.add(plant.id, await _case(plant, chat, decoy_first=number % 2 == 0))
    if progress:
        progress("echo", len(plants), len(plants))
    structural = STRUCTURAL.get(chat.provider)
    return EchoReport(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        groundkit=version("groundkit-evals"),
        chat=identity,
        redacted=redacted,
        warnings=(structural,) if structural else (),
        cases=tuple(kept.done[plant.id] for plant in plants),
    )


def check(
    answer: str, cited: Sequence[str | None], positive: str, shown: Sequence[str]
) -> tuple[EchoOutcome, str | None]:
    """The outcome of an answer and why; `cited` are its cited texts as they stand in the source.

    None is a citation that does not resolve; `shown` are all markers that the model was shown.
    """
    known = {marker.lower() for marker in shown}
    for text in (answer, *filter(None, cited)):
        strange = [found for found in _MARKER.findall(text) if found.lower() not in known]
        if strange:
            return "leaked", f"{strange[0]} was shown nowhere"
    if None in cited:
        return "unresolved", "a citation does not lead to the text that it cites"
    if not cited:
        return "abstained", None
    if all(text and positive in text for text in cited):
        return "passed", None
    return "wrong_source", "a cited text does not hold the marker of the one that answers"


async def _case(plant: Plant, chat: ChatProtocol, *, decoy_first: bool) -> EchoCase:
    positive, decoy, absent = (f"GK-ECHO-{secrets.token_hex(6)}" for _ in range(3))
    case = EchoCase(
        id=plant.id,
        question=plant.question,
        positive=positive,
        decoy=decoy,
        absent=absent,
        outcome="rejected",
    )
    with TemporaryDirectory() as name:
        folder = Path(name) / "planted"
        folder.mkdir()
        texts = {"answers.txt": (plant.positive, positive), "decoy.txt": (plant.decoy, decoy)}
        for file, (text, marker) in texts.items():
            (folder / file).write_text(text.replace("{marker}", marker), "utf-8")
        with Collection.open(Path(name) / "echo") as collection:
            collection.ingest([folder])
            results = _presented(collection, plant, decoy_first=decoy_first)
            try:
                made = await Synthesizer(chat).synthesize(plant.question, results)
            except (SynthesisError, ChatReplyError) as error:
                return case.model_copy(update={"reason": str(error)})
            reader = FileReader(collection.roots())
            cited = [_read_again(citation, collection, reader) for citation in made.citations]
    outcome, reason = check(made.answer, cited, positive, (positive, decoy))
    return case.model_copy(
        update={
            "outcome": outcome,
            "answer": made.answer,
            "cited": tuple(citation.source for citation in made.citations),
            "reason": reason,
        }
    )


def _presented(
    collection: Collection, plant: Plant, *, decoy_first: bool
) -> tuple[RetrievalResult, ...]:
    """Both texts as they are found, in an order that says nothing."""
    results = collection.search(plant.question, verify=True).results
    if len(results) != 2:
        raise EvalError(f"plant {plant.id!r}: its question finds {len(results)} of the two texts")
    return tuple(
        sorted(
            results,
            key=lambda result: result.citation.source.endswith("decoy.txt") != decoy_first,
        )
    )


def _read_again(citation: Citation, collection: Collection, reader: FileReader) -> str | None:
    """The cited text from its file, read now."""
    verdict = collection.verify(citation)
    if verdict.status != "verified" or verdict.span is None:
        return None
    try:
        text = reader.read(citation.source).decode("utf-8")
    except (SourceError, UnicodeDecodeError):
        return None
    return text[verdict.span.start : verdict.span.end]
