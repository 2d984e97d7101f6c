import os
import re
import time
from pathlib import Path

import pytest

from tests.cli.shell import Shell

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def statuses(report: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {outcome["source"]: outcome["status"] for outcome in report["files"]}


def test_a_first_run_counts_files_and_passages_and_says_where_the_collection_is(grk: Shell) -> None:
    ran = grk("ingest", "docs")
    assert ran.lines[0] == (
        "2 indexed · 0 unchanged · 0 changed · 0 removed · 0 partial · 0 refused"
    )
    assert ran.lines[1:] == ["passages: 3 added, 0 dropped, 3 in all from 2 documents in default"]
    assert ran.err == f"new collection in {grk.folder / '.groundkit/default'}\n"


def test_json_reports_every_file_that_was_not_left_as_it_was(grk: Shell) -> None:
    report = grk("ingest", "docs", "--json").json
    assert report == {
        "schema_version": 1,
        "collection": "default",
        "generation": 1,
        "unchanged": 0,
        "read": 2,
        "added": 3,
        "dropped": 0,
        "embedded": 0,
        "documents": 2,
        "chunks": 3,
        "files": [
            {
                "source": f"docs/{name}",
                "status": "indexed",
                "chunks": chunks,
                "reason": None,
                "warnings": [],
            }
            for name, chunks in (("notes.txt", 1), ("pump.md", 2))
        ],
        "warnings": [],
    }


def test_a_second_run_tells_unchanged_changed_new_and_removed_files_apart(indexed: Shell) -> None:
    indexed.write("docs/new.txt", "A new page.\n")
    indexed.write("docs/kept.txt", "Another page.\n")
    indexed("ingest", "docs")
    (indexed.folder / "docs/new.txt").unlink()
    indexed.write("docs/notes.txt", "Keep the cellar wet.\n")
    indexed.write("docs/newer.txt", "A newer page.\n")
    ran = indexed("ingest", "docs")
    assert ran.lines[0] == (
        "1 indexed · 2 unchanged · 1 changed · 1 removed · 0 partial · 0 refused"
    )
    assert ran.err == ""
    assert indexed("search", "ledger").out == ""
    assert indexed("search", "newer", "--json").json["results"][0]["content"] == "A newer page."


def test_refused_files_are_listed_with_a_reason_and_the_rest_is_indexed(grk: Shell) -> None:
    grk.write("docs/image.png", b"\x89PNG\r\n\x1a\n")
    grk.write("docs/talk.pptx", b"slides")
    grk.write("docs/nul.txt", b"a\0b")
    (grk.folder / "docs/dangling.txt").symlink_to("nowhere")
    (grk.folder / "docs/outside.txt").symlink_to("/etc/passwd")
    os.mkfifo(grk.folder / "docs/pipe.txt")
    ran = grk("ingest", "docs", code=1)
    assert ran.lines[0].startswith("2 indexed · ")
    assert ran.lines[0].endswith(" · 6 refused")
    assert ran.lines[2:] == [
        "refused docs/dangling.txt: dangling link",
        "refused docs/image.png: PNG image: this version has no reader for it",
        "refused docs/nul.txt: binary: it holds NUL bytes",
        "refused docs/outside.txt: link that leads out of the root",
        "refused docs/pipe.txt: not a regular file",
        "refused docs/talk.pptx: presentation: this version has no reader for it",
    ]
    assert grk("search", "valve", "--json").json["results"]


def test_a_refused_file_that_is_repaired_is_indexed_by_the_next_run(grk: Shell) -> None:
    grk.write("docs/late.txt", b"\0")
    grk("ingest", "docs", code=1)
    grk.write("docs/late.txt", "Now it is text.\n")
    report = grk("ingest", "docs", "--json").json
    assert statuses(report) == {"docs/late.txt": "indexed"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_unreadable_file_and_folder_are_refused_and_nothing_of_them_is_pruned(
    indexed: Shell,
) -> None:
    indexed.write("docs/deep/page.txt", "A deep page.\n")
    indexed("ingest", "docs")
    hidden = [indexed.folder / "docs/notes.txt", indexed.folder / "docs/deep"]
    for path in hidden:
        path.chmod(0)
    try:
        ran = indexed("ingest", "docs", "--rehash", code=1)
    finally:
        for path in hidden:
            path.chmod(0o755)
    assert [line.partition(":")[0] for line in ran.lines[2:]] == [
        "refused docs/deep",
        "refused docs/notes.txt",
    ]
    assert indexed("search", "deep ledger", "--json").json["results"][1]


def test_a_guessed_encoding_is_a_warning_and_not_a_failure(grk: Shell) -> None:
    grk.write("docs/price.txt", b"The caf\xe9 costs 5 \x80.\n")
    ran = grk("ingest", "docs")
    warning = "docs/price.txt: encoding guessed: cp1252"
    assert f"warning: {warning}\n" in ran.err
    grk.write("docs/price.txt", b"The caf\xe9 costs 6 \x80.\n")
    assert grk("ingest", "docs", "--json").json["warnings"] == [warning]
    found = grk("search", "café", "--json").json["results"]
    assert [result["content"] for result in found] == ["The café costs 6 €."]
    assert found[0]["verification"]["status"] == "verified"


def test_many_warnings_are_cut_short_but_counted_and_whole_in_json(grk: Shell) -> None:
    for number in range(60):
        grk.write(f"guess/{number:02}.txt", b"caf\xe9\n")
    lines = grk("ingest", "guess").err.splitlines()
    shown = [line for line in lines if line.startswith("warning: ")]
    assert len(shown) < 60
    assert any(line.startswith(f"and {60 - len(shown)} more warnings") for line in lines)
    assert len(grk("ingest", "guess", "--collection", "other", "--json").json["warnings"]) == 60


def test_a_folder_of_files_without_a_reader_says_what_can_be_read(grk: Shell) -> None:
    grk.write("pictures/a.png", b"\x89PNG\r\n")
    ran = grk("ingest", "pictures", code=1)
    assert ran.lines[0].endswith(" 1 refused")
    assert "text, HTML, PDF, DOCX, spreadsheets and code can be read" in ran.err


def test_removing_the_last_file_is_no_complaint_about_formats(indexed: Shell) -> None:
    for name in ("pump.md", "notes.txt"):
        (indexed.folder / "docs" / name).unlink()
    ran = indexed("ingest", "docs")
    assert " 2 removed " in ran.lines[0]
    assert "can be read" not in ran.err


def test_ignored_files_are_left_out_unless_asked_for(grk: Shell) -> None:
    grk.write("docs/.gitignore", "drafts/\n*.log\n!keep.log\n")
    grk.write("docs/drafts/a.txt", "A draft.\n")
    grk.write("docs/out.log", "A log.\n")
    grk.write("docs/keep.log", "A log to keep.\n")
    plain = statuses(grk("ingest", "docs", "--json").json)
    assert set(plain) == {"docs/keep.log", "docs/notes.txt", "docs/pump.md"}
    everything = statuses(grk("ingest", "docs", "--no-ignore", "--json").json)
    assert everything == {"docs/drafts/a.txt": "indexed", "docs/out.log": "indexed"}
    again = statuses(grk("ingest", "docs", "--json").json)
    assert again == {"docs/drafts/a.txt": "removed", "docs/out.log": "removed"}


def test_settled_files_are_not_read_again_unless_rehash_asks(grk: Shell) -> None:
    time.sleep(2.1)
    grk("ingest", "docs")
    again = grk("ingest", "docs", "--json").json
    assert (again["read"], again["unchanged"]) == (0, 2)
    rehashed = grk("ingest", "docs", "--rehash", "--json").json
    assert (rehashed["read"], rehashed["unchanged"], rehashed["files"]) == (2, 2, [])


def test_missing_files_can_be_kept(indexed: Shell) -> None:
    (indexed.folder / "docs/notes.txt").unlink()
    ran = indexed("ingest", "docs", "--keep-missing")
    assert ran.lines[0].endswith("1 gone but kept")
    (line,) = ran.lines[2:]
    assert line.startswith("missing docs/notes.txt: gone;")
    (found,) = indexed("search", "ledger", "--json").json["results"]
    assert found["verification"]["status"] == "unresolvable"
    assert statuses(indexed("ingest", "docs", "--json").json) == {"docs/notes.txt": "removed"}


def many(shell: Shell, count: int) -> list[Path]:
    return [shell.write(f"many/{n:02}.txt", f"Page number {n}.\n") for n in range(count)]


def test_losing_more_than_half_of_a_root_needs_a_flag(grk: Shell) -> None:
    files = many(grk, 20)
    grk("ingest", "many")
    for path in files[:11]:
        path.unlink()
    ran = grk("ingest", "many", code=3)
    assert ran.out == ""
    assert "11 of 20 files" in ran.err
    assert "--allow-removal" in ran.err
    assert "--keep-missing" in ran.err
    assert grk("collections", "show", "--json").json["documents"] == 20
    assert " 11 removed " in grk("ingest", "many", "--allow-removal").lines[0]
    assert grk("collections", "show", "--json").json["documents"] == 9


def test_a_run_that_is_refused_moves_no_root(grk: Shell) -> None:
    many(grk, 20)
    grk("ingest", "many")
    (grk.folder / "empty").mkdir()
    assert "nothing was changed" in grk("ingest", "empty", "--root", "many=empty", code=3).err
    assert grk("verify").out.startswith("20 verified")


@pytest.mark.parametrize(
    "refused",
    [
        ("docs", "elsewhere/docs"),
        ("nowhere",),
        ("docs", "--root", "docs=nowhere"),
        ("docs", "--language", "klingon"),
        ("docs", "--chunk-size", "0"),
    ],
    ids=" ".join,
)
def test_a_first_run_that_is_refused_creates_nothing(grk: Shell, refused: tuple[str, ...]) -> None:
    grk.write("elsewhere/docs/a.txt", "Another page.\n")
    with_code = 3 if "nowhere" in refused[-1] else 2
    grk("ingest", *refused, code=with_code)
    assert not (grk.folder / ".groundkit").exists()


def test_two_folders_of_one_name_need_a_label(grk: Shell) -> None:
    grk.write("elsewhere/docs/pump.md", "# Another pump\n")
    grk("ingest", "docs")
    ran = grk("ingest", "elsewhere/docs", code=2)
    other = grk.folder / "elsewhere/docs"
    assert ran.err == (
        f"grk: {other}: the label 'docs' already names {grk.folder / 'docs'}; "
        f"give this folder another: --root LABEL={other}\n"
    )
    grk("ingest", "elsewhere/docs", "--root", f"other={other}")
    (found,) = grk("search", "another", "--json").json["results"]
    assert found["citation"]["source"] == "other/pump.md"
    assert found["verification"]["status"] == "verified"


def test_files_and_folders_are_taken_in_one_run(grk: Shell) -> None:
    grk.write("README.txt", "Read this first.\n")
    report = grk("ingest", "docs", "README.txt", "--json").json
    own = grk.folder.name
    assert statuses(report) == {
        f"{own}/README.txt": "indexed",
        "docs/notes.txt": "indexed",
        "docs/pump.md": "indexed",
    }


def test_an_index_directory_inside_the_folder_is_not_indexed(grk: Shell) -> None:
    for _ in range(2):
        ran = grk("ingest", "docs", "--index-dir", "docs/index")
        assert ran.lines[0].endswith(" 0 refused")
        assert "2 documents" in ran.lines[1]


def test_progress_is_shown_on_a_terminal_and_nowhere_else(grk: Shell) -> None:
    shown = grk.terminal("ingest", "docs", "--json", stream="stderr")
    assert re.search(r"2/2.* files .* passages .* files/s", CONTROL.sub("", shown.err))
    assert shown.json["added"] == 3
    assert grk("ingest", "docs").err == ""
    assert grk("ingest", "docs", env={"FORCE_COLOR": "1"}).err == ""


def test_progress_leaves_a_terminal_as_it_was(grk: Shell) -> None:
    shown = grk.terminal("ingest", "docs", stream="stderr").err
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l") > -1


def test_progress_survives_a_terminal_without_unicode(grk: Shell) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    grk.terminal("ingest", "docs", stream="stderr", env=ascii_only).err.encode("ascii")


def test_a_collection_keeps_the_language_it_was_made_with(grk: Shell) -> None:
    grk("ingest", "docs", "--language", "german")
    assert "german" in grk("ingest", "docs", "--language", "english", code=2).err
    assert " 2 unchanged " in grk("ingest", "docs").lines[0]
    assert grk("collections", "show", "--json").json["language"] == "german"


def test_a_collection_keeps_the_chunking_it_was_made_with(grk: Shell) -> None:
    sizes = ("--chunking", "fixed", "--chunk-size", "4", "--chunk-overlap", "1")
    grk("ingest", "docs", *sizes, "--chunk-unit", "words")
    shown = grk("collections", "show", "--json").json
    assert shown["chunking"] == {"strategy": "fixed", "size": 4, "overlap": 1, "unit": "words"}
    assert "fixed@1:4+1:words" in grk("ingest", "docs", "--chunk-size", "9", code=2).err
    assert " 2 unchanged " in grk("ingest", "docs", *sizes).lines[0]
    assert " 2 unchanged " in grk("ingest", "docs").lines[0]
    for result in grk("search", "valve", "--json").json["results"]:
        assert len(result["content"].split()) <= 5
