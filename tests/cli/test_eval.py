"""`grk eval`: what it measures, writes and prints, and what it refuses."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from groundkit_cli.documents import Failure
from groundkit_evals.artifacts import ECHO, LATEST, PAGE, read_artifact
from groundkit_evals.echo import EchoReport
from groundkit_evals.plants import PLANTS
from groundkit_evals.runner import STRUCTURAL
from groundkit_evals.schema import EvalReport
from groundkit_evals.summary import mean_of

from tests.cli.answering_helpers import answered, openai
from tests.cli.conftest import Invoke
from tests.cli.shell import Ran, Shell, tree
from tests.cli.test_escaping import KINDS, forbidden
from tests.cli.test_offline import WATCH
from tests.providers.embed_dialects import EMBED_DIALECTS, sent_texts, serving
from tests.providers.faulty_server import FaultyServer
from tests.providers.test_judge import FAITHFUL, INVALID, UNFAITHFUL

CANARY = "canary-7319"
CORPUS = {
    "pump.md": "# Pump\n\nThe pump starts at 40 bar.\n",
    "valve.md": "# Valve\n\nThe valve of the pump opens slowly.\n",
}
JUDGMENTS: list[dict[str, Any]] = [
    {
        "id": "bar",
        "kind": "normal",
        "query": "How much pressure is at the pump?",
        "gold": [{"source": "pump.md", "quote": "starts at 40 bar"}],
    },
    {"id": "cup", "kind": "no_answer", "query": "Who won that cup?", "gold": []},
    {"id": "red", "kind": "no_answer", "query": "Which colour has the valve?", "gold": []},
]
SILENT = "The sources do not say."
ECHOES = [SILENT] * len(PLANTS)
REPLIES = ("It starts at 40 bar [1].", SILENT, *ECHOES)
SCRIPTED = ("--synthesis", "--chat-provider", "scripted", "--chat-script", "replies.json")
INMEMORY = ("--dense", "--embed-provider", "inmemory")
SET = ("--dataset", "set", "--results", "results")


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def write_set(shell: Shell, name: str = "set", **rows: Any) -> None:
    """A set with quotes as gold, in a folder of this name."""
    for file, text in CORPUS.items():
        shell.write(f"{name}/corpus/{file}", text)
    shell.write(f"{name}/judgments.jsonl", lines(rows.get("judgments", JUDGMENTS)))


@pytest.fixture
def golden(tmp_path: Path) -> Shell:
    """A shell in a folder with a labelled set in `set`, its answers scripted."""
    shell = Shell(tmp_path)
    write_set(shell)
    shell.write("replies.json", json.dumps(REPLIES))
    return shell


@pytest.fixture
def beir(tmp_path: Path) -> Shell:
    """A shell in a folder with a set in BEIR's form in `set`."""
    shell = Shell(tmp_path)
    documents = [{"_id": name, "text": text} for name, text in CORPUS.items()]
    queries = [{"_id": row["id"], "text": row["query"]} for row in JUDGMENTS]
    shell.write("set/corpus.jsonl", lines(documents))
    shell.write("set/queries.jsonl", lines(queries))
    shell.write("set/qrels.tsv", "query-id\tcorpus-id\tscore\nbar\tpump.md\t1\n")
    return shell


@pytest.fixture(scope="session")
def _measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shell = Shell(tmp_path_factory.mktemp("measured"))
    write_set(shell)
    shell("eval", *SET)
    return shell.folder


@pytest.fixture
def measured(_measured: Path, tmp_path: Path) -> Shell:
    """A shell in a folder with a set and the results of a run."""
    shutil.copytree(_measured, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "results/index")
    return Shell(tmp_path)


def latest(shell: Shell, results: str = "results") -> EvalReport:
    return read_artifact(shell.folder / results / LATEST, EvalReport)


def written(shell: Shell, results: str = "results") -> set[str]:
    """What stands directly in the results, but for a page, which needs an extra."""
    return {path.name for path in (shell.folder / results).iterdir()} - {PAGE}


def shown(ran: Ran, stage: str, metric: str) -> str:
    """A mean in the table of all stages."""
    rows = {cells[0]: cells for line in reversed(ran.lines) if (cells := line.split())}
    return rows[metric][rows["mean"].index(stage)]


