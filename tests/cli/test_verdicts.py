"""Sources that change after they were ingested."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NOTES, PUMP
from tests.cli.shell import Shell

NOTES_FILE = "docs/notes.txt"


def one(shell: Shell, query: str) -> dict[str, Any]:
    (result,) = shell("search", query, "--json").json["results"]
    return dict(result)


def verdict(shell: Shell) -> str:
    return str(one(shell, "ledger")["verification"]["status"])


def prepend(path: Path) -> None:
    path.write_text("A line above.\n\n" + NOTES)


def append(path: Path) -> None:
    path.write_text(NOTES + "\nA line below.\n")


def edit(path: Path) -> None:
    path.write_text(NOTES.replace("safe", "sofa"))


def truncate(path: Path) -> None:
    path.write_text(NOTES[:25])


def double(path: Path) -> None:
    path.write_text(f"A line above.\n\n{NOTES}\n{NOTES}")


def empty(path: Path) -> None:
    path.write_text("")


def delete(path: Path) -> None:
    path.unlink()


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_binary(path: Path) -> None:
    path.write_bytes(b"\0" + NOTES.encode())


def become_undecodable(path: Path) -> None:
    path.write_bytes(NOTES.encode() + b"\xff")


def lead_outside(path: Path) -> None:
    outside = path.parents[1] / "outside.txt"
    outside.write_text(NOTES)
    path.unlink()
    path.symlink_to(outside)


KINDS: dict[str, tuple[Callable[[Path], None], ...]] = {
    "verified": (append,),
    "moved": (prepend,),
    "drifted": (edit, truncate, double, empty),
    "unresolvable": (delete, become_a_folder, become_binary, become_undecodable, lead_outside),
}


@pytest.mark.parametrize(
    ("status", "change"),
    [(status, change) for status, changes in KINDS.items() for change in changes],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_search_and_verify_say_what_became_of_a_source(
    indexed: Shell, status: str, change: Callable[[Path], None]
) -> None:
    change(indexed.folder / NOTES_FILE)
    ran = indexed("search", "ledger")
    assert f"[{status}, score " in ran.lines[0]
    if status in ("drifted", "unresolvable"):
        assert ran.lines[1].startswith("   ")
        assert ran.lines[2] == "   Keep the cellar dry."
    else:
        assert ran.lines[1] == "   Keep the cellar dry."
    fails = status in ("drifted", "unresolvable")
    report = indexed("verify", "--json", code=int(fails)).json
    counts = {"verified": 2, "moved": 0, "drifted": 0, "unresolvable": 0}
    counts[status] += 1
    assert report["counts"] == counts
    if not fails:
        indexed("verify", "--strict", code=int(status == "moved"))


def test_a_moved_passage_is_shown_at_its_new_lines(indexed: Shell) -> None:
    prepend(indexed.folder / NOTES_FILE)
    assert indexed("search", "ledger").lines[0].startswith(f"1. {NOTES_FILE}:3-5 ")
    end = len("A line above.\n\n" + NOTES.rstrip())
    assert indexed("verify").lines == [
        f"moved {NOTES_FILE}:1-3 -> lines 3-5, characters 15-{end}",
        "2 verified · 1 moved · 0 drifted · 0 unresolvable",
    ]


def test_a_drifted_or_unresolvable_passage_is_listed_with_its_reason(indexed: Shell) -> None:
    edit(indexed.folder / NOTES_FILE)
    delete(indexed.folder / "docs/pump.md")
    lines = indexed("verify", code=1).lines
    assert lines[0].startswith(f"drifted {NOTES_FILE}:1-3: ")
    assert lines[1].startswith("unresolvable docs/pump.md:1-5: ")
    assert lines[2].startswith("unresolvable docs/pump.md:7-9: ")
    assert lines[3:] == ["0 verified · 0 moved · 1 drifted · 2 unresolvable"]


def test_ingesting_again_makes_every_passage_verify(indexed: Shell) -> None:
    edit(indexed.folder / NOTES_FILE)
    delete(indexed.folder / "docs/pump.md")
    indexed("ingest", "docs")
    assert indexed("verify", "--strict").out == (
        "1 verified · 0 moved · 0 drifted · 0 unresolvable\n"
    )


def test_text_above_a_passage_changes_neither_ids_nor_what_is_indexed(indexed: Shell) -> None:
    before = {result["content"]: result["citation"] for result in results(indexed)}
    inserted = "First of all a new line.\n\n"
    indexed.write("docs/pump.md", PUMP.replace("Open", f"{inserted}Open"))
    report = indexed("ingest", "docs", "--json").json
    assert (report["added"], report["dropped"]) == (1, 1)
    after = {result["content"]: result["citation"] for result in results(indexed)}
    stop = "## Stop\n\nClose the valve. The pump stops in ten seconds."
    assert after[stop]["chunk_id"] == before[stop]["chunk_id"]
    assert after[stop]["start"] == before[stop]["start"] + len(inserted)
    assert after[NOTES.rstrip()] == before[NOTES.rstrip()]
    listed = indexed("verify", "saved.json", "--json", code=1).json["not_verified"]
    verdicts = {
        item["citation"]["chunk_id"]: item["verification"]
        for item in listed
        if item["verification"]["status"] == "moved"
    }
    assert verdicts[before[stop]["chunk_id"]]["span"] == {
        "start": after[stop]["start"],
        "end": after[stop]["end"],
    }


def test_a_line_at_the_very_top_leaves_every_other_passage_its_id(indexed: Shell) -> None:
    before = {result["citation"]["chunk_id"] for result in results(indexed)}
    indexed.write("docs/pump.md", "A preface.\n\n" + PUMP)
    report = indexed("ingest", "docs", "--json").json
    assert (report["added"], report["dropped"]) == (1, 0)
    assert before < {result["citation"]["chunk_id"] for result in results(indexed)}


def results(shell: Shell) -> list[dict[str, Any]]:
    found = shell("search", "pump ledger preface", "--json").json["results"]
    assert {result["verification"]["status"] for result in found} == {"verified"}
    return list(found)
