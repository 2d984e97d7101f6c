"""Errors name ids, paths, numbers and settings; never a query or a passage."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from groundkit_core import ChunkingConfig, Collection, Document, GroundkitError, resolve_citation
from groundkit_core.config import MAX_QUERY_LEN
from groundkit_core.testing import MappingReader

from tests.core.index.support import cited, documents, write

CANARY = "zxcanaryxz"
PASSAGE = f"The pump {CANARY} is here.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write(tmp_path / "docs", {"a.md": PASSAGE, "b.md": f"# {CANARY}\n\nMore {CANARY}.\n"})
    write(tmp_path / "bad", {"x.md": f"{CANARY}\0".encode(), "y.md": f"\ufeff{CANARY}".encode()})
    write(tmp_path / "bad", {"z.md": b"\xef\xbb\xbf" + CANARY.encode() + b"\xff"})
    write(tmp_path / "two" / "docs", {"a.md": PASSAGE})
    Collection.open(tmp_path / "index" / "c").ingest([tmp_path / "docs"])
    return tmp_path


def damaged(collection: Collection, sql: str) -> Collection:
    collection.close()
    database = sqlite3.connect(collection.path / "collection.db")
    with database:
        database.execute(sql)
    database.close()
    return Collection.open(collection.path)


def zeroed(collection: Collection) -> Collection:
    collection.close()
    for path in (collection.path / "segments").iterdir():
        path.write_bytes(bytes(path.stat().st_size))
    return Collection.open(collection.path)


Provoke = Callable[[Collection, Path], object]
CASES: dict[str, Provoke] = {
    "long query": lambda c, _: c.search(CANARY * MAX_QUERY_LEN),
    "surrogate query": lambda c, _: c.search(f"{CANARY}\ud800"),
    "top_k": lambda c, _: c.search(CANARY, top_k=0),
    "mode": lambda c, _: c.search(CANARY, mode="dense"),
    "missing": lambda _, h: Collection.open(h / "none").search(CANARY),
    "altered text": lambda c, _: damaged(c, "UPDATE chunk SET content = content || 'x'").search(
        CANARY
    ),
    "undecodable text": lambda c, _: damaged(
        c, "UPDATE chunk SET content = CAST(CAST(content AS BLOB) || x'ff' AS TEXT)"
    ).search(CANARY),
    "undecodable title": lambda c, _: damaged(
        c, f"UPDATE document SET title = CAST('{CANARY}' || x'ff' AS TEXT)"
    ).search(CANARY),
    "undecodable headings": lambda c, _: damaged(
        c, f"UPDATE chunk SET headings = CAST('{CANARY}' || x'ff' AS TEXT)"
    ).search(CANARY),
    "headings that are no JSON": lambda c, _: damaged(
        c, f"UPDATE chunk SET headings = '{CANARY}'"
    ).search(CANARY),
    "numbers that are text": lambda c, _: damaged(c, "UPDATE chunk SET start = content").search(
        CANARY
    ),
    "rows gone": lambda c, _: damaged(c, "DELETE FROM chunk").search(CANARY),
    "segments zeroed": lambda c, _: zeroed(c).search(CANARY),
    "surrogate text": lambda c, _: c.add([Document.from_text("s", f"{CANARY}\ud800")]),
    "surrogate title": lambda c, _: c.add(
        [Document.from_text("s", CANARY, title=f"{CANARY}\ud800")]
    ),
    "source of a root": lambda c, _: c.add([Document.from_text("docs/x", CANARY)]),
    "two of a source": lambda c, _: c.add([*documents({"s": CANARY}), *documents({"s": CANARY})]),
    "label": lambda c, h: c.ingest([h / "two" / "docs"]),
    "chunking": lambda c, h: c.ingest([h / "docs"], chunking=ChunkingConfig(size=3)),
}


def messages(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield f"{error} {getattr(error, '__notes__', '')}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.mark.parametrize("case", CASES)
def test_an_error_holds_neither_query_nor_passage(case: str, home: Path) -> None:
    with pytest.raises(GroundkitError) as caught:
        CASES[case](Collection.open(home / "index" / "c"), home)

    assert not [message for message in messages(caught.value) if CANARY in message]


def test_findings_reports_and_verdicts_hold_no_passage(home: Path) -> None:
    collection = Collection.open(home / "index" / "c")
    citations = list(cited(collection).values())
    report = collection.ingest([home / "bad"])
    assert report.count("refused") == 2
    said = [outcome.reason or "" for outcome in report.files] + list(report.warnings)
    write(home / "docs", {"a.md": f"Another {CANARY}.\n", "b.md": f"{CANARY}\0"})
    said += [collection.verify(citation).reason for citation in citations]
    said += [
        resolve_citation(
            citations[0], MappingReader({"docs/a.md": CANARY.encode() + b"\xff"})
        ).reason
    ]
    said += damaged(collection, "UPDATE chunk SET content = content || 'x'").check()
    said += damaged(
        collection, "UPDATE chunk SET content = CAST(CAST(content AS BLOB) || x'ff' AS TEXT)"
    ).check()
    said += zeroed(collection).check()

    assert len(said) > 10
    assert not [message for message in said if CANARY in message]
