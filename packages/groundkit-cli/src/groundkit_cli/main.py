"""`grk`: the commands, and what a user sees when one fails."""

import os
import sys

import typer

from groundkit_cli import collections, doctor, ingest, search, verify

__all__ = ["app", "main"]

INTERNAL_ERROR = 70

app = typer.Typer(
    name="grk",
    help="Index documents, find passages, verify citations.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("ingest")(ingest.ingest)
app.command("search")(search.search)
app.command("verify")(verify.verify)
app.command("doctor")(doctor.doctor)
app.add_typer(collections.app, name="collections")


def main() -> None:
    """Run `grk`; a defect of ours ends in one line too, unless `GROUNDKIT_DEBUG` is set."""
    try:
        app()
    except Exception as error:
        if os.environ.get("GROUNDKIT_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}".encode("ascii", "backslashreplace").decode()
        print(f"grk: internal error: {what} (GROUNDKIT_DEBUG=1 shows where)", file=sys.stderr)
        sys.exit(INTERNAL_ERROR)
