"""`grk eval` and what belongs to it."""

from groundkit_cli.evals.command import app

__all__ = ["app"]
