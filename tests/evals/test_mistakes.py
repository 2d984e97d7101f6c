"""Input that a user may give by mistake, and what is said of it."""

import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import Collection
from groundkit_evals import load_dataset, paired_difference, run
from groundkit_evals.artifacts import write_text
from groundkit_evals.journal import Journal
from groundkit_evals.metrics import span_precision, span_recall, wilson_interval
from groundkit_evals.schema import RunConfig, StageResult, Verdict
from groundkit_evals.summary import abstention_curve, headline, recall_curve
from groundkit_evals.summary import difference as stage_difference
from pydantic import ValidationError

from tests.evals.sets import (
    CORPUS,
    QRELS,
    QUERIES,
    SECRET,
    beir,
    dataset,
    document,
    golden,
    jsonl,
    judgment,
    query,
    refusal,
    report,
    result,
)
from tests.evals.test_artifacts import files_of_at_most
from tests.evals.test_summary import HALF, compared, dense


@pytest.mark.parametrize("title", [5, [SECRET], {"x": 1}])
def test_a_title_that_is_no_string_is_refused_by_its_line(tmp_path: Path, title: Any) -> None:
    folder = beir(tmp_path, corpus=jsonl({"_id": "d1", "text": SECRET, "title": title}))
    assert refusal(lambda: load_dataset(folder)).startswith(f"{folder / 'corpus.jsonl'}:1: ")


def test_a_document_id_given_twice_is_refused(tmp_path: Path) -> None:
    folder = beir(tmp_path, corpus=CORPUS + jsonl({"_id": "d1", "text": "other"}))
    assert "'d1'" in refusal(lambda: load_dataset(folder))


@pytest.mark.parametrize("answers", [5, True, {"doc": "d1", "start": 0, "end": 1}])
def test_answers_that_are_no_list_are_refused(tmp_path: Path, answers: Any) -> None:
    folder = beir(tmp_path, queries=jsonl({"_id": "q1", "text": SECRET, "answers": answers}))
    assert "'q1'" in refusal(lambda: load_dataset(folder))


def test_an_answer_counted_from_the_end_is_refused(tmp_path: Path) -> None:
    answers = [{"doc": "d1", "start": -5, "end": -1}]
    folder = beir(tmp_path, queries=jsonl({"_id": "q1", "text": SECRET, "answers": answers}))
    assert "'q1'" in refusal(lambda: load_dataset(folder))


@pytest.mark.parametrize("gain", ["nan", "inf", "-inf", "1_0"])
def test_a_gain_that_is_no_finite_number_is_refused_by_its_line(tmp_path: Path, gain: str) -> None:
    folder = beir(tmp_path, qrels=f"{QRELS}q2\td1\t{gain}\n")
    assert refusal(lambda: load_dataset(folder)).startswith(f"{folder / 'qrels.tsv'}:5: ")


@pytest.mark.parametrize("first", ["q1\td1", "q1\t0\td1\t1", "q1\td1\tone", "\ufeffq1\td1\tone"])
def test_a_first_line_that_is_neither_header_nor_judgment_is_refused(
    tmp_path: Path, first: str
) -> None:
    folder = beir(tmp_path, qrels=f"{first}\nq2\td2\t1\n")
    assert refusal(lambda: load_dataset(folder)).startswith(f"{folder / 'qrels.tsv'}:1: ")


def test_two_judgments_of_one_pair_are_refused(tmp_path: Path) -> None:
    folder = beir(tmp_path, qrels=f"{QRELS}q1\td1\t0\n")
    assert refusal(lambda: load_dataset(folder)).startswith(f"{folder / 'qrels.tsv'}:5: ")


def test_a_judgment_of_a_document_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    lost = load_dataset(beir(tmp_path, qrels="q1\td9\t1\n"))
    assert lost.warnings == ("judgments name 1 documents that the set does not hold",)
    with Collection.open(tmp_path / "c") as collection:
        assert run(lost, collection).warnings == lost.warnings


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_file_that_is_no_utf8_is_refused_by_name(tmp_path: Path, name: str) -> None:
    folder = beir(tmp_path)
    (folder / name).write_bytes(b'{"_id": "d1", "text": "\xe9"}\n')
    assert str(folder / name) in refusal(lambda: load_dataset(folder))


@pytest.mark.parametrize("data", [b"plain", gzip.compress(CORPUS.encode())[:-9]])
def test_a_broken_compressed_file_is_refused_by_name(tmp_path: Path, data: bytes) -> None:
    folder = beir(tmp_path)
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(data)
    assert str(folder / "corpus.jsonl.gz") in refusal(lambda: load_dataset(folder))


