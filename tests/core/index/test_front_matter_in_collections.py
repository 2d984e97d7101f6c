"""What Markdown files say of themselves, from the file to filter and result."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection, Document
from groundkit_core.retrieval.filters import Condition
from groundkit_core.testing import InMemoryEmbedder

from tests.core.index.support import found, outcomes, statuses, write

pytest.importorskip("faiss", reason="vectors are searched by faiss")

BODY = "# Pump\n\nThe pump stops.\n\n# Valve\n\nThe valve opens.\n"
YAML = "---\nyear: 2020\ntags: [x, y]\nproject:\n  owner: me\n---\n\n"
TOML = '+++\nyear = 2021\nwhen = 2020-05-01\ntags = ["y"]\n+++\n\n'


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(
        tmp_path / "docs",
        {"yaml.md": YAML + BODY, "toml.md": TOML + BODY, "none.md": BODY, "text.txt": YAML + BODY},
    )


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection.open(tmp_path / "index" / "c")


def told(collection: Collection) -> dict[str, Mapping[str, Any]]:
    results = collection.search("pump valve", top_k=100, all_copies=True).results
    return {r.citation.source.removeprefix("docs/"): r.metadata for r in results}


def test_markdown_is_filtered_by_what_it_says_of_itself(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    assert told(collection) == {
        "yaml.md": {"year": 2020, "tags": ("x", "y"), "project.owner": "me"},
        "toml.md": {"year": 2021, "when": "2020-05-01", "tags": "y"},
        "none.md": {},
        "text.txt": {},
    }
    for asked, expected in (
        (Condition(key="year", at_most=2020), {"docs/yaml.md"}),
        (Condition(key="tags", equals="y"), {"docs/yaml.md", "docs/toml.md"}),
        (Condition(key="project.owner", exists=True), {"docs/yaml.md"}),
    ):
        response = collection.search("pump", filters=asked, all_copies=True)
        assert set(found(response)) == expected
    assert set(statuses(collection)) == {"verified"}
    assert collection.check() == []


def test_a_changed_value_changes_no_other_passage_and_embeds_only_itself(
    docs: Path, tmp_path: Path
) -> None:
    embedder = InMemoryEmbedder(16)
    collection = Collection.open(tmp_path / "index" / "c", embedder=embedder)
    collection.ingest([docs])
    before = {r.content: r.citation.chunk_id for r in collection.search("pump valve").results}
    embedder.asked.clear()
    write(docs, {"yaml.md": YAML.replace("2020", "1999 # or so") + BODY})
    report = collection.ingest([docs])
    assert outcomes(report) == {"docs/yaml.md": "changed"}
    assert (report.added, report.dropped, report.embedded) == (1, 1, 1)
    assert [text for text in embedder.asked if "pump" in text or "valve" in text] == []
    after = {r.content: r.citation.chunk_id for r in collection.search("pump valve").results}
    assert after == before
    assert told(collection)["yaml.md"]["year"] == 1999
    assert set(statuses(collection)) == {"verified"}


def test_what_a_path_is_given_comes_before_and_leaves_what_the_file_says(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs], metadata={"year": 1, "lang": "en"})
    assert told(collection)["yaml.md"] == {
        "year": 1,
        "lang": "en",
        "tags": ("x", "y"),
        "project.owner": "me",
    }
    collection.ingest([docs], metadata={"year": None})
    assert told(collection)["yaml.md"]["year"] == 2020
    assert told(collection)["none.md"] == {"lang": "en"}


def test_a_callback_sees_it_and_can_take_it_out(docs: Path, collection: Collection) -> None:
    seen: dict[str, Mapping[str, Any]] = {}

    def give(document: Document) -> dict[str, object]:
        seen[document.source] = document.metadata
        return {"tags": None}

    collection.ingest([docs], metadata=give)
    assert seen["docs/yaml.md"] == {"year": 2020, "tags": ("x", "y"), "project.owner": "me"}
    assert told(collection)["yaml.md"] == {"year": 2020, "project.owner": "me"}


def test_a_title_in_front_matter_is_the_documents(docs: Path, collection: Collection) -> None:
    write(docs, {"yaml.md": "---\ntitle: Manual\n---\n\n" + BODY})
    collection.ingest([docs])
    results = collection.search(
        "pump", filters=Condition(key="source", equals="docs/yaml.md")
    ).results
    assert {result.title for result in results} == {"Manual"}
    by_title = Condition(key="title", equals="Manual")
    assert set(found(collection.search("valve", filters=by_title))) == {"docs/yaml.md"}
    write(docs, {"yaml.md": "---\ntitle: Handbook\n---\n\n" + BODY})
    collection.ingest([docs])
    assert found(collection.search("manual")) == []
    assert set(found(collection.search("handbook"))) == {"docs/yaml.md"}


@pytest.mark.parametrize(
    "broken",
    ["---\nyear: [2020\n---\n\n", "---\nyear: 1\nyear: 2\n---\n\n", "+++\nyear =\n+++\n\n"],
)
def test_front_matter_that_cannot_be_read_leaves_the_document_without_metadata(
    broken: str, docs: Path, collection: Collection
) -> None:
    collection.ingest([docs])
    write(docs, {"yaml.md": broken + BODY})
    (outcome,) = collection.ingest([docs]).files
    assert (outcome.source, outcome.status) == ("docs/yaml.md", "partial")
    assert str(outcome.reason).startswith("front matter: ")
    assert "2020" not in str(outcome.reason)
    assert told(collection)["yaml.md"] == {}
    assert collection.check() == []
    write(docs, {"yaml.md": YAML + BODY})
    collection.ingest([docs])
    assert told(collection)["yaml.md"]["year"] == 2020


def test_prose_between_two_rules_is_no_metadata(docs: Path, collection: Collection) -> None:
    write(docs, {"rules.md": "---\n\nThe pump between rules.\n\n---\n\nThe valve after.\n"})
    report = collection.ingest([docs])
    assert outcomes(report)["docs/rules.md"] == "indexed"
    assert told(collection)["rules.md"] == {}
