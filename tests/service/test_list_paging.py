"""Many collections are listed in pages, and what cannot be used is listed as that."""

import shutil
from pathlib import Path

import pytest

from tests.service.paging import pages
from tests.service.support import TRANSPORTS, desk, library

BROKEN = {"x-cut": b"SQLite format 3\x00" + bytes(84), "x-text": b"no database " * 100}


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """An index directory with 300 collections, and folders that are none or damaged."""
    index = library(tmp_path, {"a.md": "A valve.\n"}, name="c000")
    for at in range(1, 300):
        shutil.copytree(index / "c000", index / f"c{at:03}")
    for name, content in BROKEN.items():
        (index / name).mkdir()
        (index / name / "collection.db").write_bytes(content)
    (index / "empty").mkdir()
    (index / "Not A Name").symlink_to(index / "c000")
    return index


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_pages_join_to_every_name_once(many: Path, transport: str) -> None:
    with desk(many, default="c000", response_bytes=10_000) as ask:
        answers = list(pages(ask, transport, "list_collections"))
    bodies = [answer.body for answer in answers]
    listed = [each["name"] for body in bodies for each in body["collections"]]
    unusable = [(each["name"], each["code"]) for body in bodies for each in body["unusable"]]
    assert listed == [f"c{at:03}" for at in range(300)]
    assert unusable == [(name, "collection_unusable") for name in sorted(BROKEN)]
    assert [body["truncated"] for body in bodies] == [True] * (len(bodies) - 1) + [False]


def open_files() -> int:
    held = Path("/proc/self/fd")
    if not held.is_dir():
        pytest.skip("open files are counted in /proc, which this system has not")
    return len(list(held.iterdir()))


def test_listing_leaves_no_files_open(many: Path) -> None:
    with desk(many, default="c000") as ask:
        assert ask("rest", "search", query="valve").ok
        before = open_files()
        assert ask("rest", "list_collections").ok
        assert open_files() < before + 100


def test_of_many_collections_only_the_last_ones_searched_are_kept_open(many: Path) -> None:
    with desk(many, default="c000") as ask:
        before = open_files()
        for at in range(300):
            assert ask("rest", "search", query="valve", collection=f"c{at:03}").ok["results"]
        assert open_files() < before + 500


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_collection_made_or_deleted_meanwhile_breaks_no_page(many: Path, transport: str) -> None:
    with desk(many, default="c000", response_bytes=10_000) as ask:
        first = ask(transport, "list_collections").ok
        names = [each["name"] for each in first["collections"]]
        shutil.rmtree(many / names[-1])
        shutil.copytree(many / "c000", many / f"{names[-1]}.new")
        rest = ask(transport, "list_collections", cursor=first["next_cursor"]).ok
    assert [each["name"] for each in rest["collections"]][:2] == [
        f"{names[-1]}.new",
        f"c{len(names):03}",
    ]
