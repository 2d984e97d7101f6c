"""Index directories and documents, named from wherever the user stands."""

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.shell import Shell

ALL_VERIFIED = "3 verified · 0 moved · 0 drifted · 0 unresolvable\n"


def works(shell: Shell, index: str | Path | None, docs: str | Path, cwd: Path) -> None:
    """Everything verifies, and ingesting again changes nothing."""
    flags = () if index is None else ("--index-dir", index)
    assert shell("verify", "--strict", *flags, cwd=cwd).out == ALL_VERIFIED
    report = shell("ingest", docs, *flags, "--json", cwd=cwd).json
    assert (report["unchanged"], report["files"]) == (2, [])


@pytest.mark.parametrize(
    ("index", "docs"),
    [
        (None, "docs"),
        ("./a/b/idx", "./docs/../docs/"),
        ("../elsewhere/idx", "docs"),
        ("索引 ü", "docs"),
    ],
)
def test_the_same_folder_again(grk: Shell, index: str | None, docs: str) -> None:
    cwd = grk.folder / "project"
    shutil.move(grk.folder / "docs", cwd / "docs")
    flags = () if index is None else ("--index-dir", index)
    grk("ingest", docs, *flags, cwd=cwd)
    assert "[verified, " in grk("search", "ledger", *flags, cwd=cwd).lines[0]
    works(grk, index, docs, cwd)


def test_other_folders_reach_the_index_by_a_relative_or_absolute_path(grk: Shell) -> None:
    grk("ingest", "docs")
    (grk.folder / "other/deep").mkdir(parents=True)
    works(grk, "../.groundkit", ".", grk.folder / "docs")
    works(grk, "../../.groundkit", "../../docs", grk.folder / "other/deep")
    works(grk, grk.folder / ".groundkit", grk.folder / "docs", grk.folder / "other")


def test_an_index_made_from_another_folder_works_at_home(grk: Shell) -> None:
    (grk.folder / "other").mkdir()
    grk("ingest", "../docs", "--index-dir", "../.groundkit", cwd=grk.folder / "other")
    works(grk, None, "docs", grk.folder)


def test_project_and_index_may_move_together(grk: Shell, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.move(grk.folder / "docs", project / "docs")
    grk("ingest", "docs", cwd=project)
    project.rename(tmp_path / "renamed")
    works(grk, None, "docs", tmp_path / "renamed")


def test_an_index_named_by_a_detour_may_move_with_its_project(grk: Shell, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.move(grk.folder / "docs", project / "docs")
    grk("ingest", ".", "--index-dir", "../.groundkit", cwd=project / "docs")
    project.rename(tmp_path / "renamed")
    works(grk, None, "docs", tmp_path / "renamed")


def test_an_index_reached_through_a_link_and_directly_is_the_same(grk: Shell) -> None:
    disk = grk.folder / "disk/deep/index"
    disk.mkdir(parents=True)
    (grk.folder / ".groundkit").symlink_to(disk)
    grk("ingest", "docs")
    works(grk, None, "docs", grk.folder)
    works(grk, disk, "docs", grk.folder)


def test_a_working_directory_reached_through_a_link_works(grk: Shell, tmp_path: Path) -> None:
    project = tmp_path / "deep/project"
    shutil.move(grk.folder / "docs", project / "docs")
    link = tmp_path / "link"
    link.symlink_to(project)
    grk("ingest", "docs", cwd=link, env={"PWD": str(link)})
    works(grk, None, "docs", project)
    works(grk, None, link / "docs", link)


def test_the_working_directory_itself_can_be_the_documents(grk: Shell) -> None:
    docs = grk.folder / "docs"
    grk("ingest", ".", cwd=docs)
    works(grk, None, ".", docs)
    works(grk, None, docs, docs)


def test_a_folder_whose_name_is_not_utf8_is_refused_in_one_line(grk: Shell) -> None:
    folder = Path(os.fsdecode(os.fsencode(grk.folder) + b"/d\xff"))
    folder.mkdir()
    (folder / "a.txt").write_text("A page.\n")
    ran = grk("ingest", b"d\xff", "--json", code=(2, 3))
    assert "UTF-8" in ran.json["error"]["message"]
    ran = grk("ingest", b"d\xff", "--root", b"named=d\xff", code=(2, 3))
    assert len(ran.err.splitlines()) == 1
    assert not (grk.folder / ".groundkit").exists()


def test_an_index_directory_whose_name_is_not_utf8_is_named_escaped(grk: Shell) -> None:
    ran = grk("search", "x", "--index-dir", b"i\xff", code=3)
    assert "i\\udcff" in ran.err
    ran = grk("search", "x", "--index-dir", b"i\xff", "--json", code=3)
    assert "i\\udcff" in ran.json["error"]["message"]


def test_a_file_whose_name_is_not_utf8_is_refused_and_shown_escaped(grk: Shell) -> None:
    Path(os.fsdecode(os.fsencode(grk.folder) + b"/docs/a\xff.txt")).write_text("A page.\n")
    ran = grk("ingest", "docs", code=1)
    assert ran.lines[2:] == [r"refused docs/a\xff.txt: file name is not UTF-8"]
    (outcome,) = grk("ingest", "docs", "--json", code=1).json["files"]
    assert outcome["source"] == r"docs/a\xff.txt"
