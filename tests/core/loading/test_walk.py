import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from groundkit_core.loading.walk import Problem, Walk
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.strategies import unhurried

NOBODY = 65534


def make(root: Path, *paths: str, **contents: str) -> Path:
    """Files with some text at the paths; `contents` are ignore files of the root by name."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x", encoding="utf-8")
    for name, content in contents.items():
        (root / f".{name}").write_text(content, encoding="utf-8")
    return root


def found(walk: Walk) -> list[str]:
    return [file.relative for file in walk.files()]


def problems(root: Path) -> dict[str, str]:
    walk = Walk(root)
    list(walk.files())
    return {problem.relative: problem.reason for problem in walk.problems}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path.resolve() / "root"


@pytest.fixture
def public_root() -> Iterator[Path]:
    """A folder that any user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()


@contextmanager
def ordinary_user() -> Iterator[None]:
    """For the superuser no folder is unreadable."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def mode(path: Path, bits: int) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(bits)
    try:
        yield
    finally:
        path.chmod(before)


def test_files_come_in_order_of_their_paths(root: Path) -> None:
    paths = ["a.md", "a/b.md", "a/b/c.md", "a0.md", "b/a.md", "c.md", "d/a.md"]
    make(root, *reversed(paths))
    assert found(Walk(root)) == sorted(paths, key=lambda path: path.split("/"))


def test_a_file_comes_with_its_place_and_stat(root: Path) -> None:
    make(root, "a/b.md")
    [file] = Walk(root).files()
    assert (file.path, file.relative) == (str(root / "a/b.md"), "a/b.md")
    assert file.stat == (root / "a/b.md").stat()


def test_hidden_entries_and_folders_of_tools_are_left_out(root: Path) -> None:
    make(
        root, ".env", ".git/config", "a/.b/c.md", "node_modules/a.md", "x/__pycache__/b.md", "a.md"
    )
    for ignore in (True, False):
        walk = Walk(root, ignore=ignore)
        assert found(walk) == ["a.md"]
        assert walk.problems == []


def test_a_collection_of_ours_is_left_out(root: Path) -> None:
    make(root, "a.md", "x/index/collection.db", "x/index/segments/b.md", "x/segments/c.md")
    assert set(found(Walk(root))) == {"a.md", "x/segments/c.md"}


def test_a_root_that_is_gone_is_a_problem(root: Path) -> None:
    walk = Walk(root / "gone")
    assert found(walk) == []
    assert [(problem.relative, problem.folder) for problem in walk.problems] == [("", True)]


def test_an_empty_folder_has_no_files(root: Path) -> None:
    assert problems(root) == {}
    assert found(Walk(root)) == []


def test_ignore_files_of_every_level_are_honoured_the_deepest_first(root: Path) -> None:
    make(
        root,
        *("a.log", "keep.log", "docs/b.log", "docs/c.md", "docs/old/d.md", "docs/old/e.log"),
        *("build/f.md", "docs/build/g.md", "src/build/h.md"),
        gitignore="*.log\n!keep.log\n/build/\n",
    )
    (root / "docs/.gitignore").write_text("!b.log\nbuild/\n")
    (root / "docs/old/.gitignore").write_text("*\n!*.md\n")
    assert set(found(Walk(root))) == {
        *("keep.log", "docs/b.log", "docs/c.md", "docs/old/d.md", "src/build/h.md")
    }


def test_groundkitignore_has_the_last_word_in_its_folder(root: Path) -> None:
    make(root, "a.md", "b.md", "c.md", gitignore="a.md\n", groundkitignore="!a.md\nb.md\n")
    assert found(Walk(root)) == ["a.md", "c.md"]


def test_ignore_files_can_be_ignored(root: Path) -> None:
    make(root, "a.md", "b/c.md", gitignore="*\n", groundkitignore="*\n")
    assert found(Walk(root)) == []
    assert set(found(Walk(root, ignore=False))) == {"a.md", "b/c.md"}


def test_what_an_ignored_folder_holds_cannot_come_back(root: Path) -> None:
    make(root, "a/b.md", "a/c/d.md", gitignore="a/\n!a/b.md\n")
    (root / "a/.gitignore").write_text("!*\n")
    assert found(Walk(root)) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["*", "!*/", "!*.md"],
        ["*", "!docs/", "!*.md"],
        ["/*", "!/docs/", "/docs/*", "!/docs/keep/"],
        ["docs/*", "!docs/"],
        ["docs/*", "!docs/keep.md"],
        ["docs", "!docs/keep.md"],
        ["*.log", "!docs/**"],
        ["**/x", "!docs/**/x"],
        ["docs/**/d.log"],
        ["# a comment", "", "\\#a", "*.md # no comment"],
        ["*.md ", "a.txt\\ "],
        ["[a-c].md", "[!a]*.txt"],
        ["!", "*.log"],
        ["foo\\", "*.log"],
        ["[z-a].md", "*.log"],
        ["\\", "*.log"],
        ["\ufeff*.log"],
    ],
    ids=" ".join,
)
def test_ignore_files_mean_what_they_mean_to_git(root: Path, lines: list[str]) -> None:
    paths = "a.md a.txt docs/b.md docs/b.txt docs/keep.md docs/keep/c.md docs/keep/c.txt docs/s/x"
    make(root, *paths.split(), "docs/s/d.log", "src/x", "src/e.md", "src/sub/e.log", "#a")
    (root / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert set(found(Walk(root))) == by_git(root)


def by_git(root: Path) -> set[str]:
    """The files that git does not ignore, of those that the walk is for."""
    if shutil.which("git") is None:
        pytest.skip("git is not here to compare with")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(
            command, env=environment, capture_output=True, check=True, text=True
        ).stdout

    git("init", "--quiet")
    listed = git("ls-files", "--others", "--exclude-standard", "-z").split("\0")
    return {path for path in listed if path and not path.rpartition("/")[2].startswith(".")}


names = st.sampled_from(["a", "b", "c.md", "d.md", "build", "docs", "x y", "a.log"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
segments = names | st.sampled_from(["*.md", "*", "?", "[ab]", "[!a]", "d*", "*.log", "\\a"])
patterns = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/", "**/"]),
    st.lists(segments, min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "", "/", "/**"]),
)


@settings(unhurried, max_examples=100)
@given(
    st.lists(paths, min_size=3, max_size=12),
    st.lists(patterns, min_size=1, max_size=4),
    st.lists(patterns, max_size=3),
)
def test_any_ignore_files_leave_out_what_git_leaves_out(
    tree: list[str], above: list[str], below: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for path in tree:
            if not any(part.exists() for part in (root / path, root / path.partition("/")[0])):
                make(root, path)
        (root / ".gitignore").write_text("\n".join(above) + "\n")
        for inner in sorted(root.iterdir()):
            if inner.is_dir():
                (inner / ".gitignore").write_text("\n".join(below) + "\n")
                break
        assert set(found(Walk(root))) == by_git(root)


def test_a_link_inside_is_left_out_because_its_target_stands_anyway(root: Path) -> None:
    make(root, "a.md", "b/c.md")
    (root / "file").symlink_to("a.md")
    (root / "folder").symlink_to("b")
    (root / "b" / "up").symlink_to("..")
    walk = Walk(root)
    assert set(found(walk)) == {"a.md", "b/c.md"}
    assert walk.problems == []


def test_links_that_leave_dangle_or_loop_are_refused(root: Path) -> None:
    make(root.parent, "secret.md", "out/secret.md", "root-2/secret.md")
    (root / "file.md").symlink_to("../secret.md")
    (root / "folder").symlink_to("../out")
    (root / "absolute.md").symlink_to(root.parent / "secret.md")
    (root / "sibling").symlink_to("../root-2")
    (root / "dangling.md").symlink_to("nowhere")
    (root / "self").symlink_to("self")
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    assert found(Walk(root)) == []
    assert problems(root) == {
        "file.md": "link that leads out of the root",
        "folder": "link that leads out of the root",
        "absolute.md": "link that leads out of the root",
        "sibling": "link that leads out of the root",
        "dangling.md": "dangling link",
        "self": "link that loops or cannot be read",
        "one": "link that loops or cannot be read",
        "two": "link that loops or cannot be read",
    }


def test_an_ignored_link_is_no_problem(root: Path) -> None:
    make(root, "a.md", gitignore="out\n")
    (root / "out").symlink_to("/")
    assert problems(root) == {}


def test_what_is_no_regular_file_is_refused(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(root / "s.md"))
        reasons = problems(root)
    assert reasons == dict.fromkeys(("pipe.md", "s.md"), "not a regular file")


def test_a_name_that_is_not_utf8_is_refused_with_its_bytes_escaped(root: Path) -> None:
    broken = [os.fsdecode(b"caf\xe9.md"), os.fsdecode(b"d\xe9/a.md")]
    make(root, *broken, "café.md", "a\nb.md", gitignore="*.log\n")
    walk = Walk(root)
    assert set(found(walk)) == {"café.md", "a\nb.md"}
    assert {(p.relative, p.reason) for p in walk.problems} == {
        ("caf\\xe9.md", "file name is not UTF-8"),
        ("d\\xe9/a.md", "file name is not UTF-8"),
    }


def test_an_unreadable_folder_is_a_problem_that_hides_what_it_holds(public_root: Path) -> None:
    make(public_root, "a.md", "b/c.md", "d/e.md")
    walk = Walk(public_root)
    with mode(public_root / "b", 0o000), ordinary_user():
        assert set(found(walk)) == {"a.md", "d/e.md"}
    assert walk.problems == [Problem("b", "unreadable folder: Permission denied", folder=True)]


def test_an_unreadable_root_is_a_problem(public_root: Path) -> None:
    make(public_root, "a.md")
    walk = Walk(public_root)
    with mode(public_root, 0o000), ordinary_user():
        assert found(walk) == []
    assert walk.problems == [Problem("", "unreadable folder: Permission denied", folder=True)]


@pytest.mark.parametrize("name", [".gitignore", ".groundkitignore"])
def test_what_an_unreadable_ignore_file_would_hide_stays_hidden(
    public_root: Path, name: str
) -> None:
    make(public_root, "a.md", "b/c.md", f"b/{name}")
    walk = Walk(public_root)
    with mode(public_root / "b" / name, 0o000), ordinary_user():
        assert found(walk) == ["a.md"]
    assert walk.problems == [Problem("b", "unreadable ignore file: Permission denied", folder=True)]


def test_an_unreadable_ignore_file_above_ends_no_run(public_root: Path) -> None:
    make(public_root, "b/.gitignore", "b/c/d.md")
    walk = Walk(public_root, "b/c")
    with mode(public_root / "b/.gitignore", 0o000), ordinary_user():
        assert found(walk) == []
    assert [problem.folder for problem in walk.problems] == [True]


def test_a_folder_that_can_be_listed_but_not_entered_is_a_problem(public_root: Path) -> None:
    make(public_root, "a.md", "b/c.md", "b/.gitignore")
    walk = Walk(public_root)
    with mode(public_root / "b", 0o444), ordinary_user():
        assert found(walk) == ["a.md"]
    assert {p.relative.partition("/")[0] for p in walk.problems} == {"b"}


def test_below_takes_one_folder_with_the_ignore_files_above_it(root: Path) -> None:
    make(root, "a.md", "b/c/d.md", "b/c/e.log", "b/c/f.txt", "b/c/g/h.log", gitignore="*.log\n")
    (root / "b/.gitignore").write_text("*.txt\n")
    (root / "b/c/g/.gitignore").write_text("!*.log\n")
    assert set(found(Walk(root, "b/c"))) == {"b/c/d.md", "b/c/g/h.log"}
    assert set(found(Walk(root, "b/c", ignore=False))) > {"b/c/e.log", "b/c/f.txt"}


def test_below_takes_one_file(root: Path) -> None:
    make(root, "a/b.md", "a/c.md")
    assert found(Walk(root, "a/b.md")) == ["a/b.md"]
    (root / "a/out.md").symlink_to("/etc/hostname")
    walk = Walk(root, "a/out.md")
    assert found(walk) == []
    assert [problem.relative for problem in walk.problems] == ["a/out.md"]


def test_below_never_leaves_the_root_by_a_link(root: Path) -> None:
    make(root.parent, "out/secret.md")
    (root / "link").symlink_to("../out")
    walk = Walk(root, "link")
    assert found(walk) == []
    assert [problem.relative for problem in walk.problems] == ["link"]


def test_folders_of_other_roots_are_skipped(root: Path) -> None:
    make(root, "a.md", "b/c.md", "b/d/e.md", "b2/f.md")
    assert set(found(Walk(root, skip={str(root / "b")}))) == {"a.md", "b2/f.md"}
    assert set(found(Walk(root, "b", skip={str(root / "b/d")}))) == {"b/c.md"}


def test_two_hundred_folders_deep_is_no_problem(root: Path) -> None:
    path = "/".join(["d"] * 200) + "/a.md"
    make(root, path)
    assert found(Walk(root)) == [path]
    assert problems(root) == {}


def test_a_path_too_long_for_the_system_is_a_problem(root: Path) -> None:
    folder = os.open(root, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=folder)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    make(root, "a.md")
    assert found(Walk(root)) == ["a.md"]
    [(_, reason)] = problems(root).items()
    assert reason == "unreadable folder: File name too long"
