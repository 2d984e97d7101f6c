"""Metadata that is given to a path holds for all documents at and beneath it, now and later."""

import os
import signal
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection
from groundkit_core.errors import IngestError, MetadataError, RetrievalError
from groundkit_core.failpoints import set_hook
from groundkit_core.retrieval.filters import Condition

from tests.core.index.support import FILES, counts, found, python, write

A, B, C, D = "docs/a.md", "docs/b.md", "docs/sub/c.txt", "docs/sub/deep/d.rst"
QUERY = "pump valve hose torque new"


def told(collection: Collection) -> dict[str, Mapping[str, Any]]:
    """Metadata by source, as a search shows it."""
    return {r.citation.source: r.metadata for r in collection.search(QUERY, top_k=100).results}


def for_all(sources: Iterable[str], metadata: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return dict.fromkeys(sources, metadata)


def test_a_later_run_without_it_gives_it_to_new_and_changed_files(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs], metadata={"lang": "en", "tags": ["x", "y"]})
    given = {"lang": "en", "tags": ("x", "y")}
    assert told(collection) == for_all([A, B, C, D], given)
    write(docs, {"new.txt": "New five.\n", "sub/new.md": "New six.\n", "a.md": "Pump other.\n"})
    collection.ingest([docs])
    sources = [A, B, C, D, "docs/new.txt", "docs/sub/new.md"]
    assert told(collection) == for_all(sources, given)
    assert collection.info().given == {"docs": given}
    assert collection.check() == []


def test_giving_it_changes_no_passage(docs: Path, collection: Collection) -> None:
    collection.ingest([docs])
    before = [r.citation for r in collection.search(QUERY).results]
    report = collection.ingest([docs], metadata={"lang": "en"})
    assert (report.count("changed"), report.added, report.dropped) == (4, 0, 0)
    assert [r.citation for r in collection.search(QUERY).results] == before


def test_giving_the_same_again_reads_nothing(aged: Callable[[], Path]) -> None:
    docs = aged()
    collection = Collection.open(docs.parent / "index" / "c")
    collection.ingest([docs], metadata={"lang": "en", "n": 1})
    database = (collection.path / "collection.db").read_bytes()
    for same in ({"lang": "en", "n": 1}, {"n": 1}, {}, {"absent": None}, None):
        report = collection.ingest([docs], metadata=same)
        assert counts(report) == {"unchanged": 4}
    assert collection.info().given == {"docs": {"lang": "en", "n": 1}}
    assert (collection.path / "collection.db").stat().st_size == len(database)
    assert counts(collection.ingest([docs], metadata={"n": 2})) == {"read": 4, "changed": 4}


def test_what_is_given_later_joins_what_was_given(docs: Path, collection: Collection) -> None:
    collection.ingest([docs], metadata={"lang": "en", "n": 1})
    collection.ingest([docs], metadata={"n": "two", "more": True})
    assert told(collection)[A] == {"lang": "en", "n": "two", "more": True}
    collection.ingest([docs], metadata={"n": None, "absent": None})
    assert told(collection)[A] == {"lang": "en", "more": True}
    collection.ingest([docs], metadata={"lang": None, "more": None})
    assert set(map(str, told(collection).values())) == {"{}"}
    assert collection.info().given == {}
    with pytest.raises(RetrievalError, match="no document has the key 'lang'"):
        collection.search("pump", filters=Condition(key="lang", exists=True))


def test_a_path_within_has_its_own_beside_that_of_the_paths_around(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs], metadata={"lang": "en", "n": 1})
    collection.ingest([docs / "sub"], metadata={"lang": "de", "deep": True})
    collection.ingest([docs / "sub" / "deep" / "d.rst"], metadata={"lang": "fr"})
    assert told(collection) == {
        A: {"lang": "en", "n": 1},
        B: {"lang": "en", "n": 1},
        C: {"lang": "de", "n": 1, "deep": True},
        D: {"lang": "fr", "n": 1, "deep": True},
    }
    collection.ingest([docs], metadata={"lang": "it"})
    langs = {source: held["lang"] for source, held in told(collection).items()}
    assert langs == {A: "it", B: "it", C: "de", D: "fr"}
    write(docs, {"sub/new.txt": "New.\n", "sub2/new.txt": "New beside.\n"})
    collection.ingest([docs])
    assert told(collection)["docs/sub/new.txt"]["lang"] == "de"
    assert told(collection)["docs/sub2/new.txt"] == {"lang": "it", "n": 1}
    collection.ingest([docs / "sub"], metadata={"lang": None})
    langs = {source: held.get("lang") for source, held in told(collection).items()}
    assert (langs[B], langs[C], langs[D]) == ("it", None, "fr")


def test_none_at_a_path_within_takes_out_what_is_given_around_it(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs], metadata={"lang": "en"})
    collection.ingest([docs / "sub"], metadata={"lang": None})
    assert told(collection) == {A: {"lang": "en"}, B: {"lang": "en"}, C: {}, D: {}}


