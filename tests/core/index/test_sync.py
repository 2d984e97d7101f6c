"""Ingesting folders again: what is read, added, replaced and left alone."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from groundkit_core import ChunkingConfig, Collection, FileOutcome, IngestReport
from groundkit_core.errors import ConfigurationError, IngestError
from groundkit_core.index import intake

from tests.core.index.support import (
    FILES,
    cited,
    counts,
    found,
    outcomes,
    python,
    statuses,
    write,
)


def test_a_first_run_reports_what_it_indexed(docs: Path, collection: Collection) -> None:
    report = collection.ingest([docs])

    assert report == IngestReport(
        collection="c",
        generation=1,
        read=4,
        added=4,
        documents=4,
        chunks=4,
        files=tuple(
            FileOutcome(source=f"docs/{name}", status="indexed", chunks=1) for name in FILES
        ),
    )


def test_a_second_run_changes_and_reads_nothing(aged: Callable[[], Path]) -> None:
    docs = aged()
    collection = Collection.open(docs.parent / "index" / "c")
    first = collection.ingest([docs])
    database = (collection.path / "collection.db").read_bytes()
    second = collection.ingest([docs])

    assert counts(second) == {"unchanged": 4}
    assert second.generation == first.generation
    assert (second.documents, second.chunks) == (4, 4)
    assert (collection.path / "collection.db").read_bytes() == database


def test_a_second_run_opens_no_file_of_the_folder(aged: Callable[[], Path]) -> None:
    docs = aged()
    said = python(
        """
        import os, sys
        from groundkit_core import Collection
        opened = []
        def audit(event, arguments):
            if event == "open" and str(arguments[0]).startswith(sys.argv[2] + os.sep):
                opened.append(os.path.basename(arguments[0]))
        sys.addaudithook(audit)
        for _ in range(2):
            report = Collection.open(sys.argv[1]).ingest([sys.argv[2]])
            print(report.read, sorted(opened))
            opened.clear()
        """,
        docs.parent / "index" / "c",
        docs,
    )

    assert said.splitlines() == ["4 ['a.md', 'b.md', 'c.txt', 'd.rst']", "0 []"]


def test_touching_a_file_reads_it_alone(aged: Callable[[], Path]) -> None:
    docs = aged()
    collection = Collection.open(docs.parent / "index" / "c")
    first = collection.ingest([docs])
    os.utime(docs / "b.md")
    second = collection.ingest([docs])

    assert counts(second) == {"unchanged": 4, "read": 1}
    assert second.generation == first.generation


def test_a_changed_file_is_replaced(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    write(docs, {"b.md": "# B\n\nHydrant nine.\n"})
    report = collection.ingest([docs])

    assert outcomes(report) == {"docs/b.md": "changed"}
    assert (report.added, report.dropped, report.unchanged, report.chunks) == (1, 1, 3, 4)
    assert found(collection.search("valve")) == []
    assert found(collection.search("hydrant")) == ["docs/b.md"]


def test_a_deleted_file_loses_its_passages(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    (docs / "sub" / "c.txt").unlink()
    report = collection.ingest([docs])

    assert outcomes(report) == {"docs/sub/c.txt": "removed"}
    assert (report.dropped, report.documents, report.chunks) == (1, 3, 3)
    assert found(collection.search("hose")) == []
    assert "docs/sub/c.txt" not in {c.source for c in cited(collection).values()}


def test_fewer_paragraphs_leave_nothing_of_the_old_text(docs: Path, collection: Collection) -> None:
    write(docs, {"a.md": "# One\n\nAlpha.\n\n# Two\n\nBeta.\n\n# Three\n\nGamma.\n"})
    collection.ingest([docs])
    write(docs, {"a.md": "# One\n\nDelta.\n"})
    report = collection.ingest([docs])

    assert (report.added, report.dropped) == (1, 3)
    assert [found(collection.search(word)) for word in ("alpha", "beta", "gamma", "two")] == [
        [],
        [],
        [],
        ["docs/b.md"],
    ]


def test_a_same_size_edit_with_its_mtime_restored_is_found_by_ctime(
    aged: Callable[[], Path],
) -> None:
    docs = aged()
    collection = Collection.open(docs.parent / "index" / "c")
    collection.ingest([docs])
    edit_unseen(docs / "a.md")
    report = collection.ingest([docs])

    assert outcomes(report) == {"docs/a.md": "changed"}
    assert report.read == 1


def edit_unseen(path: Path) -> None:
    before = path.stat()
    path.write_text(path.read_text().replace("Pump", "Sump"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def test_an_edit_that_no_time_shows_is_found_by_rehash(aged: Callable[[], Path]) -> None:
    docs = aged()
    collection = Collection.open(docs.parent / "index" / "c")
    collection.ingest([docs])
    edit_unseen(docs / "a.md")
    # As on a file system without a change time.
    database = sqlite3.connect(collection.path / "collection.db")
    with database:
        database.execute(
            "UPDATE document SET ctime_ns=? WHERE source='docs/a.md'",
            ((docs / "a.md").stat().st_ctime_ns,),
        )
        database.execute("UPDATE document SET read_at_ns = read_at_ns + 10000000000")
    database.close()

    assert counts(collection.ingest([docs])) == {"unchanged": 4}
    report = collection.ingest([docs], rehash=True)
    assert report.read == 4
    assert outcomes(report) == {"docs/a.md": "changed"}
    assert found(collection.search("sump")) == ["docs/a.md"]


def test_rehash_of_an_unchanged_folder_reads_all_and_changes_nothing(
    docs: Path, collection: Collection
) -> None:
    first = collection.ingest([docs])
    report = collection.ingest([docs], rehash=True)

    assert counts(report) == {"unchanged": 4, "read": 4}
    assert report.generation == first.generation


def test_a_file_written_just_before_it_was_read_is_read_again(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs])

    assert counts(collection.ingest([docs])) == {"unchanged": 4, "read": 4}


def test_an_edit_within_the_clocks_grain_is_not_missed(docs: Path, collection: Collection) -> None:
    for turn in range(10):
        write(docs, {"a.md": f"Pump {turn}.\n"})
        collection.ingest([docs])
        assert [r.content for r in collection.search("pump").results] == [f"Pump {turn}."]


def test_a_line_above_keeps_ids_and_moves_citations(docs: Path, collection: Collection) -> None:
    text = "# A\n\nPump one.\n\n# B\n\nPump two.\n\n# C\n\nPump three.\n"
    write(docs, {"a.md": text})
    collection.ingest([docs])
    before = cited(collection)
    segments = sorted((collection.path / "segments").iterdir())
    write(docs, {"a.md": "New first line.\n\n" + text})
    stale = {content: collection.verify(citation) for content, citation in before.items()}
    report = collection.ingest([docs])
    after = cited(collection)
    moved = {content: collection.verify(citation) for content, citation in before.items()}

    assert (report.added, report.dropped) == (1, 0)
    assert set(segments) < set((collection.path / "segments").iterdir())
    for content, citation in before.items():
        shift = 17 if citation.source == "docs/a.md" else 0
        assert after[content].chunk_id == citation.chunk_id
        assert (after[content].start, after[content].end) == (
            citation.start + shift,
            citation.end + shift,
        )
        for verdict in (stale[content], moved[content]):
            assert verdict.status == ("moved" if shift else "verified")
            assert verdict.span is not None
            assert (verdict.span.start, verdict.span.end) == (
                citation.start + shift,
                citation.end + shift,
            )
    assert set(statuses(collection)) == {"verified"}


def test_a_new_title_reaches_every_passage_of_its_file(docs: Path, collection: Collection) -> None:
    body = "\n\n## One\n\nPump.\n\n## Two\n\nValve.\n"
    write(docs, {"a.md": "# Manual" + body})
    collection.ingest([docs / "a.md"])
    assert len(collection.search("manual").results) == 2
    write(docs, {"a.md": "# Handbook" + body})
    collection.ingest([docs / "a.md"])

    assert collection.search("manual").results == ()
    assert len(collection.search("handbook").results) == 2
    assert collection.check() == []


def test_a_subtree_is_brought_up_to_date_alone(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    write(docs, {"a.md": "Changed.\n", "sub/c.txt": "Changed too.\n"})
    (docs / "b.md").unlink()
    (docs / "sub" / "deep" / "d.rst").unlink()
    report = collection.ingest([docs / "sub"])

    assert outcomes(report) == {"docs/sub/c.txt": "changed", "docs/sub/deep/d.rst": "removed"}
    assert list(collection.roots()) == ["docs"]
    assert found(collection.search("pump valve")) == ["docs/a.md", "docs/b.md"]
    assert outcomes(collection.ingest([docs])) == {"docs/a.md": "changed", "docs/b.md": "removed"}


def test_a_sibling_with_the_same_beginning_is_no_part_of_a_subtree(
    docs: Path, collection: Collection
) -> None:
    write(docs, {"sub2/x.md": "Pump x.\n", "sub.md": "Pump y.\n", "sub/a.md/z.md": "Pump z.\n"})
    collection.ingest([docs])
    shutil.rmtree(docs / "sub2")
    (docs / "sub.md").unlink()

    assert outcomes(collection.ingest([docs / "sub"])) == {}
    assert outcomes(collection.ingest([docs / "sub" / "a.md"])) == {}
    assert set(outcomes(collection.ingest([docs]))) == {"docs/sub2/x.md", "docs/sub.md"}


def test_a_single_file_is_brought_up_to_date_alone(docs: Path, collection: Collection) -> None:
    report = collection.ingest([docs / "a.md"])
    assert outcomes(report) == {"docs/a.md": "indexed"}
    assert collection.roots() == {"docs": docs}
    write(docs, {"a.md": "Changed pump.\n"})
    again = collection.ingest([docs / "a.md", docs / "b.md"])

    assert outcomes(again) == {"docs/a.md": "changed", "docs/b.md": "indexed"}
    assert outcomes(collection.ingest([docs])) == {
        "docs/sub/c.txt": "indexed",
        "docs/sub/deep/d.rst": "indexed",
    }


def test_a_path_given_twice_or_within_another_is_walked_once(
    docs: Path, collection: Collection
) -> None:
    report = collection.ingest([docs, docs, docs / "sub", docs / "a.md", docs / "sub" / ".."])

    assert counts(report) == {"read": 4, "added": 4, "indexed": 4}


def test_a_path_that_is_not_there_is_an_error(docs: Path, collection: Collection) -> None:
    with pytest.raises(IngestError, match="nowhere"):
        collection.ingest([docs, docs / "nowhere"])
    with pytest.raises(IngestError, match="no path"):
        collection.ingest([])
    assert not collection.exists()


def test_a_file_that_comes_back_is_indexed_with_its_old_ids(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs])
    before = cited(collection)
    shutil.move(docs / "a.md", docs.parent / "away.md")
    collection.ingest([docs])
    shutil.move(docs.parent / "away.md", docs / "a.md")
    collection.ingest([docs])

    assert cited(collection) == before
    assert collection.check() == []


def test_a_renamed_file_is_another_source(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    (docs / "a.md").rename(docs / "z.md")

    assert outcomes(collection.ingest([docs])) == {
        "docs/a.md": "removed",
        "docs/z.md": "indexed",
    }
    assert found(collection.search("pump")) == ["docs/z.md"]


def test_an_older_extractors_work_is_done_again(aged: Callable[[], Path]) -> None:
    docs = aged()
    collection = Collection.open(docs.parent / "index" / "c")
    collection.ingest([docs])
    database = sqlite3.connect(collection.path / "collection.db")
    with database:
        database.execute(
            "UPDATE document SET extractor = replace(extractor, 'markdown@1', 'markdown@0'), "
            "fingerprint = replace(fingerprint, 'markdown@1', 'markdown@0')"
        )
    database.close()
    assert statuses(collection) == ["unresolvable", "unresolvable", "verified", "verified"]
    report = collection.ingest([docs])

    assert outcomes(report) == {"docs/a.md": "changed", "docs/b.md": "changed"}
    assert report.unchanged == 2
    assert set(statuses(collection)) == {"verified"}


def test_a_guessed_encoding_is_a_warning_and_verifies(docs: Path, collection: Collection) -> None:
    write(docs, {"latin.txt": b"Caf\xe9 costs 5 \x80, na\xefve pump\n"})
    report = collection.ingest([docs])
    response = collection.search("café", verify=True)

    assert report.warnings == ("docs/latin.txt: encoding guessed: cp1252",)
    assert [r.content for r in response.results] == ["Café costs 5 €, naïve pump"]
    assert response.results[0].verification is not None
    assert response.results[0].verification.status == "verified"


def test_the_collection_itself_is_not_indexed(docs: Path) -> None:
    for home in (docs / "index", docs / ".groundkit"):
        collection = Collection.open(home / "c")
        for _ in range(2):
            report = collection.ingest([docs])
            inside = [o.source for o in report.files if o.source.startswith("docs/index/")]
            assert inside == []
        assert report.documents == 4


def test_every_file_is_counted_to_the_progress_callback(
    docs: Path, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "_BATCH_FILES", 2)
    seen: list[tuple[int, int, int]] = []
    collection.ingest([docs], progress=lambda *step: seen.append(step))

    assert seen == [(1, 4, 0), (2, 4, 2), (3, 4, 2), (4, 4, 4)]


def test_an_unchanged_run_leaves_no_log_behind_an_open_reader(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs])
    reader = Collection.open(collection.path)
    reader.search("pump")
    for rehash in (False, True):
        collection.ingest([docs], rehash=rehash)
        assert (collection.path / "collection.db-wal").stat().st_size == 0


def test_settings_are_fixed_when_a_collection_is_made(docs: Path, collection: Collection) -> None:
    fixed = ChunkingConfig(strategy="fixed", size=5, overlap=1)
    collection.ingest([docs], chunking=fixed, language="german")
    assert collection.ingest([docs]).count("changed") == 0
    assert collection.ingest([docs], chunking=fixed, language="german").count("changed") == 0
    with pytest.raises(ConfigurationError, match="fixed@1:5\\+1:words"):
        collection.ingest([docs], chunking=ChunkingConfig())
    with pytest.raises(ConfigurationError, match="grk collections reindex c --language english"):
        collection.ingest([docs], language="english")
    with pytest.raises(ConfigurationError, match="klingon"):
        Collection.open(docs.parent / "index" / "d").ingest([docs], language="klingon")
    assert not (docs.parent / "index" / "d").exists()
    assert collection.info().chunking == fixed
    assert collection.info().language == "german"
