"""Logs as JSON lines on stderr; at level info without a query or a text."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

__all__ = ["LEVELS", "event", "log_to_stderr"]

LEVELS = ("debug", "info", "warning", "error")
_LOG = logging.getLogger("groundkit.serve")
# They would say what was asked, or what concerns nobody here.
_QUIET = ("mcp", "httpx2", "asyncio", "uvicorn", "faiss")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        fields = getattr(record, "fields", None)
        line |= fields or {"event": "message", "logger": record.name, "text": record.getMessage()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_to_stderr(level: str) -> None:
    """Send every log record of this process there, from a level up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, getattr(logging, level.upper())))


def event(level: int, name: str, **fields: Any) -> None:
    """Log an event with its fields; those that are None are left out."""
    known = {key: value for key, value in fields.items() if value is not None}
    _LOG.log(level, name, extra={"fields": {"event": name, **known}})
