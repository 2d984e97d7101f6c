"""Folders to index, and child processes to do it in."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from groundkit_core import Citation, Collection, Document, IngestReport, SearchResponse

__all__ = [
    "FILES",
    "cited",
    "contents",
    "counts",
    "documents",
    "found",
    "outcomes",
    "places",
    "python",
    "start",
    "statuses",
    "unprivileged",
    "write",
]

FILES = {
    "a.md": "# A\n\nPump one.\n",
    "b.md": "# B\n\nValve two.\n",
    "sub/c.txt": "Hose three.\n",
    "sub/deep/d.rst": "Title\n=====\n\nTorque four.\n",
}
STATUSES = ("indexed", "changed", "partial", "refused", "removed", "missing")

_DROP = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
        sys.exit(77)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files beneath a folder."""
    root.mkdir(parents=True, exist_ok=True)
    for relative, content in files.items():
        path = root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def documents(texts: Mapping[str, str]) -> list[Document]:
    """Plain documents from a mapping of source to text."""
    return [Document.from_text(source, text) for source, text in texts.items()]


def found(response: SearchResponse) -> list[str]:
    """Sources of the results, in order."""
    return [result.citation.source for result in response.results]


def places(response: SearchResponse) -> list[tuple[float, str]]:
    """Score and chunk id of the results, in order."""
    return [(result.score, result.citation.chunk_id) for result in response.results]


def cited(collection: Collection) -> dict[str, Citation]:
    """Citations of all passages by their text; equal passages share one."""
    return {text: citation for held in collection.passages() for citation, text in held}


def statuses(collection: Collection) -> list[str]:
    """Verdicts on all passages, in order of source and place."""
    held = [passage for document in collection.passages() for passage in document]
    return [verdict.status for verdict in collection.verify_all(held)]


def start(code: str, *arguments: object) -> "subprocess.Popen[str]":
    """A child that runs the code, with pipes to its stdin and stdout."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def python(code: str, *arguments: object) -> str:
    """What the code prints in a process of its own."""
    return _output([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)])


def unprivileged(code: str, *arguments: object) -> str:
    """What the code prints where file permissions bind, also when the tests run as root."""
    if not hasattr(os, "geteuid"):
        pytest.skip("file permissions of POSIX are needed")
    command = ["-c", textwrap.dedent(code), *map(str, arguments)]
    return _output([sys.executable, *(["-c", _DROP] if os.geteuid() == 0 else []), *command])


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode == 77:
        pytest.skip("root's right to pass file permissions cannot be dropped here")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def outcomes(report: IngestReport) -> dict[str, str]:
    """Status by source."""
    return {outcome.source: outcome.status for outcome in report.files}


def counts(report: IngestReport) -> dict[str, int]:
    """The counts of a report that are not zero."""
    held = report.model_dump(include={"unchanged", "read", "added", "dropped"})
    held |= {status: list(outcomes(report).values()).count(status) for status in STATUSES}
    return {name: value for name, value in held.items() if value}


def contents(folder: Path) -> dict[str, bytes]:
    """Bytes of all files beneath a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