@pytest.mark.parametrize("row", ["[" * 200_000, '{"_id": "d1", "text": "\\ud800"}'])
def test_a_row_that_is_no_text_is_refused_by_its_line(tmp_path: Path, row: str) -> None:
    folder = beir(tmp_path, corpus=row + "\n")
    assert refusal(lambda: load_dataset(folder)).startswith(f"{folder / 'corpus.jsonl'}:1: ")


@pytest.mark.parametrize("which", ["corpus", "queries", "qrels"])
def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path, which: str) -> None:
    files = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS.partition("\n")[2]}
    folder = beir(tmp_path / "b/x", **{**files, which: "\ufeff" + files[which]})
    assert load_dataset(folder) == load_dataset(beir(tmp_path / "a/x", **files))


@pytest.mark.parametrize("which", ["corpus", "queries", "qrels"])
def test_blank_lines_are_skipped(tmp_path: Path, which: str) -> None:
    files = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}
    folder = beir(tmp_path / "b/x", **{**files, which: files[which] + "\n\n"})
    assert load_dataset(folder) == load_dataset(beir(tmp_path / "a/x", **files))


@pytest.mark.parametrize("text", ["  ", "pump " * 1000])
def test_a_query_that_cannot_be_searched_is_refused_before_the_run(
    tmp_path: Path, text: str
) -> None:
    folder = beir(tmp_path, queries=jsonl({"_id": "q1", "text": text}))
    assert "'q1'" in refusal(lambda: load_dataset(folder))


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"])
def test_a_query_may_hold_any_line_separator(tmp_path: Path, mark: str) -> None:
    text = f"a{mark}b"
    row = json.dumps(judgment("g1", ("a.txt", "alpha"), query=text), ensure_ascii=False)
    (found,) = load_dataset(golden(tmp_path, {"a.txt": "alpha"}, f"{row}\n")).queries
    assert found.text == text


def test_judgments_that_are_no_utf8_are_refused_by_name(tmp_path: Path) -> None:
    folder = golden(tmp_path, {"a.txt": "x"}, "")
    (folder / "judgments.jsonl").write_bytes(b'{"id": "caf\xe9"}\n')
    assert str(folder / "judgments.jsonl") in refusal(lambda: load_dataset(folder))


def gold(folder: Path, text: str, quote: str, **more: object) -> Path:
    """A set of one file and one judgment."""
    return golden(folder, {"a.txt": text}, jsonl(judgment("g1", ("a.txt", quote), **more)))


def test_places_that_overlap_are_two(tmp_path: Path) -> None:
    assert "stands 2 times" in refusal(lambda: load_dataset(gold(tmp_path, "ababab", "abab")))


def test_an_empty_quote_is_refused(tmp_path: Path) -> None:
    assert "stands 0 times" in refusal(lambda: load_dataset(gold(tmp_path, "", "")))


@pytest.mark.parametrize("name", [".DS_Store", "node_modules/x", "__pycache__/x", ".git/x"])
def test_files_that_are_not_indexed_are_no_part_of_the_corpus(tmp_path: Path, name: str) -> None:
    rows = jsonl(judgment("g1", ("a.txt", "alpha")))
    plain = load_dataset(golden(tmp_path / "a/x", {"a.txt": "alpha"}, rows))
    others: dict[str, str | bytes] = {"a.txt": "alpha", name: b"\0alpha"}
    more = load_dataset(golden(tmp_path / "b/x", others, rows))
    assert plain.corpus_hash == more.corpus_hash


@pytest.mark.parametrize(
    ("kind", "quotes", "said"),
    [
        ("no_answer", [("a.txt", "alpha")], "kind no_answer must have no gold"),
        ("normal", [], "kind normal needs gold"),
    ],
)
def test_a_kind_that_its_gold_contradicts_is_refused(
    tmp_path: Path, kind: str, quotes: list[tuple[str, str]], said: str
) -> None:
    rows = jsonl(judgment("g1", *quotes, kind=kind))
    assert said in refusal(lambda: load_dataset(golden(tmp_path, {"a.txt": "alpha"}, rows)))


def test_bad_json_is_refused_by_its_line(tmp_path: Path) -> None:
    said = refusal(lambda: load_dataset(golden(tmp_path, {"a.txt": "x"}, "\n{\n")))
    assert said.startswith(f"{tmp_path / 'judgments.jsonl'}:2: ")


def test_a_collection_that_holds_other_documents_is_refused(tmp_path: Path) -> None:
    asked = query("q1", "pump", document("a"))
    with Collection.open(tmp_path / "c") as collection:
        run(dataset({"a": "pump", "b": "pump pump"}, asked), collection)
        said = refusal(lambda: run(dataset({"a": "pump"}, asked), collection))
    assert "it holds 2 documents, the set has 1" in said


