"""Vectors from the command line: making them, changing them, searching and answering with them."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from groundkit_core.embedders.static import STATIC_MODEL
from groundkit_core.index.collection import Collection
from groundkit_providers.answer import AnswerReport

from tests.cli.answering_helpers import QUERY, ask
from tests.cli.shell import Shell
from tests.cli.test_escaping import BIDI, forbidden
from tests.cli.test_offline import WATCH

pytest.importorskip("faiss", reason="groundkit-core[dense] is missing")
pytest.importorskip("safetensors", reason="groundkit-core[static] is missing")

INMEMORY = ("--dense", "--embed-provider", "inmemory")
STATIC = f"static {STATIC_MODEL} (256 dimensions)"
HASHED = "inmemory hashed-terms (64 dimensions)"
SMALL = "inmemory hashed-terms (32 dimensions)"
REINDEX = ("collections", "reindex", "--embed-provider", "inmemory", "--embed-dimensions", "32")
VECTORS = ("embedding", "vectors", "vector_index")
RRF_K = 60


def without(module: str) -> str:
    return f"import sys\nsys.modules[{module!r}] = None\n"


def shown(shell: Shell, *names: str) -> list[Any]:
    """These facts of the collection."""
    with Collection.open(shell.folder / ".groundkit/default") as collection:
        info = collection.info()
    return [getattr(info, name) for name in names]


def found(shell: Shell, mode: str, *args: str, query: str = QUERY) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = shell("search", query, "--mode", mode, "--json", *args).json[
        "results"
    ]
    return results


@pytest.fixture(scope="session")
def _vectored(_ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectored")
    shutil.copytree(_ingested, folder, dirs_exist_ok=True)
    Shell(folder)("ingest", "docs", *INMEMORY)
    return folder


@pytest.fixture
def vectored(_vectored: Path, tmp_path: Path) -> Shell:
    """As `indexed`, with vectors of the in-memory embedder."""
    shutil.copytree(_vectored, tmp_path, dirs_exist_ok=True)
    return Shell(tmp_path)


def test_passages_are_embedded_once_and_later_only_what_is_new(grk: Shell) -> None:
    ran = grk("ingest", "docs", "--dense")
    assert ran.lines[2:] == ["vectors: 3 texts embedded"]
    assert shown(grk, *VECTORS) == [STATIC, 3, "scan"]
    assert grk("ingest", "docs", "--dense", "--json").json["embedded"] == 0
    grk.write("docs/more.txt", "A spare gasket lies in the drawer.\n")
    grk.write("docs/copy.txt", "A spare gasket lies in the drawer.\n")
    report = grk("ingest", "docs", "--dense", "--json").json
    assert (report["added"], report["embedded"], report["warnings"]) == (2, 1, [])
    assert shown(grk, "chunks", "vectors") == [5, 4]


def test_a_collection_without_vectors_gets_them(indexed: Shell) -> None:
    assert shown(indexed, *VECTORS) == [None, 0, None]
    report = indexed("ingest", "docs", *INMEMORY, "--json").json
    assert (report["added"], report["embedded"]) == (0, 3)
    assert shown(indexed, *VECTORS) == [HASHED, 3, "scan"]
    lines = indexed("collections", "show").lines
    for line in (f"embedding     {HASHED}", "vectors       3", "vector index  scan"):
        assert line in lines


def test_a_passage_without_a_vector_is_warned_of_and_found_by_its_words(vectored: Shell) -> None:
    vectored.write("docs/more.txt", "A spare gasket.\n")
    vectored.write("docs/other.txt", "A spare washer.\n")
    ran = vectored("ingest", "docs")
    assert ran.err == "warning: 2 passages have no vector; --dense makes them\n"
    hybrid = found(vectored, "hybrid", query="gasket")
    (by_word,) = (result for result in hybrid if "bm25" in result["components"])
    assert (by_word["content"], len(by_word["components"])) == ("A spare gasket.", 1)
    assert len(hybrid) == 4


@pytest.mark.parametrize(
    "command", [("ingest", "docs", "--dense"), ("search", "x", "--mode", "hybrid")]
)
def test_another_embedder_is_refused_in_one_line_with_the_way_out(
    vectored: Shell, command: tuple[str, ...]
) -> None:
    ran = vectored(*command, "--embed-provider", "static", code=3)
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    for part in (HASHED, STATIC, "grk collections reindex default"):
        assert part in line
    error = vectored(*command, "--embed-provider", "static", "--json", code=3).json["error"]
    assert error["type"] == "CollectionIncompatibleError"
    assert [f"grk: {error['message']}"] == [line]


def test_a_mismatch_of_equal_dimensions_is_refused_too(vectored: Shell) -> None:
    model = ("--embed-provider", "inmemory", "--embed-model", "another")
    ran = vectored("search", QUERY, "--mode", "dense", *model, code=3)
    assert HASHED in ran.err
    assert "inmemory another (64 dimensions)" in ran.err
    assert "Stop" in vectored("search", QUERY).out


def test_reindex_swaps_the_vectors_and_a_search_needs_no_flag(vectored: Shell) -> None:
    before = [result["score"] for result in found(vectored, "dense")]
    ran = vectored(*REINDEX)
    assert (ran.out, ran.err) == (f"3 vectors from {SMALL}\n", "")
    assert shown(vectored, *VECTORS) == [SMALL, 3, "scan"]
    after = [result["score"] for result in found(vectored, "dense")]
    assert len(after) == 3
    assert before != after
    info = vectored(*REINDEX, "--json").json
    assert [info[name] for name in VECTORS] == [SMALL, 3, "scan"]
    assert vectored("ingest", "docs", "--dense", "--json").json["embedded"] == 0


def test_reindex_with_another_model_of_the_double_needs_no_flag_afterwards(
    vectored: Shell,
) -> None:
    model = ("--embed-provider", "inmemory", "--embed-model", "another")
    vectored("collections", "reindex", *model)
    assert len(found(vectored, "dense")) == 3


def test_reindex_keeps_the_provider_unless_another_is_named(vectored: Shell) -> None:
    vectored("collections", "reindex", "--embed-dimensions", "128")
    assert shown(vectored, "embedding") == ["inmemory hashed-terms (128 dimensions)"]


def test_reindex_makes_the_first_vectors_too(indexed: Shell) -> None:
    indexed(*REINDEX)
    assert shown(indexed, *VECTORS) == [SMALL, 3, "scan"]


def test_reindex_of_the_language_leaves_the_vectors(vectored: Shell) -> None:
    vectored("collections", "reindex", "--language", "german")
    assert shown(vectored, "language", *VECTORS) == ["german", HASHED, 3, "scan"]


def test_hybrid_is_the_sum_of_reciprocal_ranks_with_the_places_in_both(vectored: Shell) -> None:
    by_mode = {mode: found(vectored, mode) for mode in ("bm25", "dense")}
    expected: dict[str, dict[str, Any]] = {}
    for mode, results in by_mode.items():
        assert [result["components"] for result in results] == [{}] * len(results)
        for rank, result in enumerate(results, 1):
            place = {"rank": rank, "score": result["score"]}
            expected.setdefault(result["citation"]["chunk_id"], {})[mode] = place
    assert sorted(map(len, expected.values())) == [1, 2, 2]
    hybrid = found(vectored, "hybrid")
    assert {r["citation"]["chunk_id"]: r["components"] for r in hybrid} == expected
    sums = [sum(1 / (RRF_K + part["rank"]) for part in r["components"].values()) for r in hybrid]
    assert [result["score"] for result in hybrid] == pytest.approx(sums)
    assert sums == sorted(sums, reverse=True)
    assert {result["verification"]["status"] for result in hybrid} == {"verified"}


def test_places_are_explained_on_request(vectored: Shell) -> None:
    result, *_ = found(vectored, "hybrid")
    words, vectors = result["components"]["bm25"], result["components"]["dense"]
    query = ("search", QUERY, "--mode", "hybrid", "-k", "1")
    places = (
        f"   places: bm25 {words['rank']} ({words['score']:.2f}), "
        f"dense {vectors['rank']} ({vectors['score']:.2f})\n"
    )
    plain, explained = vectored(*query).out, vectored(*query, "--explain").out
    assert plain.startswith(
        f"1. docs/pump.md:7-9  Pump manual › Stop  [verified, score {result['score']:.4f}]\n"
    )
    head, _, rest = plain.partition("\n")
    named = f"   id: {result['citation']['chunk_id']}\n"
    assert explained == f"{head}\n{places}{named}{rest}"


def test_a_least_similarity_keeps_distant_passages_out(vectored: Shell) -> None:
    near = found(vectored, "dense")
    least = near[0]["score"] - 0.01
    assert near[1]["score"] < least
    assert found(vectored, "dense", "--min-similarity", str(least)) == near[:1]
    words = {result["citation"]["chunk_id"] for result in found(vectored, "bm25")}
    hybrid = found(vectored, "hybrid", "--min-similarity", str(least))
    assert {result["citation"]["chunk_id"] for result in hybrid} == words
    assert [sorted(result["components"]) for result in hybrid] == [["bm25", "dense"], ["bm25"]]


def test_a_search_that_abstains_succeeds_with_a_note(vectored: Shell) -> None:
    query = ("search", "zebra", "--mode", "hybrid", "--min-similarity", "0.9")
    ran = vectored(*query)
    assert (ran.out, ran.err) == ("", "no passage is near enough to the query\n")
    ran = vectored(*query, "--json")
    assert (ran.json["results"], ran.err) == ([], "")


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_collection_without_vectors_names_the_command_that_makes_them(
    indexed: Shell, mode: str
) -> None:
    ran = indexed("search", QUERY, "--mode", mode, code=2)
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert "grk ingest" in line
    assert "--dense" in line


def test_an_answer_is_made_from_the_passages_of_its_mode_and_verifies(vectored: Shell) -> None:
    args = ("--mode", "hybrid", "--json")
    ran = ask(vectored, "It stops [1]. The ledger is safe [3].", args=args)
    report = AnswerReport.model_validate_json(ran.out)
    assert ran.json["results"] == found(vectored, "hybrid")
    assert len(report.citations) == 2
    vectored.write("answer.json", ran.out)
    assert vectored("verify", "answer.json").code == 0
    least = ("--mode", "dense", "--min-similarity", "0.99")
    assert ask(vectored, "It stops [1].", args=least, code=5).out == ""


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("faiss", "groundkit-core[dense]"),
        ("safetensors", "groundkit-core[static]"),
    ],
)
def test_a_missing_extra_names_the_command_that_installs_it(
    grk: Shell, module: str, extra: str
) -> None:
    env = grk.at_startup(without(module))
    ran = grk("ingest", "docs", "--dense", env=env, code=4)
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert f"pip install '{extra}'" in line


def test_missing_word_vectors_are_named_before_any_work(grk: Shell) -> None:
    source = (
        "from importlib import util\nfind = util.find_spec\n"
        "util.find_spec = lambda n, *a: None if n == 'wordllama' else find(n, *a)\n"
    )
    ran = grk("ingest", "docs", "--dense", env=grk.at_startup(source), code=4)
    (line,) = ran.err.splitlines()
    assert "wordllama" in line
    assert "pip install 'groundkit-core[static]'" in line
    assert not (grk.folder / ".groundkit").exists()


def test_what_needs_no_vector_works_without_faiss_beside_vectors(vectored: Shell) -> None:
    vectored.write("docs/more.txt", "A spare gasket.\n")
    env = vectored.at_startup(without("faiss"))
    assert "pip install" in vectored("search", QUERY, "--mode", "dense", env=env, code=4).err
    assert vectored("search", QUERY, env=env).out
    vectored("ingest", "docs", env=env)
    assert "gasket" in vectored("search", "gasket", env=env).out
    for command in ("verify", "doctor", "collections show", "collections reindex"):
        vectored(*command.split(), env=env)


def test_a_document_can_be_removed_without_faiss(grk: Shell) -> None:
    grk("ingest", "docs", *INMEMORY)
    (grk.folder / "docs/notes.txt").unlink()
    report = grk("ingest", "docs", "--json", env=grk.at_startup(without("faiss"))).json
    assert report["dropped"] == 1
    assert shown(grk, "chunks", "vectors") == [2, 2]


def test_vectors_are_made_and_searched_without_a_network(grk: Shell) -> None:
    env = grk.at_startup(WATCH)
    for command in (
        ("ingest", "docs", "--dense"),
        ("search", QUERY, "--mode", "hybrid"),
        ("search", QUERY, "--mode", "dense", "--json"),
        ("collections", "reindex", "--embed-dimensions", "64"),
    ):
        ran = grk(*command, env=env)
        assert ran.out
        assert "NETWORK" not in ran.err


def test_progress_on_a_terminal_does_not_disturb_the_document(grk: Shell) -> None:
    ran = grk.terminal("ingest", "docs", *INMEMORY, "--json", stream="stderr")
    assert ran.json["embedded"] == 3
    assert "vectors" in ran.err


def test_a_name_of_a_model_cannot_control_the_terminal(indexed: Shell) -> None:
    evil = f"red\x1b[31m\x07\n{BIDI}"
    model = ("--embed-provider", "inmemory", "--embed-model", evil)
    runs = [
        indexed("collections", "reindex", *model),
        indexed("collections", "show"),
        indexed("ingest", "docs", "--dense", "--embed-provider", "static", code=3),
        indexed("search", "x", "--mode", "dense", "--embed-provider", "static", code=3),
    ]
    for ran in runs:
        assert "red\\x1b[31m\\x07\\n\\u202a" in ran.out + ran.err
        assert forbidden(ran.out + ran.err) == []
    assert shown(indexed, "embedding") == [f"inmemory {evil} (64 dimensions)"]
