import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Shell

Response = dict[str, Any]


@pytest.fixture
def saved(indexed: Shell) -> Callable[[Callable[[Response], object]], Path]:
    """Saves a search response after something was done to it."""
    response = json.loads((indexed.folder / "saved.json").read_text())

    def save(tamper: Callable[[Response], object]) -> Path:
        tamper(response)
        return indexed.write("saved.json", json.dumps(response, ensure_ascii=False))

    return save


def test_every_citation_of_a_saved_response_is_checked(
    indexed: Shell, saved: Callable[..., Path]
) -> None:
    ran = indexed("verify", saved(lambda _: None))
    assert ran.out == "3 verified · 0 moved · 0 drifted · 0 unresolvable\n"
    report = indexed("verify", indexed.folder / "saved.json", "--json").json
    assert report == {
        "schema_version": 1,
        "collection": "default",
        "counts": {"verified": 3, "moved": 0, "drifted": 0, "unresolvable": 0},
        "not_verified": [],
    }


def test_the_copies_in_a_saved_response_are_checked_too(grk: Shell) -> None:
    for name in "ab":
        grk.write(f"docs/{name}.txt", "The zebra crossing.\n")
    grk("ingest", "docs")
    saved = grk.write("saved.json", grk("search", "zebra", "--json").out)
    (grk.folder / "docs/b.txt").unlink()
    ran = grk("verify", saved, code=1)
    assert ran.lines[-1] == "1 verified · 0 moved · 0 drifted · 1 unresolvable"


def result(response: Response) -> Any:
    return response["results"][0]


TAMPERED: dict[str, tuple[str, Response]] = {
    "the passage": ("drifted", {"content": "The safe is empty."}),
    "the hash": ("drifted", {"content_hash": "0" * 32}),
    "the passage and the hash": ("drifted", {"content": "x", "content_hash": "0" * 32}),
    "a file that is not there": ("unresolvable", {"source": "docs/no.txt"}),
    "another root": ("unresolvable", {"source": "other/notes.txt"}),
    "a path outside": ("unresolvable", {"source": "docs/../../../../../../../../etc/passwd"}),
    "a path with a NUL": ("unresolvable", {"source": "docs/a\0b"}),
    "an empty path": ("unresolvable", {"source": ""}),
    "an endless path": ("unresolvable", {"source": "docs/" + "a" * 5000}),
    "another extractor": ("unresolvable", {"extractor": "pdf@9"}),
    "another encoding": ("unresolvable", {"encoding": "utf-16"}),
    "an unknown encoding": ("unresolvable", {"encoding": "klingon"}),
    "an encoding of bytes": ("unresolvable", {"encoding": "base64"}),
    "an encoding with a NUL": ("unresolvable", {"encoding": "a\0b"}),
}


def tampered(response: Response, *changes: Response) -> None:
    """One result for each change, each a copy of the first with the change made."""
    first = response["results"][0]
    response["results"] = [
        {
            **first,
            "content": change.get("content", first["content"]),
            "citation": {**first["citation"], **change, "content": None},
        }
        for change in changes
    ]
    for result in response["results"]:
        del result["citation"]["content"]


def test_a_tampered_citation_never_verifies(indexed: Shell, saved: Callable[..., Path]) -> None:
    changes = [change for _, change in TAMPERED.values()]
    path = saved(lambda response: tampered(response, *changes))
    listed = indexed("verify", path, "--json", code=1).json["not_verified"]
    found = [item["verification"]["status"] for item in listed]
    expected = [status for status, _ in TAMPERED.values()]
    assert dict(zip(TAMPERED, found, strict=True)) == dict(zip(TAMPERED, expected, strict=True))


def test_a_wrong_span_is_not_verified_and_the_span_given_instead_holds_the_passage(
    indexed: Shell, saved: Callable[..., Path]
) -> None:
    spans = [
        {"start": 3},
        {"start": -3},
        {"end": 5},
        {"end": 10**30},
        {"start": 10**30, "end": 10**30 + 5},
    ]
    path = saved(lambda response: tampered(response, *spans))
    passage = json.loads(path.read_text())["results"][0]
    text = (indexed.folder / passage["citation"]["source"]).read_text()
    listed = indexed("verify", path, "--json").json["not_verified"]
    assert [item["verification"]["status"] for item in listed] == ["moved"] * len(spans)
    for item in listed:
        span = item["verification"]["span"]
        assert text[span["start"] : span["end"]] == passage["content"]


UNUSABLE = {
    "empty": b"",
    "truncated": b'{"schema_version": 1, "query": "the", "results": [{"rank": 1',
    "another document": b'{"error": {"type": "RetrievalError"}}',
    "deeply nested": b"[" * 100_000,
    "not UTF-8": b"\xff\xfe",
}


@pytest.mark.parametrize("content", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_file_that_is_no_saved_response_is_named_in_one_line(
    indexed: Shell, content: bytes
) -> None:
    indexed.write("saved.json", content)
    ran = indexed("verify", "saved.json", code=2)
    assert ran.out == ""
    assert ran.err.startswith("grk: saved.json: not a saved search response")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    "change", [{"schema_version": 2}, {"note": "unknown"}, {"results": "none"}], ids=str
)
def test_a_response_of_another_schema_is_refused_with_the_field(
    indexed: Shell, saved: Callable[..., Path], change: Response
) -> None:
    ran = indexed("verify", saved(lambda response: response.update(change)), code=2)
    assert ran.out == ""
    assert next(iter(change)) in ran.err


def test_a_saved_response_that_is_missing_or_a_folder_is_source_trouble(indexed: Shell) -> None:
    assert indexed("verify", "no.json", code=3).err.startswith("grk: no.json: ")
    assert indexed("verify", "docs", code=3).err.startswith("grk: docs: ")


def test_a_response_saved_from_another_collection_is_checked_against_that(indexed: Shell) -> None:
    indexed.write("wiki/page.txt", "The wiki page.\n")
    indexed("ingest", "wiki", "--collection", "wiki")
    saved = indexed.write(
        "saved.json", indexed("search", "page", "--collection", "wiki", "--json").out
    )
    ran = indexed("verify", saved, "--json")
    assert ran.json["collection"] == "wiki"
    assert ran.json["counts"]["verified"] == 1


def test_a_moved_folder_is_found_through_root(indexed: Shell, tmp_path: Path) -> None:
    shutil.move(tmp_path / "docs", tmp_path / "elsewhere")
    assert indexed("verify", code=1).out.endswith("3 unresolvable\n")
    ran = indexed("verify", "--root", "docs=elsewhere")
    assert ran.out == "3 verified · 0 moved · 0 drifted · 0 unresolvable\n"
    saved = indexed.write("saved.json", indexed("search", "valve", "--json").out)
    assert indexed("verify", saved, "--root", f"docs={tmp_path / 'elsewhere'}").code == 0
    found = indexed("search", "ledger", "--root", "docs=elsewhere")
    assert "[verified, " in found.lines[0]
    assert indexed("verify", code=1).out.endswith("3 unresolvable\n")


def test_root_must_name_a_label_of_the_collection(indexed: Shell) -> None:
    ran = indexed("verify", "--root", "nope=docs", code=2)
    assert ran.err == "grk: default: no root is called nope; it has: docs\n"