@pytest.mark.parametrize(
    ("given", "end"),
    [
        ({"project": {"owner": "me"}}, {"project": None}),
        ({"project": {"owner": "me"}}, {"project": {"owner": None}}),
        ({"project.owner": "me"}, {"project": {"owner": None}}),
        ({5: "five"}, {5: None}),
    ],
)
def test_what_is_nested_ends_as_it_was_given(
    given: Any, end: Any, docs: Path, collection: Collection
) -> None:
    collection.ingest([docs], metadata=given)
    assert told(collection)[A] != {}
    collection.ingest([docs], metadata=end)
    assert told(collection)[A] == {}
    assert collection.info().given == {}


def test_one_file_of_several_paths_gets_it_from_its_own(docs: Path, collection: Collection) -> None:
    collection.ingest([docs / "a.md", docs / "sub"], metadata={"n": 1})
    assert told(collection) == for_all([A, C, D], {"n": 1})
    collection.ingest([docs])
    assert told(collection)[B] == {}
    assert told(collection)[A] == {"n": 1}


def test_a_name_that_begins_like_a_path_is_not_beneath_it(
    docs: Path, collection: Collection
) -> None:
    write(docs, {"sub.txt": "New one.\n", "sub2/x.txt": "New two.\n", "Sub/x.txt": "New three.\n"})
    collection.ingest([docs])
    collection.ingest([docs / "sub"], metadata={"n": 1})
    having = {source for source, held in told(collection).items() if held}
    assert having == {C, D}


def _die(at: str, name: str) -> None:
    if name == at:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_run_that_was_killed_after_recording_is_made_up_for(
    docs: Path, collection: Collection
) -> None:
    collection.ingest([docs])
    for place in ("root.noted", "file.read", "commit.rows"):
        pid = os.fork()
        if pid == 0:
            set_hook(partial(_die, place))
            Collection.open(collection.path).ingest([docs], metadata={"killed": place})
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
        assert collection.info().given == {"docs": {"killed": place}}
        assert collection.check() == []
        collection.ingest([docs])
        assert told(collection) == for_all([A, B, C, D], {"killed": place})
        assert collection.check() == []


@pytest.mark.parametrize(
    "given",
    [{"k": object()}, {"": 1}, {"k": float("inf")}, {"k": 2**63}, {"\ud800": 1}, {"k" * 101: 1}],
    ids=["object", "no key", "infinite", "big", "half", "long key"],
)
def test_what_cannot_be_stored_is_an_error_that_makes_no_collection(
    given: dict[str, object], docs: Path, collection: Collection
) -> None:
    with pytest.raises(MetadataError):
        collection.ingest([docs], metadata=given)
    assert not collection.path.exists()


def test_a_run_that_is_refused_records_nothing(tmp_path: Path) -> None:
    docs = write(tmp_path / "docs", {f"{n}.txt": f"Pump {n}.\n" for n in range(25)})
    collection = Collection.open(tmp_path / "index" / "c")
    collection.ingest([docs])
    for n in range(20):
        (docs / f"{n}.txt").unlink()
    with pytest.raises(IngestError, match="more than half"):
        collection.ingest([docs], metadata={"n": 1})
    assert collection.info().given == {}


def test_two_collections_of_one_folder_agree(docs: Path, tmp_path: Path) -> None:
    """One with a history, and one made at once in another process."""
    one = Collection.open(tmp_path / "index" / "one")
    one.ingest([docs / ".." / "docs"])
    one.ingest([docs], metadata={"lang": "xx", "n": 0})
    one.ingest([docs], metadata={"lang": "en", "n": None})
    one.ingest([docs / "sub"], metadata={"tags": ["a", "b"]})
    python(
        """
        import sys
        from pathlib import Path
        from groundkit_core import Collection
        other, docs = Collection.open(sys.argv[1]), Path(sys.argv[2])
        other.ingest([docs], metadata={"lang": "en"})
        other.ingest([docs / "sub"], metadata={"tags": ("a", "b")})
        """,
        tmp_path / "index" / "other",
        docs,
    )
    other = Collection.open(tmp_path / "index" / "other")
    assert one.search(QUERY).results == other.search(QUERY).results
    assert one.info().metadata == other.info().metadata
    assert one.info().given == other.info().given


def test_it_moves_with_a_root_that_moved(docs: Path, collection: Collection) -> None:
    collection.ingest([docs], metadata={"n": 1})
    docs.rename(docs.parent / "moved")
    collection.ingest([docs.parent / "moved"], roots={"docs": docs.parent / "moved"})
    assert told(collection) == for_all([A, B, C, D], {"n": 1})


def test_it_is_found_by_filters_and_counted(docs: Path, collection: Collection) -> None:
    collection.ingest([docs], metadata={"n": 1})
    collection.ingest([docs / "sub"], metadata={"n": "text", "deep": True})
    assert sorted(found(collection.search(QUERY, filters=Condition(key="n", equals=1)))) == [A, B]
    deep = Condition(key="deep", equals=True)
    assert sorted(found(collection.search(QUERY, filters=deep))) == [C, D]
    held = collection.info().metadata
    assert {key: (each.documents, each.kinds) for key, each in held.items()} == {
        "n": (4, ("number", "text")),
        "deep": (2, ("boolean",)),
    }
    (docs / "sub" / "c.txt").unlink()
    collection.ingest([docs])
    assert collection.info().metadata["deep"].documents == 1
    assert len(FILES) == 4
