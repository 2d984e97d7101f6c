"""What URLs gave, kept in the collection: citations are checked against those bytes."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection
from groundkit_core.errors import ConfigurationError
from groundkit_core.loading.snapshot import Snapshot

from tests.core.index.support import found, outcomes

URL = "https://example.org/pumps/manual"
TEXT = "# Pumps\n\nOpen the valve.\n\n## Hoses\n\nSeven bar at most.\n"


def snapshot(body: str | bytes = TEXT, url: str = URL, **given: Any) -> Snapshot:
    data = body.encode() if isinstance(body, str) else body
    fields = {"media_type": "text/markdown", "charset": None, "fetched": "2026-01-02T03:04:05Z"}
    return Snapshot(url=url, final_url=url, body=data, **{**fields, **given})


def statuses(collection: Collection, query: str) -> list[str]:
    found = collection.search(query, verify=True).results
    return [result.verification.status for result in found if result.verification]


def test_a_url_is_searched_and_cited_by_its_address(collection: Collection) -> None:
    report = collection.add_snapshots([snapshot()])
    assert outcomes(report) == {URL: "indexed"}
    (result,) = collection.search("hoses", verify=True).results
    citation = result.citation
    assert (citation.source, citation.source_class) == (URL, "snapshot")
    assert (citation.heading_path, citation.lines) == (("Pumps", "Hoses"), None)
    assert result.link == URL
    assert result.verification is not None
    assert result.verification.status == "verified"


def test_the_same_body_again_is_unchanged_and_another_one_replaces_it(
    collection: Collection,
) -> None:
    first = collection.add_snapshots([snapshot()])
    again = collection.add_snapshots([snapshot()])
    assert (again.unchanged, again.generation) == (1, first.generation)
    old = collection.search("hoses").results[0]
    report = collection.add_snapshots([snapshot(TEXT.replace("Seven", "Nine"))])
    assert outcomes(report) == {URL: "changed"}
    assert found(collection.search("nine")) == [URL]
    assert collection.verify(old.citation, content=old.content).status == "drifted"


def test_what_moved_in_a_new_snapshot_is_moved(collection: Collection) -> None:
    collection.add_snapshots([snapshot()])
    old = collection.search("hoses").results[0]
    collection.add_snapshots([snapshot("New first line.\n\n" + TEXT)])
    verdict = collection.verify(old.citation, content=old.content)
    assert verdict.status == "moved"
    assert verdict.span is not None
    assert verdict.span.start == old.citation.start + len("New first line.\n\n")


def test_a_url_that_gave_nothing_keeps_its_passages(collection: Collection) -> None:
    collection.add_snapshots([snapshot()])
    report = collection.add_snapshots([], refused={URL: "answered 404"})
    assert [(o.status, o.reason) for o in report.files] == [("refused", "answered 404")]
    assert statuses(collection, "hoses") == ["verified"]
    broken = collection.add_snapshots([snapshot(b"\0\1")])
    assert outcomes(broken) == {URL: "refused"}
    assert statuses(collection, "hoses") == ["verified"]


def test_a_declared_charset_decides_and_is_used_again(collection: Collection) -> None:
    body = "Ключ под ковром.".encode("koi8-r")
    collection.add_snapshots([snapshot(body, media_type="text/plain", charset="koi8-r")])
    (result,) = collection.search("ключ", verify=True).results
    assert (result.content, result.citation.encoding) == ("Ключ под ковром.", "koi8-r")
    assert result.verification is not None
    assert result.verification.status == "verified"


def test_a_snapshot_is_gone_with_its_document(collection: Collection) -> None:
    collection.add_snapshots([snapshot()])
    old = collection.search("hoses").results[0]
    assert collection.remove([URL]).dropped == 2
    verdict = collection.verify(old.citation, content=old.content)
    assert verdict.status == "unresolvable"
    with sqlite3.connect(collection.path / "collection.db") as database:
        assert database.execute("SELECT count(*) FROM snapshot").fetchone() == (0,)
    database.close()


def test_metadata_is_given_to_what_a_run_fetches(collection: Collection) -> None:
    collection.add_snapshots([snapshot()], metadata={"team": "water"})
    assert collection.search("hoses").results[0].metadata == {"team": "water"}


def test_damaged_passages_are_made_again_from_the_kept_bytes(collection: Collection) -> None:
    collection.add_snapshots([snapshot()])
    with sqlite3.connect(collection.path / "collection.db") as database:
        database.execute("UPDATE chunk SET content='Ten bar.' WHERE content LIKE '%Seven%'")
    database.close()
    assert len(collection.check()) == 1
    assert collection.repair() == [f"{URL}: 2 passages made again from the source"]
    assert collection.check() == []
    assert statuses(collection, "hoses") == ["verified"]


def test_damaged_bytes_are_found_and_never_verify(collection: Collection) -> None:
    collection.add_snapshots([snapshot()])
    with sqlite3.connect(collection.path / "collection.db") as database:
        database.execute("UPDATE snapshot SET body=?", (TEXT.replace("Seven", "Eight").encode(),))
    database.close()
    assert collection.check() == [f"the kept bytes of {URL} are damaged; ingest the URL again"]
    assert statuses(collection, "hoses") == ["drifted"]


def test_damaged_bytes_are_replaced_by_the_same_from_the_web(collection: Collection) -> None:
    collection.add_snapshots([snapshot()])
    with sqlite3.connect(collection.path / "collection.db") as database:
        database.execute("UPDATE snapshot SET body=?", (b"# Pumps\n\nEvil.\n",))
        database.execute("UPDATE chunk SET content='Ten bar.' WHERE content LIKE '%Seven%'")
    database.close()
    assert collection.repair() == [
        (
            f"not repaired: {URL}: its source cannot be read again: its kept bytes are damaged; "
            "ingest the URL again"
        )
    ]
    assert outcomes(collection.add_snapshots([snapshot()])) == {URL: "changed"}
    assert collection.check() == []
    assert statuses(collection, "hoses") == ["verified"]


def test_one_url_is_fetched_once_a_run(collection: Collection) -> None:
    with pytest.raises(ConfigurationError, match=r"two snapshots of 'https://example\.org"):
        collection.add_snapshots([snapshot(), snapshot("Other.")])
    assert not collection.exists() or collection.check() == []


def test_a_charset_that_is_declared_later_is_used(collection: Collection) -> None:
    body = "Ключ под ковром.".encode("koi8-r")
    collection.add_snapshots([snapshot(body, media_type="text/plain")])
    collection.add_snapshots([snapshot(body, media_type="text/plain", charset="koi8-r")])
    assert collection.search("ключ").results[0].content == "Ключ под ковром."


def test_a_charset_means_what_browsers_take_it_for(collection: Collection) -> None:
    body = b"Caf\xe9 costs 5 \x80"
    collection.add_snapshots([snapshot(body, media_type="text/plain", charset="ISO-8859-1")])
    (result,) = collection.search("café").results
    assert (result.content, result.citation.encoding) == ("Café costs 5 €", "cp1252")


def test_a_charset_that_is_no_encoding_of_text_does_not_decide(collection: Collection) -> None:
    for charset in ("utf-7", "unicode_escape", "rot13", "nonsense"):
        body = b"pump \\ud800 +2AA-"
        report = collection.add_snapshots(
            [snapshot(body, f"{URL}/{charset}", media_type="text/plain", charset=charset)]
        )
        assert report.count("indexed") == 1


@pytest.mark.parametrize(
    ("media_type", "url", "extractor"),
    [
        ("text/plain", "https://example.org/a.md", "markdown@1"),
        ("text/plain", "https://example.org/a", "text@1"),
        ("application/octet-stream", "https://example.org/a.rst", "restructuredtext@1"),
        ("text/csv", "https://example.org/a.md", "csv@1"),
        ("application/jsonl", "https://example.org/a.jsonl", "text@1"),
    ],
)
def test_the_media_type_says_how_a_body_is_read_and_else_the_path(
    media_type: str, url: str, extractor: str, collection: Collection
) -> None:
    collection.add_snapshots([snapshot("pump\n", url, media_type=media_type)])
    assert collection.search("pump").results[0].citation.extractor == extractor


def test_a_folder_and_urls_live_in_one_collection(tmp_path: Path, collection: Collection) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "a.md").write_text("Hoses at home.\n")
    collection.ingest([folder])
    collection.add_snapshots([snapshot()])
    assert set(found(collection.search("hoses"))) == {"home/a.md", URL}
    assert collection.ingest([folder]).unchanged == 1
    assert set(found(collection.search("hoses"))) == {"home/a.md", URL}
