"""Named roots: labels, nesting, moving."""

import shutil
from pathlib import Path

import pytest
from groundkit_core import Collection, GroundkitError
from groundkit_core.errors import ConfigurationError

from tests.core.index.support import cited, documents, found, python, statuses, write


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return Collection.open(tmp_path / "index" / "c")


def sources(collection: Collection) -> set[str]:
    return {citation.source for citation in cited(collection).values()}


def test_a_source_is_the_folders_name_and_the_path_below_it(
    tmp_path: Path, collection: Collection
) -> None:
    collection.ingest([write(tmp_path / "my docs", {"sub/ä.md": "Pump.\n"})])

    assert sources(collection) == {"my docs/sub/ä.md"}
    assert collection.roots() == {"my docs": tmp_path / "my docs"}


def test_the_same_folder_elsewhere_has_the_same_ids(tmp_path: Path) -> None:
    files = {"a.md": "# A\n\nPump.\n\n# B\n\nPump.\n", "b/c.txt": "Valve.\n"}
    held = []
    for place in ("one", "two"):
        collection = Collection.open(tmp_path / place / "index" / "c")
        collection.ingest([write(tmp_path / place / "docs", files)])
        held.append([p for document in collection.passages() for p in document])

    assert held[0] == held[1]


def test_two_folders_of_one_name_need_a_label(tmp_path: Path, collection: Collection) -> None:
    one = write(tmp_path / "one" / "docs", {"a.md": "Pump one.\n"})
    two = write(tmp_path / "two" / "docs", {"a.md": "Pump two.\n"})
    collection.ingest([one])
    with pytest.raises(ConfigurationError, match=f"--root LABEL={two}"):
        collection.ingest([two])
    collection.ingest([two], roots={"second": two})

    assert sources(collection) == {"docs/a.md", "second/a.md"}
    assert set(statuses(collection)) == {"verified"}
    assert collection.ingest([one, two]).unchanged == 2


def test_a_given_label_names_a_folder(tmp_path: Path, collection: Collection) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n"})
    collection.ingest([docs], roots={"manual": docs})

    assert sources(collection) == {"manual/a.md"}
    assert set(statuses(collection)) == {"verified"}