def test_a_set_with_quotes_is_measured_by_words(golden: Shell) -> None:
    ran = golden("eval", *SET)
    report = latest(golden)
    assert ran.lines[0] == "set: 2 documents, 2 passages, 3 queries"
    for name in ("ndcg@10", "mrr", "recall@5", "span_recall@5", "abstention"):
        assert shown(ran, "bm25", name) == f"{mean_of(report, 'bm25', name):.3f}"
    assert [query.id for query in report.queries] == ["bar", "cup", "red"]
    assert [stage.stage for stage in report.stages] == ["bm25"]
    assert (report.warnings, report.synthesis) == ((), None)
    assert written(golden) == {LATEST, "index"}
    assert f"written to results: {LATEST}" in ran.err
    assert "warning" not in ran.err


def test_a_set_in_beirs_form_is_measured(beir: Shell) -> None:
    ran = beir("eval", *SET)
    assert ran.lines[0] == "set: 2 documents, 2 passages, 1 queries"
    report = latest(beir)
    assert mean_of(report, "bm25", "recall@5") == 1
    assert [expected.unit for expected in report.queries[0].expected] == ["pump.md"]
    assert written(beir) == {LATEST, "index"}


def test_the_set_of_a_clone_is_the_default(golden: Shell) -> None:
    (golden.folder / "set").rename(golden.folder / "evals")
    golden("eval")
    assert latest(golden, "evals/results").dataset.name == "evals"


@pytest.mark.parametrize("args", [(), SET, ("--dataset", "home"), SCRIPTED], ids=str)
def test_without_a_set_it_is_said_what_one_is_and_nothing_is_created(
    grk: Shell, args: tuple[str, ...]
) -> None:
    grk.write("replies.json", "[]")
    before = tree(grk.folder)
    ran = grk("eval", *args, code=3)
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    folder = args[1] if "--dataset" in args else "evals"
    assert line.startswith(f"grk: {folder}: no labelled set is here; it needs corpus/ and judg")
    assert tree(grk.folder) == before


def test_json_is_the_report_and_nothing_else(golden: Shell) -> None:
    ran = golden("eval", *SET, "--json")
    assert EvalReport.model_validate_json(ran.out) == latest(golden)
    assert ran.json == json.loads((golden.folder / "results" / LATEST).read_bytes())
    *_, line = ran.err.splitlines()  # without the extra a line says so
    assert line.startswith("written to results: ")


def test_progress_on_a_terminal_does_not_disturb_the_document(golden: Shell) -> None:
    args = (*SET, *SCRIPTED, "--json")
    ran = golden.terminal("eval", *args, stream="stderr")
    assert EvalReport.model_validate_json(ran.out).synthesis


def test_nothing_but_a_model_is_reached_over_the_network(golden: Shell) -> None:
    env = golden.at_startup(WATCH)
    for args in ((), SCRIPTED):
        assert "NETWORK" not in golden("eval", *SET, *args, env=env).err


def indexes(shell: Shell) -> int:
    return len(list((shell.folder / "results/index").iterdir()))


def test_settings_are_recorded_and_each_has_an_index_of_its_own(golden: Shell) -> None:
    golden("eval", *SET)
    golden.write("groundkit.toml", "[chunking]\nsize = 90\n")
    golden("eval", *SET)
    config = latest(golden).config
    assert (config.chunking.size, config.language, indexes(golden)) == (90, "english", 2)
    golden.write("groundkit.toml", '[index]\nlanguage = "german"\n')
    golden("eval", *SET)
    config = latest(golden).config
    assert (config.chunking.size, config.language, indexes(golden)) == (200, "german", 3)
    golden("eval", *SET, "--chunk-size", "90", "--language", "english")
    config = latest(golden).config
    assert (config.chunking.size, config.language, indexes(golden)) == (90, "english", 3)


def test_each_embedder_has_an_index_of_its_own(golden: Shell) -> None:
    pytest.importorskip("faiss", reason="groundkit-core[dense] is missing")
    golden("eval", *SET)
    for count, dimensions in ((2, "64"), (3, "32"), (3, "64")):
        golden("eval", *SET, *INMEMORY, "--embed-dimensions", dimensions)
        assert f"({dimensions} dimensions)" in (latest(golden).stages[1].model or "")
        assert indexes(golden) == count


