"""`grk search --rerank`, with a cross-encoder whose scores are known."""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Invoke
from tests.cli.shell import Shell
from tests.core.rerankers.cross_encoder import expected, save_model, save_tokenizer

WORDS = ["w1", "w2"]
QUERY = " ".join(WORDS)
RERANK = ("--rerank", "--rerank-model", "model")
PASSAGES = (
    "w1",
    "w2 w3 w4",
    "w1 w1 w1 w1 w5 w6 w7 w8 w9 w10 w11 w12",
    "w1 w2 w13 w14",
    "w2 w2 w2 w15 w16 w17 w18 w19",
)


def search(shell: Shell, *args: str) -> dict[str, Any]:
    response: dict[str, Any] = shell("search", QUERY, "--json", *args).json
    return response


def score(result: dict[str, Any]) -> float:
    return expected(WORDS, result["content"].split())


@pytest.fixture(scope="session")
def _ranked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shell = Shell(tmp_path_factory.mktemp("ranked"))
    (shell.folder / "model").mkdir()
    save_tokenizer(shell.folder / "model")
    save_model(shell.folder / "model")
    for number, passage in enumerate(PASSAGES):
        shell.write(f"docs/{number}.txt", passage)
    shell("ingest", "docs", "--dense", "--embed-provider", "inmemory", "--language", "none")
    return shell.folder


@pytest.fixture
def ranked(_ranked: Path, tmp_path: Path) -> Shell:
    """A shell in a folder with five indexed passages and a cross-encoder in `model`."""
    shutil.copytree(_ranked, tmp_path, dirs_exist_ok=True)
    return Shell(tmp_path)


@pytest.mark.parametrize("mode", ["bm25", "hybrid"])
def test_results_come_in_the_order_of_the_cross_encoder_and_keep_how_they_were_found(
    ranked: Shell, mode: str
) -> None:
    plain, response = search(ranked, "--mode", mode), search(ranked, "--mode", mode, *RERANK)
    found = {result["citation"]["chunk_id"]: result for result in plain["results"]}
    order = sorted(plain["results"], key=score, reverse=True)
    assert all(score(first) - score(second) > 0.0001 for first, second in pairwise(order))
    assert order != plain["results"]
    assert [result["content"] for result in response["results"]] == [
        result["content"] for result in order
    ]
    for rank, result in enumerate(response["results"], 1):
        place = result["components"].pop("rerank")
        assert place == {"rank": rank, "score": pytest.approx(score(result), abs=1e-5)}
        assert result == {**found[result["citation"]["chunk_id"]], "rank": rank}
    assert response | {"results": []} == plain | {"results": []}


def test_the_best_are_chosen_after_reranking(ranked: Shell) -> None:
    best = max(search(ranked)["results"], key=score)
    (first,) = search(ranked, "-k", "1")["results"]
    assert first["content"] != best["content"]
    response = search(ranked, "-k", "1", *RERANK)
    (first,) = response["results"]
    assert (first["content"], response["top_k"]) == (best["content"], 1)


def test_the_place_is_explained(ranked: Shell) -> None:
    first, *_ = search(ranked, *RERANK)["results"]
    ran = ranked("search", QUERY, "-k", "1", "--explain", *RERANK)
    assert ran.lines[1] == f"   places: rerank 1 ({score(first):.2f})"


def test_a_search_without_hits_asks_no_cross_encoder(ranked: Shell) -> None:
    ran = ranked("search", "zebra", *RERANK)
    assert (ran.out, ran.err) == ("", "no passage holds a word of the query\n")


@pytest.mark.parametrize("args", [RERANK[:1], RERANK[1:]], ids=["no model", "no wish"])
def test_either_option_needs_the_other(invoke: Invoke, args: tuple[str, ...]) -> None:
    ran = invoke("search", "x", *args)
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert "--rerank" in line
    assert "--rerank-model" in line


@pytest.mark.parametrize("top_k", ["0", "101"])
def test_a_number_of_results_out_of_range_is_refused(ranked: Shell, top_k: str) -> None:
    ran = ranked("search", QUERY, "-k", top_k, *RERANK, code=2)
    assert ran.err == f"grk: top_k is {top_k}, it must be 1 to 100\n"


def test_what_a_reranker_lacks_is_named_in_one_line(ranked: Shell) -> None:
    env = ranked.at_startup("import sys\nsys.modules['onnxruntime'] = None\n")
    ran = ranked("search", QUERY, *RERANK, env=env, code=4)
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert "pip install 'groundkit-core[onnx]'" in line
    (ranked.folder / "model/model.onnx").unlink()
    ran = ranked("search", QUERY, *RERANK, code=4)
    (line,) = ran.err.splitlines()
    assert line.startswith("grk: model: there is no model.onnx")
    assert ranked("search", QUERY).out
