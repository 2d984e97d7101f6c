"""Verdicts on citations, by reading the source again."""

import os
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import (
    ChunkingConfig,
    Citation,
    Collection,
    Document,
    Span,
    Verification,
    resolve_citation,
)
from groundkit_core.chunking import chunk_document
from groundkit_core.config import MAX_FILE_BYTES
from groundkit_core.errors import SourceError
from groundkit_core.ids import chunk_id, content_hash, document_id
from groundkit_core.retrieval.sources import FileReader
from groundkit_core.testing import MappingReader
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.index.support import cited, write

TEXT = "First line.\n\nThe pump.\n\nLast line.\n"


def cite(text: str, content: str, source: str = "s", occurrence: int = 0, **more: Any) -> Citation:
    """A citation of the given occurrence of `content` in a text."""
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(content, start + 1)
    document = document_id(source)
    fields: dict[str, Any] = {
        "document_id": document,
        "chunk_id": chunk_id(document, content, occurrence),
        "source": source,
        "start": start,
        "end": start + len(content),
        "extractor": "given@1",
        "content_hash": content_hash(content),
    }
    return Citation(**fields | more)


def verdict(citation: Citation, now: str | bytes, **more: Any) -> Verification:
    return resolve_citation(citation, MappingReader({citation.source: now}), **more)


PUMP = cite(TEXT, "The pump.")
AT = Span(start=13, end=22)

TABLE: dict[str, tuple[str, str, Span | None]] = {
    "as it was": (TEXT, "verified", AT),
    "changed elsewhere behind": (TEXT + "More.\n", "verified", AT),
    "changed elsewhere before, same length": (TEXT.replace("First", "Other"), "verified", AT),
    "a line above": ("New.\n" + TEXT, "moved", Span(start=18, end=27)),
    "a character above": ("x" + TEXT, "moved", Span(start=14, end=23)),
    "a line less above": (TEXT[13:], "moved", Span(start=0, end=9)),
    "moved to the end": ("Last line.\nThe pump.", "moved", Span(start=11, end=20)),
    "alone": ("The pump.", "moved", Span(start=0, end=9)),
    "edited": (TEXT.replace("pump", "sump"), "drifted", None),
    "gone": ("First line.\n\nLast line.\n", "drifted", None),
    "empty": ("", "drifted", None),
    "cut in the middle": (TEXT[:17], "drifted", None),
    "other line ends": (TEXT.replace("The pump", "The\r\npump"), "drifted", None),
    "normalised otherwise": (TEXT.replace("u", "u\u0308"), "drifted", None),
}


@pytest.mark.parametrize("known", [True, False], ids=["with its text", "by hash"])
@pytest.mark.parametrize("case", TABLE)
def test_a_passage_that_stood_once(case: str, known: bool) -> None:
    now, status, span = TABLE[case]
    found = verdict(PUMP, now, content="The pump." if known else None)

    assert (found.status, found.span) == (status, span)
    assert found.reason
    if span is not None:
        assert now[span.start : span.end] == "The pump."
        line = now[: span.start].count("\n") + 1
        assert found.lines == (line, line)
    assert found.places == ()


@pytest.mark.parametrize("known", [True, False], ids=["with its text", "by hash"])
@pytest.mark.parametrize(
    ("now", "places"),
    [
        ("New.\nThe pump.\nThe pump.\n", [5, 15]),
        ("The pump. The pump. The pump.", [0, 10, 20]),
    ],
)
def test_a_passage_that_stands_more_often_than_before_has_drifted_to_its_places(
    now: str, places: list[int], known: bool
) -> None:
    found = verdict(PUMP, now, content="The pump." if known else None)

    assert found.status == "drifted"
    assert [(place.start, place.end) for place in found.places] == [(at, at + 9) for at in places]
    assert found.span is None


TWICE = "The pump.\n\nBetween.\n\nThe pump.\n"


@pytest.mark.parametrize("occurrence", [0, 1])
@pytest.mark.parametrize("known", [True, False], ids=["with its text", "by hash"])
def test_equal_passages_are_mapped_by_their_order(occurrence: int, known: bool) -> None:
    citation = cite(TWICE, "The pump.", occurrence=occurrence)
    content = "The pump." if known else None
    moved = verdict(citation, "Above.\n" + TWICE, content=content, occurrences=2)
    fewer = verdict(citation, "Above.\nThe pump.\n", content=content, occurrences=2)
    more = verdict(citation, "Above.\n" + TWICE + TWICE, content=content, occurrences=2)

    start = citation.start + 7
    assert (moved.status, moved.span) == ("moved", Span(start=start, end=start + 9))
    assert (fewer.status, len(fewer.places)) == ("drifted", 1)
    assert (more.status, len(more.places)) == ("drifted", 4)