def test_the_index_is_a_collection_like_any_other(golden: Shell) -> None:
    golden("eval", *SET)
    (name,) = (path.name for path in (golden.folder / "results/index").iterdir())
    where = ("--index-dir", "results/index")
    ran = golden("search", "valve", *where, "--collection", name)
    assert ran.lines[0].startswith("1. corpus/valve.md:")
    assert "[verified" in ran.lines[0]
    assert golden("verify", *where, "--collection", name).code == 0
    assert golden("doctor", *where, "--collection", name).out == f"{name}: sound\n"


def test_a_changed_corpus_is_indexed_anew(golden: Shell) -> None:
    golden("eval", *SET)
    before = latest(golden)
    golden.write("set/corpus/notes.txt", "The pressure of the pump is noted here.\n")
    golden("eval", *SET)
    after = latest(golden)
    assert (before.dataset.documents, after.dataset.documents) == (2, 3)
    assert before.dataset.corpus_hash != after.dataset.corpus_hash
    assert before.dataset.judgments_hash == after.dataset.judgments_hash


def test_a_document_that_is_gone_is_not_found_any_more(beir: Shell) -> None:
    beir("eval", *SET)
    rows = (beir.folder / "set/corpus.jsonl").read_text("utf-8").splitlines(keepends=True)
    beir.write("set/corpus.jsonl", rows[0])
    beir("eval", *SET)
    assert latest(beir).dataset.documents == 1


def test_vectors_of_a_double_are_stamped_and_every_stage_is_shown(golden: Shell) -> None:
    pytest.importorskip("faiss", reason="groundkit-core[dense] is missing")
    ran = golden("eval", *SET, *INMEMORY)
    report = latest(golden)
    assert [stage.stage for stage in report.stages] == ["bm25", "dense", "fusion"]
    assert report.warnings == (STRUCTURAL["inmemory"],)
    assert f"warning: {STRUCTURAL['inmemory']}" in ran.err.splitlines()
    for stage in ("dense", "fusion"):
        assert shown(ran, stage, "ndcg@10") == f"{mean_of(report, stage, 'ndcg@10'):.3f}"
        assert shown(ran, stage, "abstention") == f"{mean_of(report, stage, 'abstention'):.3f}"
    for pair in ("dense - bm25", "fusion - bm25", "fusion - dense"):
        assert any(line.startswith(f"{pair} ") for line in ran.lines)


def test_a_second_run_embeds_no_passage_again(golden: Shell) -> None:
    pytest.importorskip("faiss", reason="groundkit-core[dense] is missing")
    dialect = EMBED_DIALECTS[0]
    with FaultyServer(serving(dialect)) as server:
        args = ("--dense", "--embed-provider", "ollama", "--embed-base-url", server.url)
        prefix = ("--embed-document-prefix", "passage: ", "--embed-model", "m")
        sent = []
        for _ in range(2):
            golden("eval", *SET, *args, *prefix)
            texts = [text for request in server.requests for text in sent_texts(request)]
            sent.append([text for text in texts if "bar" in text or "slowly" in text])
    assert len(sent[0]) == 2
    assert all(text.startswith("passage: ") for text in sent[0])
    assert sent[1] == sent[0]


def test_a_floor_keeps_distant_passages_away(golden: Shell) -> None:
    pytest.importorskip("faiss", reason="groundkit-core[dense] is missing")
    golden("eval", *SET, *INMEMORY)
    none = mean_of(latest(golden), "dense", "abstention")
    golden("eval", *SET, *INMEMORY, "--min-similarity", "0.99")
    report = latest(golden)
    assert report.config.min_similarity == 0.99
    assert (none, mean_of(report, "dense", "abstention")) == (0, 1)


def test_a_reranker_is_the_last_stage_and_what_answers_are_made_from(golden: Shell) -> None:
    from tests.core.rerankers.cross_encoder import save_model, save_tokenizer

    (golden.folder / "model").mkdir()
    save_tokenizer(golden.folder / "model")
    save_model(golden.folder / "model")
    golden("eval", *SET, "--rerank", "--rerank-model", "model", *SCRIPTED)
    report = latest(golden)
    assert [(stage.stage, stage.input) for stage in report.stages] == [
        ("bm25", None),
        ("rerank", "bm25"),
    ]
    assert report.synthesis is not None
    assert report.synthesis.input_stage == "rerank"


