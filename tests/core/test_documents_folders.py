"""Folders of real documents: what is read and refused, and whether it is found and verifies."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from groundkit_core import Collection, IngestReport, RetrievalResult
from groundkit_core.loading.detect import decode_as

from tests.note import Note
from tests.shared_data import shared

pytestmark = pytest.mark.slow

FOLDERS = ("docs_fastapi", "docs_rust_book", "docs_peps", "docs_udhr")
UNKNOWN = "not text in UTF-8, in an encoding that can be told, or in Windows-1252"
REFUSED: dict[str, dict[str, str]] = {
    "docs_fastapi": {},
    "docs_rust_book": {},
    "docs_peps": {},
    "docs_udhr": {
        # Encodings of single fonts.
        "docs_udhr/Azeri_Azerbaijani_Cyrillic-Az.Times.Cyr.Normal0117": UNKNOWN,
        "docs_udhr/Azeri_Azerbaijani_Latin-Az.Times.Lat0117": UNKNOWN,
        # Too little certain for detection, and with bytes that Windows-1252 lacks.
        "docs_udhr/Bosnian_Bosanski-Cyrillic": UNKNOWN,
        "docs_udhr/Serbian_Srpski-Cyrillic": UNKNOWN,
    },
}
QUERIES = 300
SEED = 20


class Indexed(NamedTuple):
    collection: Collection
    reports: dict[str, IngestReport]


class Sentence(NamedTuple):
    source: str
    start: int
    end: int
    text: str


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    folders = {name: shared("data", name) for name in FOLDERS}
    collection = Collection.open(tmp_path_factory.mktemp("folders") / "index" / "c")
    return Indexed(collection, {name: collection.ingest([path]) for name, path in folders.items()})


@pytest.mark.parametrize("name", FOLDERS)
def test_only_what_is_listed_is_refused(name: str, indexed: Indexed, note: Note) -> None:
    report = indexed.reports[name]
    files = [path for path in shared("data", name).rglob("*") if path.is_file()]
    guessed = [warning for warning in report.warnings if "encoding guessed" in warning]
    note(f"{dict(Counter(o.status for o in report.files))}, {report.added} passages")
    note(f"encoding guessed for {len(guessed)} of {len(files)} files")

    assert {o.source: o.reason for o in report.files if o.status == "refused"} == REFUSED[name]
    assert report.count("indexed") == len(files) - len(REFUSED[name])


def test_a_second_run_reads_nothing(indexed: Indexed) -> None:
    for name in FOLDERS:
        report = indexed.collection.ingest([shared("data", name)])
        assert (report.read, report.added, report.dropped) == (0, 0, 0)
        assert report.generation == indexed.collection.info().generation


def test_every_passage_verifies(indexed: Indexed) -> None:
    held = [passage for document in indexed.collection.passages() for passage in document]
    verdicts = Counter(verdict.status for verdict in indexed.collection.verify_all(held))

    assert verdicts == {"verified": indexed.collection.info().chunks}


def texts(collection: Collection) -> dict[str, str]:
    """The text of each document, decoded as it was recorded."""
    roots = collection.roots()
    held: dict[str, str] = {}
    for document in collection.passages():
        for citation, _ in document[:1]:
            label, _, relative = citation.source.partition("/")
            assert citation.encoding is not None
            held[citation.source] = decode_as(
                (roots[label] / relative).read_bytes(), citation.encoding
            )
    return held


def sentences(source: str, text: str) -> Iterator[Sentence]:
    """Runs of prose on one line with at least six words, ended by a mark or the line."""
    for match in re.finditer(r"[^\n.!?。！？।]+[.!?。！？।]?", text):
        part = match.group()
        stripped = part.strip()
        wide = len(re.findall(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u4e00-\u9fff]", part))
        if len(stripped.split()) >= 6 or wide >= 12:
            start = match.start() + len(part) - len(part.lstrip())
            yield Sentence(source, start, start + len(stripped), stripped[:1000])


def sample(collection: Collection) -> list[Sentence]:
    """As many sentences of each folder, one to a file while there are files."""
    chance = random.Random(SEED)
    held = texts(collection)
    chosen: list[Sentence] = []
    for folder in FOLDERS:
        sources = sorted(source for source in held if source.startswith(f"{folder}/"))
        chance.shuffle(sources)
        wanted = len(chosen) + QUERIES // len(FOLDERS)
        while len(chosen) < wanted:
            for source in sources:
                candidates = list(sentences(source, held[source]))
                if candidates and len(chosen) < wanted:
                    chosen.append(chance.choice(candidates))
    return chosen


def holds(result: RetrievalResult, sentence: Sentence) -> bool:
    """Whether a result has the sentence, or most of it at its own place."""
    if sentence.text in result.content:
        return True
    return any(
        citation.source == sentence.source
        and 2 * (min(citation.end, sentence.end) - max(citation.start, sentence.start))
        > sentence.end - sentence.start
        for citation in (result.citation, *result.copies)
    )


def test_sentences_find_their_own_passage_and_all_citations_verify(
    indexed: Indexed, note: Note
) -> None:
    collection = indexed.collection
    statuses: Counter[str] = Counter()
    missed: list[Sentence] = []
    caught = wrong = 0
    for sentence in sample(collection):
        results = collection.search(sentence.text, verify=True).results
        if not any(holds(result, sentence) for result in results):
            missed.append(sentence)
        for result in results:
            assert result.verification is not None
            statuses[result.verification.status] += 1
        shifted = [
            (
                result.citation.model_copy(
                    update={"start": result.citation.start + 1, "end": result.citation.end + 1}
                ),
                result.content,
            )
            for result in results
        ]
        for (citation, _), verdict in zip(shifted, collection.verify_all(shifted), strict=True):
            wrong += 1
            caught += verdict.status in ("moved", "drifted") and (
                verdict.span is None or verdict.span.start == citation.start - 1
            )
    share = 1 - len(missed) / QUERIES
    note(f"{QUERIES} sentences: {share:.1%} find their passage in the top 10")
    note(f"citations: {dict(statuses)}; wrong spans caught: {caught} of {wrong}")
    for sentence in missed:
        note(f"missed {sentence.source}[{sentence.start}:{sentence.end}] {sentence.text!r}")

    assert set(statuses) == {"verified"}
    assert statuses["verified"] >= 1000
    assert caught == wrong
    assert share >= 0.95


def test_a_changed_copy_of_a_folder_is_told_from_the_original(
    indexed: Indexed, tmp_path: Path
) -> None:
    """Every hundredth passage is edited in a copy; these and no others are not verified."""
    held = [p for document in indexed.collection.passages() for p in document]
    held = [(c, t) for c, t in held if c.source.startswith("docs_rust_book/")]
    copy = tmp_path / "docs_rust_book"
    originals = texts(indexed.collection)
    edited = {c.chunk_id for c, _ in held[::100]}
    for source, text in originals.items():
        if not source.startswith("docs_rust_book/"):
            continue
        for citation, passage in sorted(held, key=lambda pair: -pair[0].start):
            if citation.source == source and citation.chunk_id in edited:
                middle = citation.start + len(passage) // 2
                text = text[:middle] + "\u2603" + text[middle + 1 :]
        path = copy / source.partition("/")[2]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    pointed = Collection.open(indexed.collection.path, roots={"docs_rust_book": copy})
    verdicts = pointed.verify_all(held)

    assert len(edited) > 5
    assert {
        c.chunk_id for (c, _), v in zip(held, verdicts, strict=True) if v.status != "verified"
    } == edited