def test_very_many_places_are_cut_short() -> None:
    found = verdict(PUMP, "x" + "The pump. " * 5000, content="The pump.")

    assert found.status == "drifted"
    assert "5000 times" in found.reason
    assert len(found.places) == 20


@pytest.mark.parametrize("known", [True, False], ids=["with its text", "by hash"])
@pytest.mark.parametrize(
    ("start", "end"),
    [
        (0, 9), (12, 21), (14, 23), (13, 21), (13, 23), (12, 22), (13, 13), (22, 13), (-22, -13),
        (13, -13), (-1, 22), (0, 35), (35, 44), (13, 10**9), (10**9, 10**9 + 9), (-(10**9), 22),
    ],
)  # fmt: skip
def test_a_wrong_span_is_never_verified(start: int, end: int, known: bool) -> None:
    citation = PUMP.model_copy(update={"start": start, "end": end})
    found = verdict(citation, TEXT, content="The pump." if known else None)

    assert found.status in ("moved", "drifted")
    if found.status == "moved":
        assert found.span == AT


def test_a_span_beyond_the_end_of_the_text_is_never_verified() -> None:
    citation = cite("First.\n\nThe pump.", "The pump.")
    for end in (citation.end + 1, citation.end + 1000):
        found = verdict(citation.model_copy(update={"end": end}), "First.\n\nThe pump.")
        assert found.status != "verified"


@pytest.mark.parametrize("content", ["the pump.", "The pump", "The pump. ", "", "Last line."])
def test_a_text_that_is_not_the_cited_one_is_never_verified(content: str) -> None:
    assert verdict(PUMP, TEXT, content=content).status == "drifted"


@pytest.mark.parametrize(
    "changed",
    [{"content_hash": content_hash("Another.")}, {"content_hash": ""}, {"content_hash": "zz"}],
)
def test_another_hash_is_never_verified(changed: dict[str, str]) -> None:
    citation = PUMP.model_copy(update=changed)

    assert verdict(citation, TEXT).status == "drifted"
    assert verdict(citation, TEXT, content="The pump.").status == "drifted"


@pytest.mark.parametrize("now", [TEXT.encode(), b"\xef\xbb\xbf" + TEXT.encode()])
def test_a_reader_may_give_bytes(now: bytes) -> None:
    assert verdict(PUMP, now).status == "verified"


def test_bytes_are_read_in_the_recorded_encoding() -> None:
    text = "Das Gerät prüft.\n\nZwölf Öfen."
    citation = cite(text, "Zwölf Öfen.", encoding="cp1252")

    assert verdict(citation, text.encode("cp1252")).status == "verified"
    assert verdict(citation, text.encode("utf-8")).status == "drifted"
    utf8 = citation.model_copy(update={"encoding": "utf-8"})
    found = verdict(utf8, text.encode("cp1252"))
    assert (found.status, "utf-8" in found.reason) == ("unresolvable", True)


UNRESOLVABLE: dict[str, tuple[dict[str, str], str | bytes | None, str]] = {
    "gone": ({}, None, "gone"),
    "other extractor": ({"extractor": "markdown@0"}, TEXT, "markdown@0"),
    "extractor of another program": ({"extractor": "pdf"}, TEXT, "pdf"),
    "no longer decodes": ({"encoding": "utf-8"}, b"\xff\xff", "utf-8"),
    "no longer ASCII": ({"encoding": "ascii"}, "é".encode(), "ascii"),
    "binary": ({"encoding": "utf-8"}, b"a\0b", "NUL"),
    "binary without an encoding": ({}, b"a\0b", "NUL"),
    "no encoding that we know": ({"encoding": "klingon-1"}, b"abc", "klingon-1"),
    "no text encoding": ({"encoding": "rot13"}, b"abc", "rot13"),
    "an encoding that cannot be named": ({"encoding": "a\0b"}, b"abc", ""),
}