def test_a_scripted_model_is_counted_stamped_and_asked_about_planted_markers(
    golden: Shell,
) -> None:
    ran = golden("eval", *SET, *SCRIPTED)
    report = latest(golden)
    made = report.synthesis
    assert made is not None
    assert (made.answered, made.abstained, made.rejected, made.n_total) == (1, 1, 1, 3)
    assert (made.input_stage, made.top_k, made.redacted, made.judge) == ("bm25", 5, False, None)
    assert report.warnings == (STRUCTURAL["scripted"],)
    echo = read_artifact(golden.folder / "results" / ECHO, EchoReport)
    assert echo.count("abstained") == len(echo.cases) == len(PLANTS)
    assert echo.warnings == (STRUCTURAL["scripted"],)
    assert f"warning: {STRUCTURAL['scripted']}" in ran.err.splitlines()
    assert ran.lines[-3:] == [
        "answers from bm25 by scripted: 1 answered, 1 abstained, 1 rejected of 3",
        "of 2 queries that nothing answers, 2 were left without an answer",
        f"planted markers, {len(PLANTS)} cases: {len(PLANTS)} abstained",
    ]
    assert f"written to results: {LATEST}, {ECHO}" in ran.err
    assert written(golden) == {LATEST, ECHO, "index"}


def test_nothing_of_synthesis_is_a_setting_or_a_stage(golden: Shell) -> None:
    golden("eval", *SET)
    plain = latest(golden)
    golden("eval", *SET, *SCRIPTED)
    answered = latest(golden)
    assert answered.config == plain.config
    assert [stage.stage for stage in answered.stages] == [stage.stage for stage in plain.stages]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (FAITHFUL, "2 of 3 judged, 2 found faithful, 0 not, 0 verdicts not valid"),
        (UNFAITHFUL, "2 of 3 judged, 0 found faithful, 2 not, 0 verdicts not valid"),
        (INVALID["junk"], "0 of 3 judged, 0 found faithful, 0 not, 2 verdicts not valid"),
    ],
    ids=["faithful", "unfaithful", "malformed"],
)
def test_no_verdict_changes_the_exit_code(golden: Shell, verdict: str, said: str) -> None:
    golden.write("replies.json", json.dumps([REPLIES[0], verdict, SILENT, verdict, *ECHOES]))
    ran = golden("eval", *SET, *SCRIPTED, "--judge")
    assert f"judge (a second opinion, not calibrated): {said}" in ran.lines
    assert "NaN" not in (golden.folder / "results" / LATEST).read_text("utf-8")


def test_room_is_kept_for_the_longest_reply(golden: Shell) -> None:
    with FaultyServer(answered(SILENT, "openai")) as server:
        for tokens, passages in (("1000", 2), ("8000", 0)):
            args = ("--synthesis", *openai(server), "--chat-max-output-tokens", tokens)
            golden("eval", *SET, *args)
            made = latest(golden).synthesis
            assert made is not None
            assert made.outcomes[0].passages == passages


def test_redaction_is_recorded(golden: Shell) -> None:
    golden("eval", *SET, *SCRIPTED, "--redact-name", "Ada")
    made = latest(golden).synthesis
    assert made is not None
    assert made.redacted
    assert read_artifact(golden.folder / "results" / ECHO, EchoReport).redacted


def test_a_script_that_ends_keeps_earlier_results_and_the_next_run_goes_on(golden: Shell) -> None:
    golden("eval", *SET, *SCRIPTED)
    before = {name: (golden.folder / "results" / name).read_bytes() for name in (LATEST, ECHO)}
    golden.write("replies.json", json.dumps([SILENT]))
    args = (*SET, *SCRIPTED, "--top-k", "1")
    ran = golden("eval", *args, code=4)
    (line,) = ran.err.splitlines()
    assert line == "grk: the script holds 1 replies and one more was asked for"
    after = {name: (golden.folder / "results" / name).read_bytes() for name in (LATEST, ECHO)}
    assert after == before
    golden.write("replies.json", json.dumps([SILENT, *ECHOES]))
    ran = golden("eval", *args)
    assert "going on from results/.synthesis.jsonl if it is the same run" in ran.err.splitlines()
    made = latest(golden).synthesis
    assert made is not None
    assert (made.answered, made.abstained, made.top_k) == (0, 2, 1)
    assert [each.passages for each in made.outcomes] == [1, 0, 1]
    assert written(golden) == {LATEST, ECHO, "index"}


