"""`grk verify`."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from groundkit_cli.options import CollectionName, IndexDir, Json, Roots, parse_roots
from groundkit_cli.output import emit, emit_json, in_line, reported
from groundkit_cli.search import place
from groundkit_cli.settings import open_collection

if TYPE_CHECKING:
    from groundkit_core.contracts import Citation, Verification
    from groundkit_core.index.collection import Collection


_AT_ONCE = 5_000


@reported
def verify(
    file: Annotated[
        Path | None,
        typer.Argument(help="What search or answer --json printed; all passages if not given."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on moved passages too.")] = False,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
    json: Json = False,
) -> None:
    """Check citations against their sources."""
    saved = _saved(file) if file is not None else None
    named = saved.collection if saved and not collection else collection
    found = open_collection(index_dir, named, parse_roots(root))
    failing = {"drifted", "unresolvable"} | ({"moved"} if strict else set())
    counts: Counter[str] = Counter()
    listed: list[tuple[Citation, Verification]] = []
    for citation, verdict in verdicts(found, saved.cited if saved else None):
        counts[verdict.status] += 1
        if verdict.status == "verified":
            continue
        if json:
            listed.append((citation, verdict))
        else:
            emit(_line(citation, verdict))
    statuses = ("verified", "moved", "drifted", "unresolvable")
    if json:
        from groundkit_cli.documents import Counts, NotVerified, VerifyReport

        emit_json(
            VerifyReport(
                collection=found.name,
                counts=Counts(**counts),
                not_verified=tuple(
                    NotVerified(citation=citation, verification=verdict)
                    for citation, verdict in listed
                ),
            )
        )
    else:
        emit(" · ".join(f"{counts[status]} {status}" for status in statuses))
    if failing & {status for status, count in counts.items() if count}:
        raise typer.Exit(1)


class Saved(NamedTuple):
    """The citations of a saved document with their passages, and its collection if it says."""

    cited: "list[tuple[Citation, str | None]]"
    collection: str | None


def verdicts(
    collection: "Collection", cited: "list[tuple[Citation, str | None]] | None"
) -> Iterator[tuple["Citation", "Verification"]]:
    """Citations with their verdicts: those given, or those of the whole collection."""
    for passages in [cited] if cited is not None else _batches(collection):
        pairs = zip(passages, collection.verify_all(passages), strict=True)
        yield from ((citation, verdict) for (citation, _), verdict in pairs)


def _batches(collection: "Collection") -> Iterator["list[tuple[Citation, str | None]]"]:
    """All passages, many at a time: the records of a file are read together."""
    batch: list[tuple[Citation, str | None]] = []
    for passages in collection.passages():
        batch += passages
        if len(batch) >= _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _saved(file: Path) -> Saved:
    from groundkit_core.errors import ConfigurationError, SourceError, SynthesisError
    from pydantic import ValidationError

    problem = ""
    try:
        text = file.read_bytes()
        return _of_answer(text) if re.search(rb'"answer"\s*:', text) else _of_search(text)
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        problem = f"{'.'.join(map(str, first['loc']))} {first['msg']}"
    except SynthesisError as error:
        problem = str(error)
    raise ConfigurationError(f"{file}: not a saved search response or answer: {problem}")


def _of_search(text: bytes) -> Saved:
    from groundkit_core.contracts import SearchResponse

    saved = SearchResponse.model_validate_json(text)
    cited: list[tuple[Citation, str | None]] = [
        (citation, result.content)
        for result in saved.results
        for citation in (result.citation, *result.copies)
    ]
    return Saved(cited, saved.collection)


def _of_answer(text: bytes) -> Saved:
    from groundkit_core.errors import SynthesisError
    from groundkit_providers.answer import AnswerReport
    from groundkit_providers.markers import cited_numbers

    saved = AnswerReport.model_validate_json(text)
    results = [saved.results[n - 1] for n in cited_numbers(saved.answer, len(saved.results))]
    if tuple(result.citation for result in results) != saved.citations:
        raise SynthesisError("its markers and its citations disagree")
    return Saved([(result.citation, result.content) for result in results], None)


def _line(citation: "Citation", verdict: "Verification") -> str:
    line = f"{verdict.status} {place(citation)}"
    if verdict.status == "moved" and verdict.span:
        places = []
        for name, ends in (("page", verdict.pages), ("line", verdict.lines)):
            if ends:
                first, last = ends
                places.append(f"{name} {first}" if first == last else f"{name}s {first}-{last}")
        places.append(f"characters {verdict.span.start}-{verdict.span.end}")
        line += f" -> {', '.join(places)}"
    else:
        line += f": {verdict.reason}"
    return in_line(line)
