"""Prefixes and globs read text character by character, as a user writes them."""

import time
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection, Document
from groundkit_core.retrieval.filters import Condition
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.index.support import found
from tests.core.retrieval.filtering import globs, matched

NAMES = [
    "a",
    "A",
    "a%b",
    "aXb",
    "a_b",
    "a/b.md",
    "a/c/b.md",
    "[a]",
    "a]",
    "[",
    "*",
    "?",
    "a'b",
    'a"b',
    "a\\b",
    "a\nb",
    "a b",
    "ä",
    "a\u0308",
    "茶/壶.md",
    "\U0001f600",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\U0010ffff",
    "\U0010ffff\U0010ffff",
    "\U0010ffffa",
    "docs/Report.md",
    "docs/report.md",
    "docs-2/report.md",
    "docs",
    "0",
    "-",
    "!",
    "^",
]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """A document for each name, which is its source and stands in its metadata."""
    collection = Collection.open(tmp_path_factory.mktemp("names") / "c")
    collection.add(
        [
            Document.from_text(name, f"pump {n}", metadata={"name": name})
            for n, name in enumerate(NAMES)
        ]
    )
    return collection


def passing(collection: Collection, key: str = "source", **asked: Any) -> list[str]:
    response = collection.search("pump", top_k=100, filters=Condition(key=key, **asked))
    return sorted(found(response))


PREFIXES = [*NAMES, "d", "do", "docs/", "DOCS", "a%", "a_", "\U0010fffe", "aé", "'; DROP TABLE x"]


@pytest.mark.parametrize("key", ["source", "name"])
@pytest.mark.parametrize("prefix", PREFIXES, ids=ascii)
def test_a_prefix_is_what_a_name_begins_with(prefix: str, key: str, collection: Collection) -> None:
    expected = sorted(name for name in NAMES if name.startswith(prefix))
    assert passing(collection, key, prefix=prefix) == expected


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*", NAMES),
        ("?", [name for name in NAMES if len(name) == 1]),
        ("docs/*.md", ["docs/Report.md", "docs/report.md"]),
        ("docs*report.md", ["docs/report.md", "docs-2/report.md"]),
        ("DOCS/*", []),
        ("a/*.md", ["a/b.md", "a/c/b.md"]),
        ("a%b", ["a%b"]),
        ("a_b", ["a_b"]),
        ("a?b", ["a%b", "aXb", "a_b", "a'b", 'a"b', "a\\b", "a\nb", "a b"]),
        ("a[%_]b", ["a%b", "a_b"]),
        ("a[!%_]b", ["aXb", "a'b", 'a"b', "a\\b", "a\nb", "a b"]),
        ("a[A-Z]b", ["aXb"]),
        ("a[^X]b", ["aXb"]),
        ("[a-c]", ["a"]),
        ("[c-a]", []),
        ("[!a-zA-Z0-9]", [n for n in NAMES if len(n) == 1 and n not in "aA0"]),
        ("[[]a]", ["[a]"]),
        ("[*]", ["*"]),
        ("[?]", ["?"]),
        ("[]]", []),
        ("a[]]", ["a]"]),
        ("[", ["["]),
        ("[a", []),
        ("[!", []),
        ("a\\b", ["a\\b"]),
        ("a'b", ["a'b"]),
        ("茶/?.md", ["茶/壶.md"]),
        ("\U0010ffff*", ["\U0010ffff", "\U0010ffff\U0010ffff", "\U0010ffffa"]),
        ("a.b", []),
        ("(a|b)", []),
        ("a+", []),
        ("a$", []),
    ],
)
@pytest.mark.parametrize("key", ["source", "name"])
def test_a_glob_matches_whole_names(
    glob: str, expected: list[str], key: str, collection: Collection
) -> None:
    assert passing(collection, key, glob=glob) == sorted(expected)


@settings(max_examples=150, deadline=None)
@given(glob=globs | st.lists(st.sampled_from([*"[]!-a&|~^\\*?"]), min_size=1).map("".join))
def test_any_glob_is_read_as_step_by_step(glob: str, collection: Collection) -> None:
    expected = sorted(name for name in NAMES if matched(glob, name))
    assert passing(collection, glob=glob) == expected


def test_a_glob_and_a_limit_hold_together(collection: Collection) -> None:
    assert passing(collection, glob="docs*", above="docs-2/report.md", below="docs/a") == [
        "docs/Report.md"
    ]


@pytest.mark.parametrize("glob", ["*a" * 200 + "b", "*" * 200, "*?" * 200 + "b", "[!b]*" * 150])
def test_a_glob_of_many_stars_ends_at_once_on_a_long_name(glob: str, tmp_path: Path) -> None:
    collection = Collection.open(tmp_path / "c")
    name = "a" * 9_000
    collection.add([Document.from_text(name, "pump", metadata={"name": name})])
    began = time.perf_counter()
    assert passing(collection, glob=glob) == ([] if glob.endswith("b") else [name])
    assert passing(collection, "name", glob=glob) == ([] if glob.endswith("b") else [name])
    assert time.perf_counter() - began < 5