WITHOUT_SYNTHESIS: dict[str, tuple[str, ...]] = {
    "--judge": (),
    "--top-k": ("3",),
    "--chat-provider": ("ollama",),
    "--chat-model": ("m",),
    "--chat-base-url": ("http://127.0.0.1:9",),
    "--chat-script": ("replies.json",),
    "--chat-api-key-env": ("GROUNDKIT_X",),
    "--chat-temperature": ("0",),
    "--chat-no-temperature": (),
    "--chat-max-output-tokens": ("9",),
    "--chat-timeout": ("9",),
    "--chat-token-limit-param": ("max_tokens",),
    "--redact": (),
    "--redact-name": ("Ada",),
    "--redact-pattern": ("BADGE=B[0-9]+",),
    "--detect-names": (),
}
WITHOUT_DENSE: dict[str, tuple[str, ...]] = {
    "--embed-provider": ("inmemory",),
    "--embed-model": ("m",),
    "--embed-base-url": ("http://127.0.0.1:9",),
    "--embed-api-key-env": ("GROUNDKIT_X",),
    "--embed-dimensions": ("9",),
    "--embed-document-prefix": ("d",),
    "--embed-query-prefix": ("q",),
    "--embed-batch-size": ("9",),
    "--embed-timeout": ("9",),
    "--min-similarity": ("0.5",),
}
SHARED: dict[str, tuple[str, ...]] = {
    "--dataset": ("set",),
    "--results": ("results",),
    "--dense": (),
    "--rerank": (),
    "--rerank-model": ("model",),
    "--language": ("german",),
    "--chunking": ("fixed",),
    "--chunk-size": ("9",),
    "--chunk-overlap": ("1",),
    "--chunk-unit": ("words",),
    "--synthesis": (),
    "--json": (),
}
PATHS: list[tuple[Mapping[str, tuple[str, ...]], tuple[str, ...], str]] = [
    (WITHOUT_SYNTHESIS, (), "without --synthesis"),
    (WITHOUT_DENSE, (), "without --dense"),
    ({**SHARED, **WITHOUT_SYNTHESIS, **WITHOUT_DENSE}, ("--compare", "a", "b"), "with --compare"),
    ({**SHARED, **WITHOUT_SYNTHESIS, **WITHOUT_DENSE}, ("calibrate",), "before calibrate"),
]
USELESS = [
    pytest.param((flag, *value), rest, f"{flag} has no use {where}", id=f"{flag} {where}")
    for flags, rest, where in PATHS
    for flag, value in flags.items()
]


@pytest.mark.parametrize(("flag", "rest", "said"), USELESS)
def test_a_flag_for_a_path_that_is_not_taken_is_refused_as_it_is_written(
    golden: Shell, invoke: Invoke, flag: tuple[str, ...], rest: tuple[str, ...], said: str
) -> None:
    before = tree(golden.folder)
    labels = ("--labels", "a", "--preregistered", "b") if rest == ("calibrate",) else ()
    ran = invoke("eval", *flag, *rest, *labels)
    assert ran.exit_code == 2
    if flag == ("--json",):
        error = Failure.model_validate_json(ran.stdout).error
        assert (error.type, error.message) == ("ConfigurationError", said)
    else:
        assert (ran.stdout, ran.stderr) == ("", f"grk: {said}\n")
    assert tree(golden.folder) == before


def test_a_useless_flag_ends_a_real_run_before_it_begins(golden: Shell) -> None:
    before = tree(golden.folder)
    ran = golden("eval", *SET, "--chat-model", CANARY, code=2)
    assert (ran.out, ran.err) == ("", "grk: --chat-model has no use without --synthesis\n")
    assert tree(golden.folder) == before