def test_a_judged_document_without_gain_is_not_held(tmp_path: Path) -> None:
    small = dataset({"d": "pump"}, query("q", "pump", document("d", 0)))
    (stage,) = run(small, Collection.open(tmp_path / "c")).stages
    assert stage.results[0].found[0].holds == ()


def test_a_span_without_characters_was_not_found() -> None:
    assert span_precision([("a", 0, 0)], [("a", 0, 5)]) == 0


def test_a_wanted_span_without_characters() -> None:
    assert span_recall([("a", 0, 5)], [("a", 2, 2)]) == 0


@pytest.mark.parametrize(
    ("values", "others"),
    [([0.5], [0.1, 0.2, 0.3]), ([float("nan"), 1.0], [0.0, 0.0]), ([float("inf")], [0.0])],
)
def test_what_is_no_pair_of_numbers_is_refused(values: list[float], others: list[float]) -> None:
    with pytest.raises(ValueError, match=r"pairs|finite"):
        paired_difference(values, others)


def test_figures_do_not_depend_on_how_much_is_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = [at / 300 for at in range(300)]
    found = paired_difference(values, values[::-1])
    module = importlib.import_module("groundkit_evals.metrics.difference")
    monkeypatch.setattr(module, "_AT_ONCE", 10**9)
    assert paired_difference(values, values[::-1]) == found


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_pairs_is_never_clear(n: int) -> None:
    assert not paired_difference([1.0] * n, [0.0] * n).is_clear


def test_no_hit_has_an_interval_from_0() -> None:
    assert (wilson_interval(0, 3)[0], wilson_interval(10, 10)[1]) == (0, 1)


NO_ANSWERS = report(
    [query("q", "x", kind="no_answer")],
    StageResult(stage="bm25", results=(result("q", abstention=1),)),
    StageResult(stage="dense", results=(result("q", abstention=1),)),
)


def test_recall_needs_answers() -> None:
    assert refusal(lambda: recall_curve(NO_ANSWERS, "bm25", 3)) == "no query has an answer"


def test_a_difference_needs_values() -> None:
    assert "'mrr'" in refusal(lambda: stage_difference(NO_ANSWERS, "dense", "bm25", "mrr"))


def test_the_headline_needs_answers() -> None:
    assert headline(NO_ANSWERS).startswith("No query has an answer")


def test_the_last_level_is_the_greatest_similarity() -> None:
    curve = abstention_curve(dense(("q1", [], [0.9]), ("q3", [0.3], [])), points=4)
    assert curve[-1].kept == 1


def test_a_stage_that_is_clearly_ahead_is_not_hidden_by_a_noisy_one() -> None:
    noisy = [1.0, 1.0, 1.0, 0.0, 0.0, 0.9]
    found = compared(bm25=[0.5] * 6, dense=noisy, fusion=[0.55] * 5 + [0.56])
    assert headline(found).startswith("fusion is ahead of BM25")


def test_equal_is_not_behind() -> None:
    assert "behind" not in headline(compared(bm25=HALF, dense=HALF))


def test_the_same_cannot_be_expected_twice() -> None:
    asked = query("q", "x", document("a"), document("a"))
    assert "'q'" in refusal(lambda: dataset({"a": "x"}, asked))


@pytest.mark.parametrize("line", [b"5", b"null", b"true"])
def test_a_damaged_line_of_json(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "run"
    Journal(path, Verdict, {})
    with path.open("ab") as stream:
        stream.write(line + b"\n")
    assert refusal(lambda: Journal(path, Verdict, {})).startswith(f"{path}: it is damaged")


def test_a_journal_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert str(tmp_path) in refusal(lambda: Journal(tmp_path, Verdict, {}))


def test_a_journal_below_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    assert str(tmp_path / "f") in refusal(lambda: Journal(tmp_path / "f" / "run", Verdict, {}))


def test_a_full_disk_leaves_what_was_whole(tmp_path: Path) -> None:
    path = tmp_path / "run"
    journal = Journal(path, Verdict, {})
    part = Verdict(faithful=True, unsupported_claims=(), reasoning="x")
    journal.add("a", part)
    with files_of_at_most(path.stat().st_size + 20):
        assert str(path) in refusal(lambda: journal.add("b", part))
    journal.add("c", part)
    assert list(Journal(path, Verdict, {}).done) == ["a", "c"]


def test_text_that_is_no_unicode_is_not_written(tmp_path: Path) -> None:
    assert "Unicode" in refusal(lambda: write_text(tmp_path / "a", "\ud800"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "setting", [{"depth": 0}, {"depth": 101}, {"rerank_depth": 0}, {"min_similarity": 1.5}]
)
def test_a_setting_beyond_its_limits_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RunConfig(**setting)
