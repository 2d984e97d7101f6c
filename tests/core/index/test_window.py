from pathlib import Path

import pytest
from groundkit_core import Collection, Document
from groundkit_core.errors import CollectionNotFoundError, RetrievalError

PARTS = [f"# Part {n}\n\nWord{n} stands here.\n" for n in range(5)]


@pytest.fixture
def parts(collection: Collection) -> Collection:
    text = "\n".join(PARTS)
    other = Document.from_text("other", "# Other\n\nOther words.\n")
    collection.add([Document.from_text("parts", text, media_type="text/markdown"), other])
    return collection


def chunk(collection: Collection, query: str) -> str:
    return collection.search(query).results[0].citation.chunk_id


@pytest.mark.parametrize(
    ("middle", "before", "after", "shown", "at", "left"),
    [
        (2, 0, 0, (2,), 0, (2, 2)),
        (2, 1, 1, (1, 2, 3), 1, (1, 1)),
        (0, 3, 1, (0, 1), 0, (0, 3)),
        (4, 1, 9, (3, 4), 1, (3, 0)),
        (3, 1000, 1000, (0, 1, 2, 3, 4), 3, (0, 0)),
    ],
)
def test_a_passage_comes_with_its_neighbours(
    middle: int,
    before: int,
    after: int,
    shown: tuple[int, ...],
    at: int,
    left: tuple[int, int],
    parts: Collection,
) -> None:
    id_ = chunk(parts, f"word{middle}")
    window = parts.fetch(id_, before=before, after=after)
    assert [passage.content for passage in window.passages] == [PARTS[n].strip() for n in shown]
    assert (window.at, window.before, window.after) == (at, *left)
    assert window.passages[at].citation.chunk_id == id_
    assert {passage.citation.source for passage in window.passages} == {"parts"}


def test_the_cited_text_is_verified_when_it_is_asked_for(
    tmp_path: Path, collection: Collection
) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "a.md").write_text("Hoses.\n")
    collection.ingest([folder])
    id_ = chunk(collection, "hoses")
    assert collection.fetch(id_).verification is None
    verdict = collection.fetch(id_, verify=True).verification
    assert verdict is not None
    assert verdict.status == "verified"
    (folder / "a.md").write_text("Nothing.\n")
    verdict = collection.fetch(id_, verify=True).verification
    assert verdict is not None
    assert verdict.status == "drifted"


def test_what_cannot_be_fetched_is_an_error(parts: Collection, tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="holds no passage 'nil'"):
        parts.fetch("nil")
    for before, after in ((-1, 0), (0, 1001)):
        with pytest.raises(RetrievalError, match="0 to 1000"):
            parts.fetch(chunk(parts, "word1"), before=before, after=after)
    with pytest.raises(CollectionNotFoundError):
        Collection.open(tmp_path / "none").fetch("nil")