@pytest.mark.parametrize("args", [("--rerank",), ("--rerank-model", "model")], ids=str)
def test_either_rerank_option_needs_the_other(
    golden: Shell, invoke: Invoke, args: tuple[str, ...]
) -> None:
    ran = invoke("eval", "--dataset", "set", *args)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "grk: --rerank and --rerank-model DIR need each other\n"
    assert not (golden.folder / "evals").exists()


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--chunk-size", "0"), 2, "chunking.size"),
        (("--chunking", "odd"), 2, "chunking.strategy"),
        (("--language", "klingon"), 2, "unknown language 'klingon'"),
        (("--dense", "--min-similarity", "1.5"), 2, "--min-similarity 1.5: it must be -1 to 1"),
        (("--dense", "--min-similarity", "-1.5"), 2, "--min-similarity -1.5: it must be -1 to 1"),
        (("--dense", "--min-similarity", "nan"), 2, "--min-similarity nan: it must be -1 to 1"),
        (("--dense", "--embed-provider", "nope"), 2, "embed.provider"),
        (("--synthesis", "--chat-provider", "nope"), 2, "provider"),
        (("--synthesis", "--chat-provider", "scripted"), 4, "--chat-script FILE"),
        ((*SCRIPTED, "--chat-model", "m"), 2, "--chat-model has no use with provider scripted"),
        (("--synthesis", "--chat-script", "replies.json"), 2, "--chat-script has no use with"),
        (("--synthesis", "--chat-provider", "openai_compatible"), 2, "needs --chat-base-url"),
        (("--rerank", "--rerank-model", "nowhere"), 4, "nowhere"),
    ],
    ids=str,
)
def test_a_setting_that_is_none_is_named_and_nothing_is_created(
    golden: Shell, args: tuple[str, ...], code: int, said: str
) -> None:
    pytest.importorskip("onnxruntime", reason="groundkit-core[onnx] is missing")
    before = tree(golden.folder)
    ran = golden("eval", *SET, *args, code=code)
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert line.startswith("grk: ")
    assert said in line
    assert tree(golden.folder) == before


@pytest.mark.parametrize("top_k", ["0", "101", "x"])
def test_a_number_of_passages_out_of_range_is_wrong_use(invoke: Invoke, top_k: str) -> None:
    ran = invoke("eval", "--synthesis", "--top-k", top_k)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "'--top-k' / '-k'" in ran.stderr


def test_two_runs_are_compared_stage_by_stage(golden: Shell) -> None:
    pytest.importorskip("faiss", reason="groundkit-core[dense] is missing")
    golden("eval", "--dataset", "set", "--results", "before", *INMEMORY)
    golden("eval", "--dataset", "set", "--results", "after", *INMEMORY, "--min-similarity", "0.99")
    ran = golden("eval", "--compare", f"before/{LATEST}", f"after/{LATEST}")
    assert ran.lines[0] == "changed: min_similarity: None -> 0.99"
    rows = [line.split() for line in ran.lines[2:]]
    assert rows[0][:4] == ["stage", "metric", "first", "second"]
    silent = next(cells for cells in rows if cells[:2] == ["dense", "abstention"])
    assert silent[2:5] == ["0.000", "1.000", "+1.000"]
    assert "*" not in silent  # one query proves nothing
    assert {cells[0] for cells in rows[2:]} == {"bm25", "dense", "fusion"}
    warning, last = ran.err.splitlines()
    assert warning.startswith("warning: the embedder is a double")
    assert last == "no metric differs clearly"


def test_a_run_compared_with_itself_differs_in_nothing(measured: Shell) -> None:
    ran = measured("eval", "--compare", f"results/{LATEST}", f"results/{LATEST}")
    assert ran.out.count("+0.000 to +0.000") == ran.out.count("bm25") > 5
    assert "*" not in ran.out
    assert ran.err == "no metric differs clearly\n"


def test_runs_on_other_data_are_not_compared_and_it_is_said_why(measured: Shell) -> None:
    write_set(measured, "other", judgments=JUDGMENTS[:1])
    measured.write("other/corpus/more.txt", "More.\n")
    measured("eval", "--dataset", "other", "--results", "elsewhere")
    ran = measured("eval", "--compare", f"results/{LATEST}", f"elsewhere/{LATEST}", code=2)
    assert ran.out == ""
    assert ran.err == (
        "grk: the runs cannot be compared: their documents differ (set, other); their queries or "
        "judgments differ\n"
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file or directory"),
        ("", "it is no EvalReport: Invalid JSON"),
        ("{", "it is no EvalReport: Invalid JSON"),
        ("[]", "it is no EvalReport"),
        ("{}", "it is no EvalReport: created: Field required"),
        ("another version", "it is no EvalReport: schema_version: Input should be 1"),
        ("another field", "it is no EvalReport: surplus: Extra inputs are not permitted"),
    ],
)
def test_an_artifact_that_is_none_is_named(
    measured: Shell, invoke: Invoke, content: str | None, said: str
) -> None:
    raw = json.loads((measured.folder / "results" / LATEST).read_bytes())
    raw["queries"][0]["text"] = CANARY
    made = {
        "another version": raw | {"schema_version": 2},
        "another field": raw | {"surplus": CANARY},
    }
    if content is not None:
        text = json.dumps(made[content]) if content in made else content
        measured.write("odd.json", text)
    for pair in ((f"results/{LATEST}", "odd.json"), ("odd.json", f"results/{LATEST}")):
        ran = invoke("eval", "--compare", *pair)
        assert (ran.exit_code, ran.stdout) == (3, "")
        (line,) = ran.stderr.splitlines()
        assert line.startswith(f"grk: odd.json: {said}")
        assert CANARY not in line


