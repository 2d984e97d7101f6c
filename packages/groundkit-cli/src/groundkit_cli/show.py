"""`grk show`."""

from typing import Annotated

import typer

from groundkit_cli.options import CollectionName, IndexDir, Json, Roots, parse_roots
from groundkit_cli.output import emit, emit_json, in_line, linked, printable, reported
from groundkit_cli.search import place
from groundkit_cli.settings import open_collection


@reported
def show(
    passage: Annotated[str, typer.Argument(metavar="ID", help="The chunk id of a citation.")],
    before: Annotated[int, typer.Option("--before", help="Passages before it.")] = 0,
    after: Annotated[int, typer.Option("--after", help="Passages after it.")] = 0,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
    json: Json = False,
) -> None:
    """Show a passage with its neighbours, its citation verified."""
    from groundkit_core.retrieval.links import link_to

    found = open_collection(index_dir, collection, parse_roots(root))
    window = found.fetch(passage, before=before, after=after, verify=True)
    if json:
        emit_json(window)
        return
    cited = window.passages[window.at]
    verdict = window.verification
    link = link_to(cited.citation, cited.content, found.roots())
    status = verdict.status if verdict else "not verified"
    emit(f"{linked(in_line(place(cited.citation, verdict)), link)}  [{status}]")
    if window.before:
        emit(f"   ({window.before} passages before)")
    for index, shown in enumerate(window.passages):
        mark = " > " if index == window.at else "   "
        for line in printable(shown.content).split("\n"):
            emit(f"{mark}{line}".rstrip())
        emit()
    if window.after:
        emit(f"   ({window.after} passages after)")
