"""The entry point: whatever fails ends in one line and an exit code."""

import os
import sys

__all__ = ["main"]

USAGE = 2
INTERRUPTED = 130
INTERNAL_ERROR = 70
SOURCE_TROUBLE = 3


def main() -> None:
    """Run `grk`; a defect of ours ends in one line too, unless `GROUNDKIT_DEBUG` is set."""
    try:
        from groundkit_cli.app import app

        app()
    except SystemExit as end:
        if end.code == USAGE:
            _json_failure("UsageError", "the command line is wrong, stderr says how", USAGE)
        raise
    except KeyboardInterrupt:
        _end("interrupted", INTERRUPTED)
    except OSError as error:
        # Files of collections and sources are handled where they are used; this is our output.
        _end(f"cannot write the result: {error.strerror}", SOURCE_TROUBLE)
    except Exception as error:
        if os.environ.get("GROUNDKIT_DEBUG"):
            raise
        what = ascii(f"{type(error).__name__}: {error}")[1:-1]
        _json_failure("InternalError", what, INTERNAL_ERROR)
        _end(f"internal error: {what} (GROUNDKIT_DEBUG=1 shows where)", INTERNAL_ERROR)


def _json_failure(kind: str, message: str, code: int) -> None:
    """Keep the promise of one JSON document where no command could."""
    from groundkit_cli import output

    if "--json" in sys.argv[1:] and not output.printed_json:
        output.emit_failure(kind, message, code)


def _end(message: str, code: int) -> None:
    if sys.stderr is not None:
        print(f"grk: {message}", file=sys.stderr)
    if sys.stdout is not None and code == SOURCE_TROUBLE:
        # Python would try once more to write what could not be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