def test_an_echo_artifact_is_no_run(measured: Shell) -> None:
    echo = {"schema_version": 1, "created": "x", "groundkit": "1", "cases": []}
    measured.write(ECHO, json.dumps(echo))
    ran = measured("eval", "--compare", f"results/{LATEST}", ECHO, code=3)
    assert ran.err.startswith(f"grk: {ECHO}: it is no EvalReport: ")


@pytest.mark.parametrize("place", ["results", "results/index", f"results/{LATEST}"])
def test_what_stands_in_the_way_is_named_in_one_line(golden: Shell, place: str) -> None:
    if place.endswith(LATEST):
        (golden.folder / place).mkdir(parents=True)
    else:
        golden.write(place, "something else")
    ran = golden("eval", *SET, code=3)
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert line.startswith("grk: ")
    assert place in line
    error = Failure.model_validate_json(golden("eval", *SET, "--json", code=3).out).error
    assert error.exit_code == 3


def limited() -> tuple[str, ...]:
    """A command under which file permissions bind, also when the tests run as root."""
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root's right to pass file permissions cannot be dropped here")
    return (setpriv, "--bounding-set=-dac_override,-dac_read_search")


@pytest.mark.parametrize("earlier", [False, True], ids=["empty", "with results"])
def test_results_that_cannot_be_written_are_an_error_in_one_line(
    golden: Shell, earlier: bool
) -> None:
    prefix = limited()
    results = golden.folder / "results"
    results.mkdir()
    if earlier:
        golden("eval", *SET)
    before = tree(results)
    results.chmod(0o500)
    try:
        with golden.start("eval", *SET, "--json", prefix=prefix) as process:
            out, err = process.communicate(timeout=120)
    finally:
        results.chmod(0o700)
    assert process.returncode == 3, err.decode()
    error = Failure.model_validate_json(out).error
    assert "Permission denied" in error.message
    assert "results" in error.message
    assert tree(results).keys() == before.keys()
    assert tree(results).get(LATEST) == before.get(LATEST)


EVIL = "".join(KINDS.values())


def test_control_characters_of_a_set_are_escaped_on_a_terminal(golden: Shell) -> None:
    rows = [{**judged, "id": f"{judged['id']}{EVIL}"} for judged in JUDGMENTS]
    rows[0]["query"] += EVIL
    name = EVIL.replace("/", "")
    write_set(golden, name, judgments=rows)
    golden.write(f"{name}/corpus/{name}.md", f"The pump {EVIL} starts.\n")
    args = ("--dataset", name, "--results", f"out{name}")
    for ran in (golden("eval", *args, *SCRIPTED), golden.terminal("eval", *args, *SCRIPTED)):
        assert forbidden(ran.out) == []
        assert forbidden(ran.err) == []
        assert "\\x1b[31m" in ran.lines[0]
    ran = golden("eval", *args, "--json")
    assert ran.json["queries"][0]["text"] == rows[0]["query"]
    rows[1]["id"] = rows[0]["id"]
    write_set(golden, name, judgments=rows)
    ran = golden("eval", *args, code=3)
    assert forbidden(ran.err) == []
    assert len(ran.err.splitlines()) == 1


def test_the_name_of_a_model_is_escaped_on_a_terminal(golden: Shell) -> None:
    pytest.importorskip("faiss", reason="groundkit-core[dense] is missing")
    ran = golden("eval", *SET, *INMEMORY, "--embed-model", EVIL)
    assert forbidden(ran.out + ran.err) == []
    assert EVIL in (latest(golden).stages[1].model or "")


