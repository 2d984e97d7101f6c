"""`grk` and its commands."""

from typing import Annotated

import typer

from groundkit_cli import answer, collections, doctor, evals, ingest, search, serve, show, verify

__all__ = ["app"]

app = typer.Typer(
    name="grk",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"grk {version('groundkit-cli')}")
        raise typer.Exit


@app.callback()
def grk(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Index documents, find passages, verify citations. Start with: grk ingest FOLDER"""


app.command("ingest")(ingest.ingest)
app.command("search")(search.search)
app.command("answer")(answer.answer)
app.command("show")(show.show)
app.command("verify")(verify.verify)
app.add_typer(evals.app, name="eval")
app.command("serve")(serve.serve)
app.command("serve-mcp")(serve.serve_mcp)
app.command("doctor")(doctor.doctor)
app.add_typer(collections.app, name="collections")