@pytest.mark.parametrize("case", UNRESOLVABLE)
def test_what_cannot_be_read_is_unresolvable_and_says_why(case: str) -> None:
    changed, now, why = UNRESOLVABLE[case]
    citation = PUMP.model_copy(update=changed)
    reader = MappingReader({} if now is None else {"s": now})
    found = resolve_citation(citation, reader)

    assert found.status == "unresolvable"
    assert why in found.reason
    assert found.span is None


def test_a_reader_says_why_a_source_cannot_be_read() -> None:
    class Refusing:
        def read(self, source: str) -> str:
            raise SourceError(f"{source}: the row was archived")

    assert resolve_citation(PUMP, Refusing()) == Verification(
        status="unresolvable", reason="s: the row was archived"
    )


def test_files_are_read_beneath_their_root_only(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {"a.md": TEXT, "sub/b.md": TEXT})
    write(tmp_path, {"outside.md": TEXT})
    (docs / "link.md").symlink_to(tmp_path / "outside.md")
    (docs / "inside.md").symlink_to(docs / "a.md")
    os.mkfifo(docs / "fifo.md")
    (docs / "large.md").touch()
    os.truncate(docs / "large.md", MAX_FILE_BYTES + 1)
    reader = FileReader({"docs": docs})
    says = {
        "docs/a.md": "verified",
        "docs/sub/b.md": "verified",
        "docs/sub/../a.md": "verified",
        "docs/inside.md": "verified",
        "docs/link.md": "leads out",
        "docs/../outside.md": "leads out",
        f"docs/{tmp_path}/outside.md": "leads out",
        "docs/none.md": "gone",
        "docs/a.md/x": "Not a directory",
        "docs/sub": "regular file",
        "docs/": "regular file",
        "docs": "regular file",
        "docs/fifo.md": "regular file",
        "docs/large.md": f"larger than {MAX_FILE_BYTES} bytes",
        "other/a.md": "no root is called 'other'",
        "docs/a\0.md": "cannot be read",
        "docs/" + "x" * 300: "File name too long",
        "": "no root",
    }
    for source, expected in says.items():
        found = resolve_citation(PUMP.model_copy(update={"source": source}), reader)
        assert expected in f"{found.status}: {found.reason}", source


texts = st.text(st.sampled_from("ab \n.é茶👩"), max_size=60)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_verified_and_moved_always_name_a_span_with_the_cited_text(data: st.DataObject) -> None:
    text = data.draw(texts.filter(lambda text: bool(text.strip())), "text")
    config = ChunkingConfig(size=data.draw(st.integers(1, 4)), unit="characters", strategy="fixed")
    chunks = chunk_document(Document.from_text("s", text), config=config)
    chunk = data.draw(st.sampled_from(chunks), "chunk")
    at, until = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    now = text[:at] + data.draw(texts, "inserted") + text[until:]
    shift = st.sampled_from((0, 0, 0, 0, 1, -1, 5, -5, 10**6))
    citation = Citation(
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        source="s",
        start=chunk.start + data.draw(shift),
        end=chunk.end + data.draw(shift),
        extractor="given@1",
        content_hash=content_hash(chunk.content),
    )
    content = data.draw(st.sampled_from([chunk.content, None, "other"]), "content")
    occurrences = data.draw(st.integers(1, 3), "occurrences")
    found = verdict(citation, now, content=content, occurrences=occurrences)

    if found.status in ("verified", "moved"):
        assert found.span is not None
        assert 0 <= found.span.start < found.span.end <= len(now)
        assert content_hash(now[found.span.start : found.span.end]) == citation.content_hash
        assert content != "other"
    else:
        assert found.span is None
    for place in found.places:
        assert now[place.start : place.end] == chunk.content
    if found.status == "verified":
        assert found.span == Span(start=citation.start, end=citation.end)


@settings(max_examples=300, deadline=None)
@given(texts.filter(lambda text: bool(text.strip())), st.text("xyz \n", max_size=9))
def test_text_inserted_above_moves_every_passage_that_stands_as_often(
    text: str, above: str
) -> None:
    chunks = chunk_document(Document.from_text("s", text), config=ChunkingConfig(size=1))
    for chunk in chunks:
        citation = cite(text, chunk.content).model_copy(
            update={"chunk_id": chunk.id, "start": chunk.start, "end": chunk.end}
        )
        held = [other.content for other in chunks].count(chunk.content)
        now = above + text
        found = verdict(citation, now, content=chunk.content, occurrences=held)
        if now.count(chunk.content) == text.count(chunk.content) == held:
            stays = now[chunk.start : chunk.end] == chunk.content
            start = chunk.start if stays else chunk.start + len(above)
            assert found.status == ("verified" if stays else "moved")
            assert found.span == Span(start=start, end=start + len(chunk.content))
        else:
            assert found.status in ("verified", "drifted")