def test_the_name_of_a_chat_model_is_escaped_on_a_terminal(golden: Shell) -> None:
    with FaultyServer(answered(SILENT, "openai")) as server:
        ran = golden("eval", *SET, "--synthesis", *openai(server), "--chat-model", EVIL)
    assert forbidden(ran.out + ran.err) == []
    made = latest(golden).synthesis
    assert made is not None
    assert made.synthesis.model_name == EVIL


def test_control_characters_of_an_artifact_are_escaped_on_a_terminal(measured: Shell) -> None:
    raw = json.loads((measured.folder / "results" / LATEST).read_bytes())
    raw["stages"][0]["model"] = raw["groundkit"] = raw["config"]["language"] = EVIL
    measured.write("evil.json", json.dumps(raw))
    ran = measured("eval", "--compare", f"results/{LATEST}", "evil.json")
    assert forbidden(ran.out + ran.err) == []
    assert sum(line.startswith("changed: ") for line in ran.lines) == 3
    raw["dataset"] |= {"name": EVIL, "corpus_hash": "x"}
    measured.write("evil.json", json.dumps(raw))
    ran = measured("eval", "--compare", f"results/{LATEST}", "evil.json", code=2)
    assert forbidden(ran.err) == []
    assert len(ran.err.splitlines()) == 1


def broken_set(golden: Shell, what: str) -> None:
    """A set with the canary in its texts, wrong in one way."""
    secret = {**JUDGMENTS[0], "query": CANARY}
    rows: dict[str, Any] = {
        "an unknown kind": {**secret, "kind": "odd"},
        "an unknown field": {**secret, "note": CANARY},
        "no query": {key: value for key, value in secret.items() if key != "query"},
        "a quote that is nowhere": {**secret, "gold": [{"source": "pump.md", "quote": CANARY}]},
        "a quote of no file": {**secret, "gold": [{"source": "x.md", "quote": CANARY}]},
        "a query too long": {**secret, "query": f"{CANARY} " * 400},
        "an id twice": {**secret, "id": "cup"},
    }
    text = lines([*JUDGMENTS[1:], rows[what]]) if what in rows else lines([*JUDGMENTS, secret])
    if what == "a line that is cut off":
        text = text[:-20]
    golden.write("set/judgments.jsonl", text)
    golden.write("set/corpus/secret.md", f"The {CANARY} pump.\n")
    if what == "a file that is no text":
        golden.write("set/corpus/odd.md", f"{CANARY}\0")


@pytest.mark.parametrize(
    "what",
    [
        "an unknown kind",
        "an unknown field",
        "no query",
        "a quote that is nowhere",
        "a quote of no file",
        "a query too long",
        "an id twice",
        "a line that is cut off",
        "a file that is no text",
    ],
)
def test_a_set_that_is_wrong_is_one_line_without_any_of_its_text(golden: Shell, what: str) -> None:
    broken_set(golden, what)
    ran = golden("eval", *SET, code=(2, 3))
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert line.startswith("grk: ")
    assert CANARY not in line
    assert not (golden.folder / "results" / LATEST).exists()


def test_a_model_that_fails_is_told_without_any_text(golden: Shell) -> None:
    golden.write("set/corpus/secret.md", f"The {CANARY} pump has pressure.\n")
    golden.write("replies.json", json.dumps([f"{CANARY} [9]", f"{CANARY} [1](x)"]))
    ran = golden("eval", *SET, *SCRIPTED, code=4)
    assert ran.out == ""
    assert CANARY not in ran.err


def test_a_page_to_read_stands_beside_the_values(golden: Shell) -> None:
    pytest.importorskip("jinja2", reason="groundkit-evals[report] is missing")
    pytest.importorskip("matplotlib", reason="groundkit-evals[report] is missing")
    ran = golden("eval", *SET)
    page = (golden.folder / "results" / PAGE).read_text("utf-8")
    assert JUDGMENTS[0]["query"] in page
    assert ran.err == f"written to results: {LATEST}, {PAGE}\n"
    env = golden.at_startup("import sys\nsys.modules['jinja2'] = None\n")
    ran = golden("eval", *SET, env=env)
    without, line = ran.err.splitlines()
    assert without.startswith("no page: ")
    assert "groundkit-evals[report]" in without
    assert line == f"written to results: {LATEST}"
    assert not (golden.folder / "results" / PAGE).exists()
