"""`grk search`."""

from typing import TYPE_CHECKING, Annotated

import typer

from groundkit_cli.options import CollectionName, IndexDir, Json, Roots, parse_roots
from groundkit_cli.output import emit, emit_json, emphasised, in_line, note, reported
from groundkit_cli.settings import open_collection

if TYPE_CHECKING:
    from groundkit_core.contracts import Citation, RetrievalResult


@reported
def search(
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.")],
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", "-k", help="Number of results, 1 to 100. [default: 10]"),
    ] = None,
    all_copies: Annotated[
        bool, typer.Option("--all-copies", help="List passages with equal text one by one.")
    ] = False,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
    json: Json = False,
) -> None:
    """Find passages, their citations verified."""
    query = " ".join(words)
    found = open_collection(index_dir, collection, parse_roots(root))
    response = found.search(query, top_k=top_k, verify=True, all_copies=all_copies)
    if json:
        emit_json(response)
        return
    spans = found.matches(query, [result.content for result in response.results])
    for result, matched in zip(response.results, spans, strict=True):
        show(result, matched)
    if not response.results:
        note("no passage holds a word of the query")


def place(citation: "Citation", lines: tuple[int, int] | None = None) -> str:
    """`path:first-last`, with the lines where the passage stands now."""
    first, last = lines or citation.lines or (1, 1)
    return f"{citation.source}:{first}" + (f"-{last}" if last > first else "")


def show(result: "RetrievalResult", spans: list[tuple[int, int]]) -> None:
    """One result: where it stands, what verification said, and the passage."""
    citation, verdict = result.citation, result.verification
    status = verdict.status if verdict else "not verified"
    heading = " › ".join(citation.heading_path)
    where = place(citation, verdict.lines if verdict else None)
    emit(
        f"{result.rank}. {in_line(where)}  {in_line(heading)}".rstrip()
        + f"  [{status}, score {result.score:.2f}]"
    )
    if verdict and status in ("drifted", "unresolvable"):
        emit(f"   {in_line(verdict.reason)}")
    for line in emphasised(result.content, spans).split("\n"):
        emit(f"   {line}".rstrip())
    if result.copies:
        others = ", ".join(place(copy) for copy in result.copies[:3])
        more = len(result.copies) - 3
        emit(f"   also: {in_line(others)}" + (f" and {more} more" if more > 0 else ""))
    emit()
