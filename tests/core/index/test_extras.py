"""A run where a reader is missing or too slow costs no passage."""

from pathlib import Path

import pytest
from groundkit_core import Collection
from groundkit_core.loading import formats

from tests.core.index.support import found, outcomes, write

pytest.importorskip("selectolax")


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return write(tmp_path / "pages", {"a.html": "<h1>Pumps</h1><p>Open the valve.</p>"})


def test_without_its_extra_a_file_is_refused_and_keeps_its_passages(
    pages: Path, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.ingest([pages])
    with monkeypatch.context() as patch:
        patch.setattr(formats, "find_spec", lambda _: None)
        report = collection.ingest([pages], metadata={"year": 2024})
        assert [(o.status, o.reason) for o in report.files] == [
            ("refused", "HTML: run: pip install 'groundkit-core[html]'")
        ]
        assert found(collection.search("valve")) == ["pages/a.html"]
        verdict = collection.search("valve", verify=True).results[0].verification
        assert verdict is not None
    assert outcomes(collection.ingest([pages])) == {"pages/a.html": "changed"}
    assert collection.search("valve").results[0].metadata == {"year": 2024}


def test_a_file_without_its_extra_is_taken_once_that_is_there(
    pages: Path, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(formats, "find_spec", lambda _: None)
        assert outcomes(collection.ingest([pages])) == {"pages/a.html": "refused"}
    assert outcomes(collection.ingest([pages])) == {"pages/a.html": "indexed"}


def test_a_file_that_takes_too_long_keeps_its_passages(pages: Path, collection: Collection) -> None:
    collection.ingest([pages])
    write(pages, {"a.html": "<p>valve " + "<b>x" * 400 * 2_000})
    report = collection.ingest([pages], max_seconds=0.01)
    assert [o.reason for o in report.files] == ["reading it took more than 0.01 s"]
    assert found(collection.search("valve")) == ["pages/a.html"]
