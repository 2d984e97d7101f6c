"""What the largest documents take in private memory, in the run and in the reader's process."""

import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.note import Note

pdfium = pytest.importorskip("pypdfium2")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform != "linux", reason="private memory is read from /proc"),
]

MEASURE = """
    import os, sys, threading, time
    from pathlib import Path
    from groundkit_core import Collection

    def private(pid):
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return 0
        return int((status.partition("RssAnon:")[2].split() or ["0"])[0]) // 1024

    most, over = 0, threading.Event()

    def watch():
        global most
        own = os.getpid()
        children = Path(f"/proc/{own}/task/{own}/children")
        while not over.wait(0.05):
            most = max(most, *map(private, [own, *children.read_text().split()]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    report = Collection.open(Path(sys.argv[2])).ingest([Path(sys.argv[1])])
    over.set()
    watcher.join()
    assert not report.count("refused"), report.files
    print(report.chunks, most)
"""


def measured(document: Path, collection: Path) -> tuple[int, int]:
    """Passages of a document, and the most private memory of a process that took it, in MiB."""
    script = textwrap.dedent(MEASURE)
    command = [sys.executable, "-c", script, str(document), str(collection)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    passages, most = done.stdout.split()
    return int(passages), int(most)


def test_a_text_of_a_hundred_megabytes(tmp_path: Path, note: Note) -> None:
    chance = random.Random(1)
    words = [
        "".join(chance.choices("abcdefghijklm", k=chance.randint(2, 9))) for _ in range(20_000)
    ]
    path = tmp_path / "large.txt"
    with path.open("w") as stream:
        while stream.tell() < 99 * 1024 * 1024:
            stream.write(" ".join(chance.choices(words, k=chance.randint(20, 120))) + ".\n\n")
    passages, most = measured(path, tmp_path / "i" / "c")
    note(f"100 MB of text: {passages} passages, {most} MiB")
    assert passages > 50_000
    assert most < 1024


def test_a_pdf_of_five_hundred_pages(tmp_path: Path, note: Note) -> None:
    from tests.shared_data import shared

    source = pdfium.PdfDocument(shared("data", "docs_pdf", "files", "unstructured__fr_olap.pdf"))
    large = pdfium.PdfDocument.new()
    while len(large) < 500:
        large.import_pages(source)
    path = tmp_path / "large.pdf"
    large.save(path)
    passages, most = measured(path, tmp_path / "i" / "c")
    note(f"{len(large)} pages: {passages} passages, {most} MiB")
    assert passages > 1_000
    assert most < 1024
