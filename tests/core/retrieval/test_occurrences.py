"""Which of several equal texts a citation means, after its source changed."""

from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.config import ChunkingConfig

TEXT = "Keep the valve shut.\n\nAlways: Keep the valve shut. Open the hatch then go.\n"


@pytest.mark.parametrize(("size", "overlap"), [(4, 0), (4, 1), (200, 0)])
def test_a_text_that_also_stands_within_other_passages_is_counted_there(
    size: int, overlap: int, tmp_path: Path
) -> None:
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text(TEXT)
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([page.parent], chunking=ChunkingConfig(size=size, overlap=overlap))
    held = [passage for document in collection.passages() for passage in document]
    page.write_text("New.\n\n" + TEXT)
    for (citation, content), verdict in zip(held, collection.verify_all(held), strict=True):
        assert (verdict.status, verdict.span and verdict.span.start) == (
            "moved",
            citation.start + len("New.\n\n"),
        ), content


def test_a_text_that_stands_once_more_is_drifted(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text(TEXT)
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([page.parent], chunking=ChunkingConfig(size=4))
    citation, content = next(iter(collection.passages()))[0]
    page.write_text("New.\n\n" + TEXT + "\nKeep the valve shut.\n")
    verdict = collection.verify(citation, content=content)
    assert (verdict.status, verdict.reason) == (
        "drifted",
        "the cited text stands 3 times in the source, before 2",
    )
    assert len(verdict.places) == 3