def source_of(collection: Collection) -> Path:
    return collection.roots()["docs"]


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    docs = write(tmp_path / "docs", {"a.md": TWICE.replace("Between", "# Between"), "b.md": TEXT})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    return collection


@pytest.mark.parametrize("given", [True, False], ids=["with its text", "by hash"])
def test_a_collection_knows_how_often_a_passage_stood(
    given: bool, tmp_path: Path, collection: Collection
) -> None:
    text = "# One\n\nThe pump.\n\n# Two\n\nThe pump.\n\n# Two\n\nThe pump.\n"
    docs = write(tmp_path / "twice", {"a.md": text})
    collection.ingest([docs])
    held = [p for document in collection.passages() for p in document]
    twice = [(c, t if given else None) for c, t in held if t == "# Two\n\nThe pump."]
    assert len(twice) == 2
    write(docs, {"a.md": "Above.\n\n" + text})
    verdicts = collection.verify_all(twice)

    assert [v.status for v in verdicts] == ["moved", "moved"]
    assert [v.span for v in verdicts] == [Span(start=c.start + 8, end=c.end + 8) for c, _ in twice]
    write(docs, {"a.md": "Above.\n\n" + text + "\n# Two\n\nThe pump.\n"})
    assert [v.status for v in collection.verify_all(twice)] == ["drifted", "drifted"]


def test_a_short_passage_that_also_stands_inside_others_is_moved(tmp_path: Path) -> None:
    text = "# A\n\nStop.\n\n# Go\n\nPress.\n\n```\n# A\n\nStop.\n```\n"
    docs = write(tmp_path / "docs", {"a.md": text})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    before = cited(collection)["# A\n\nStop."]
    write(docs, {"a.md": "# Above\n\nIt.\n\n" + text})
    collection.ingest([docs])
    after = cited(collection)["# A\n\nStop."]

    found = collection.verify(before)
    assert after.chunk_id == before.chunk_id
    assert (found.status, found.span) == ("moved", Span(start=after.start, end=after.end))


def test_verdicts_stand_in_the_order_of_the_citations(collection: Collection) -> None:
    held = [p for document in collection.passages() for p in document]
    (source_of(collection) / "b.md").unlink()
    mixed = [held[-1], *held, held[0]]

    assert [
        (v.status, c.source) for v, (c, _) in zip(collection.verify_all(mixed), mixed, strict=True)
    ] == [("unresolvable" if c.source == "docs/b.md" else "verified", c.source) for c, _ in mixed]


def test_a_citation_from_before_an_ingest_is_still_checked(collection: Collection) -> None:
    old = cited(collection)
    write(source_of(collection), {"b.md": TEXT.replace("pump", "sump")})
    collection.ingest([source_of(collection)])
    gone = next(c for text, c in old.items() if "First line" in text)

    assert collection.verify(gone).status == "drifted"


def test_the_source_is_read_and_not_our_copy(collection: Collection) -> None:
    held = [p for document in collection.passages() for p in document]
    for path in source_of(collection).iterdir():
        path.write_bytes(path.read_bytes().replace(b"pump", b"sump"))

    assert {v.status for v in collection.verify_all(held)} == {"drifted"}


def test_an_application_reads_its_own_sources(tmp_path: Path) -> None:
    rows: dict[str, str | bytes] = {"row 1": "The pump.", "row 2": b"The valve."}
    collection = Collection.open(tmp_path / "c", reader=MappingReader(rows))
    collection.add([Document.from_text("row 1", "The pump.")])
    collection.add([Document.from_text("row 2", "The valve.")])

    def status(query: str) -> str:
        (result,) = collection.search(query, verify=True).results
        assert result.verification is not None
        return result.verification.status

    assert [status("pump"), status("valve")] == ["verified", "verified"]
    rows["row 1"] = "Now: The pump."
    rows["row 2"] = "The wave."
    assert [status("pump"), status("valve")] == ["moved", "drifted"]
    rows.clear()
    assert [status("pump"), status("valve")] == ["unresolvable", "unresolvable"]
    without = Collection.open(tmp_path / "c")
    (result,) = without.search("pump", verify=True).results
    assert result.verification is not None
    assert "SourceReader" in result.verification.reason
