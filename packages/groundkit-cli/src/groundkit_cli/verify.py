"""`grk verify`."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundkit_cli.options import CollectionName, IndexDir, Json, Roots, parse_roots
from groundkit_cli.output import emit, emit_json, in_line, reported
from groundkit_cli.search import place
from groundkit_cli.settings import open_collection

if TYPE_CHECKING:
    from groundkit_core.contracts import Citation, SearchResponse, Verification
    from groundkit_core.index.collection import Collection


@reported
def verify(
    file: Annotated[
        Path | None,
        typer.Argument(help="What `grk search --json` printed; all passages if not given."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on moved passages too.")] = False,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
    json: Json = False,
) -> None:
    """Check citations against their sources."""
    saved = _saved(file) if file is not None else None
    name = collection or (saved.collection if saved else None)
    found = open_collection(index_dir, name, parse_roots(root))
    failing = {"drifted", "unresolvable"} | ({"moved"} if strict else set())
    counts: Counter[str] = Counter()
    listed: list[tuple[Citation, Verification]] = []
    for citation, verdict in verdicts(found, saved):
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


def verdicts(
    collection: "Collection", saved: "SearchResponse | None"
) -> Iterator[tuple["Citation", "Verification"]]:
    """Citations with their verdicts: of a saved response, or of the whole collection."""
    if saved is not None:
        cited = [
            (citation, result.content)
            for result in saved.results
            for citation in (result.citation, *result.copies)
        ]
        pairs = zip(cited, collection.verify_all(cited), strict=True)
        yield from ((citation, verdict) for (citation, _), verdict in pairs)
        return
    for passages in collection.passages():
        pairs = zip(passages, collection.verify_all(passages), strict=True)
        yield from ((citation, verdict) for (citation, _), verdict in pairs)


def _saved(file: Path) -> "SearchResponse":
    from groundkit_core.contracts import SearchResponse
    from groundkit_core.errors import ConfigurationError, SourceError
    from pydantic import ValidationError

    try:
        return SearchResponse.model_validate_json(file.read_bytes())
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(
            f"{file}: not a saved search response: {where} {first['msg']}"
        ) from None


def _line(citation: "Citation", verdict: "Verification") -> str:
    line = f"{verdict.status} {place(citation)}"
    if verdict.status == "moved" and verdict.span and verdict.lines:
        first, last = verdict.lines
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        line += f" -> {lines}, characters {verdict.span.start}-{verdict.span.end}"
    else:
        line += f": {verdict.reason}"
    return in_line(line)