@pytest.mark.parametrize("label", ["a/b", "", "/"])
def test_a_label_that_no_source_could_hold_is_refused(
    label: str, tmp_path: Path, collection: Collection
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n"})
    with pytest.raises(ConfigurationError):
        collection.ingest([docs], roots={label: docs})


def test_a_label_names_no_file(tmp_path: Path, collection: Collection) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n"})
    with pytest.raises(GroundkitError):
        collection.ingest([docs / "a.md"], roots={"manual": docs / "a.md"})


def test_a_folder_has_one_label(tmp_path: Path, collection: Collection) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n"})
    collection.ingest([docs])
    with pytest.raises(ConfigurationError):
        collection.ingest([docs], roots={"manual": docs})
    with pytest.raises(ConfigurationError):
        Collection.open(tmp_path / "index" / "d").ingest([docs], roots={"x": docs, "y": docs})


def test_a_root_within_a_root_keeps_its_files(tmp_path: Path, collection: Collection) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n", "sub/b.md": "Valve.\n"})
    collection.ingest([docs / "sub"])
    report = collection.ingest([docs])

    assert sources(collection) == {"docs/a.md", "sub/b.md"}
    assert (report.count("indexed"), report.unchanged) == (1, 1)
    assert set(statuses(collection)) == {"verified"}
    (docs / "sub" / "b.md").unlink()
    assert [o.source for o in collection.ingest([docs]).files] == ["sub/b.md"]


def test_a_folder_within_a_root_is_no_root_of_its_own(
    tmp_path: Path, collection: Collection
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n", "sub/b.md": "Valve.\n"})
    collection.ingest([docs])
    report = collection.ingest([docs / "sub"])

    assert report.unchanged == 1
    assert list(collection.roots()) == ["docs"]
    assert sources(collection) == {"docs/a.md", "docs/sub/b.md"}


@pytest.mark.parametrize("turned", [False, True])
def test_the_order_of_paths_does_not_change_sources(
    turned: bool, tmp_path: Path, collection: Collection
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n", "sub/b.md": "Valve.\n"})
    paths = [docs, docs / "sub"]
    collection.ingest(paths[::-1] if turned else paths)

    assert sources(collection) == {"docs/a.md", "docs/sub/b.md"}


def test_a_path_through_a_link_is_the_folder_it_leads_to(
    tmp_path: Path, collection: Collection
) -> None:
    docs = write(tmp_path / "real" / "docs", {"a.md": "Pump.\n"})
    (tmp_path / "link").symlink_to(docs)
    collection.ingest([docs])
    report = collection.ingest([tmp_path / "link"])

    assert report.unchanged == 1
    assert collection.roots() == {"docs": docs}


def test_a_link_given_by_itself_is_not_passed_over_in_silence(
    tmp_path: Path, collection: Collection
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n"})
    (docs / "link.md").symlink_to(docs / "a.md")
    report = collection.ingest([docs / "link.md"])

    assert len(report.files) == 1


def test_a_project_that_was_moved_with_its_index_verifies(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / "docs", {"a.md": "Pump.\n"})
    Collection.open(project / ".groundkit" / "default").ingest([project / "docs"])
    moved = tmp_path / "elsewhere" / "renamed"
    moved.parent.mkdir()
    project.rename(moved)
    collection = Collection.open(moved / ".groundkit" / "default")

    assert collection.roots() == {"docs": moved / "docs"}
    assert statuses(collection) == ["verified"]
    assert collection.ingest([moved / "docs"]).unchanged == 1


def test_an_index_moved_alone_is_pointed_to_its_documents(tmp_path: Path) -> None:
    docs = write(tmp_path / "far" / "docs", {"a.md": "Pump.\n"})
    Collection.open(tmp_path / "index" / "c").ingest([docs])
    shutil.move(docs, tmp_path / "manuals")

    stale = Collection.open(tmp_path / "index" / "c")
    pointed = Collection.open(tmp_path / "index" / "c", roots={"docs": tmp_path / "manuals"})
    unknown = Collection.open(tmp_path / "index" / "c", roots={"dosc": tmp_path / "manuals"})
    assert statuses(stale) == ["unresolvable"]
    assert statuses(pointed) == ["verified"]
    with pytest.raises(ConfigurationError, match="docs"):
        unknown.search("pump", verify=True)


def test_a_re_pointed_root_is_synced_under_its_label(
    tmp_path: Path, collection: Collection
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n", "b.md": "Valve.\n"})
    collection.ingest([docs])
    shutil.move(docs, tmp_path / "manuals")
    (tmp_path / "manuals" / "b.md").unlink()
    report = collection.ingest([tmp_path / "manuals"], roots={"docs": tmp_path / "manuals"})

    assert [(o.source, o.status) for o in report.files] == [("docs/b.md", "removed")]
    assert report.unchanged == 1
    assert collection.roots() == {"docs": tmp_path / "manuals"}


def test_paths_are_taken_from_the_working_directory(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "Pump.\n"})
    (tmp_path / "other").mkdir()
    said = python(
        """
        import os, sys
        from groundkit_core import Collection
        os.chdir(sys.argv[1])
        collection = Collection.open(".groundkit/default")
        collection.ingest(["docs"])
        os.chdir("other")
        print([r.verification.status for r in collection.search("pump", verify=True).results])
        again = Collection.open("../.groundkit/default")
        print([r.verification.status for r in again.search("pump", verify=True).results])
        print(again.ingest(["../docs"]).unchanged, again.roots() == collection.roots())
        """,
        tmp_path,
    )

    assert said.splitlines() == ["['verified']", "['verified']", "1 True"]


def test_a_root_whose_label_covers_given_documents_is_refused(
    tmp_path: Path, collection: Collection
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n"})
    collection.add(documents({"docs/row 1": "Valve.", "docsy": "Hose."}))
    with pytest.raises(ConfigurationError, match="docs/row 1"):
        collection.ingest([docs])
    assert collection.roots() == {}
    collection.ingest([docs], roots={"files": docs})

    assert sources(collection) == {"docs/row 1", "docsy", "files/a.md"}


@pytest.mark.parametrize("source", ["docs/a.md", "docs/new.md", "docs", "docs/"])
def test_given_documents_keep_out_of_a_root(
    source: str, tmp_path: Path, collection: Collection
) -> None:
    collection.ingest([write(tmp_path / "docs", {"a.md": "Pump.\n"})])
    with pytest.raises(ConfigurationError, match=source):
        collection.add(documents({"row": "Valve.", source: "Hose."}))

    assert sources(collection) == {"docs/a.md"}
    assert found(collection.search("valve hose")) == []


def test_syncing_a_root_leaves_given_documents_alone(
    tmp_path: Path, collection: Collection
) -> None:
    docs = write(tmp_path / "docs", {"a.md": "Pump.\n"})
    collection.add(documents({"row": "Valve."}))
    collection.ingest([docs])
    (docs / "a.md").unlink()
    collection.ingest([docs])

    assert sources(collection) == {"row"}
