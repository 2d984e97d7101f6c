"""BEIR's form: what is read of it, and what each broken file is refused with."""

import json
from pathlib import Path

import pytest
from groundkit_core import Span
from groundkit_evals import Dataset, load_dataset
from groundkit_evals.beir import is_beir
from groundkit_evals.schema import Expected, QueryRecord

from tests.evals.sets import (
    CORPUS,
    QRELS,
    QUERIES,
    SECRET,
    beir,
    compressed,
    document,
    jsonl,
    query,
    refusal,
)

PUMP = f"A {SECRET} pump stops at 7 bar."


def judged(qrels: str) -> dict[str, dict[str, float]]:
    """Gains as the table has them, its header left out."""
    found: dict[str, dict[str, float]] = {}
    for line in qrels.splitlines()[1:]:
        each, source, gain = line.split("\t")
        found.setdefault(each, {})[source] = float(gain)
    return found


def gains(dataset: Dataset) -> dict[str, dict[str, float]]:
    return {
        each.id: {expected.unit: expected.gain for expected in each.expected}
        for each in dataset.queries
    }


def answered(*answers: object) -> str:
    return jsonl({"_id": "q1", "text": SECRET, "answers": list(answers)})


def test_documents_queries_and_gains_are_those_of_the_files(tmp_path: Path) -> None:
    dataset = load_dataset(beir(tmp_path / "pumps"))
    assert dataset.name == "pumps"
    assert [(each.source, each.title, each.text) for each in dataset.documents] == [
        ("d1", "Pumps", PUMP),
        ("d2", None, f"The {SECRET} valve opens."),
        ("d3", None, "A hose."),
    ]
    assert dataset.folder is None
    assert dataset.queries == (
        query("q1", f"{SECRET} pump", document("d1", 2), document("d2", 0)),
        query("q2", f"{SECRET} valve", document("d2")),
    )


@pytest.mark.parametrize("at", ["qrels.tsv", "qrels/test.tsv"])
def test_files_may_be_compressed_and_judgments_in_a_folder(tmp_path: Path, at: str) -> None:
    folder = beir(tmp_path / "x", at=at)
    plain = load_dataset(folder)
    assert gains(plain) == judged(QRELS)
    assert load_dataset(compressed(folder)) == plain


def test_a_plain_file_goes_before_a_compressed_one(tmp_path: Path) -> None:
    compressed(beir(tmp_path, qrels="q1\td3\t1\n"))
    assert gains(load_dataset(beir(tmp_path))) == judged(QRELS)


def test_judgments_beside_the_set_go_before_those_in_a_folder(tmp_path: Path) -> None:
    beir(tmp_path, at="qrels/test.tsv", qrels="q1\td3\t1\n")
    assert gains(load_dataset(beir(tmp_path))) == judged(QRELS)


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS,
        QRELS.partition("\n")[2],
        QRELS.removesuffix("\n"),
        QRELS.replace("\n", "\r\n"),
        QRELS.replace("\t2\n", "\t2.0\n"),
    ],
    ids=["header", "no header", "no last line break", "CRLF", "decimals"],
)
def test_judgments_are_read_however_they_are_written(tmp_path: Path, qrels: str) -> None:
    assert gains(load_dataset(beir(tmp_path, qrels=qrels))) == judged(QRELS)


def test_windows_line_breaks_change_nothing(tmp_path: Path) -> None:
    files = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}
    windows = {name: text.replace("\n", "\r\n") for name, text in files.items()}
    dataset = load_dataset(beir(tmp_path / "w" / "x", **windows))
    assert dataset == load_dataset(beir(tmp_path / "u" / "x"))


def test_quotation_marks_in_ids_are_kept(tmp_path: Path) -> None:
    corpus, queries = jsonl({"_id": '"d', "text": "x"}), jsonl({"_id": 'q"', "text": "x"})
    dataset = load_dataset(beir(tmp_path, corpus=corpus, queries=queries, qrels='q"\t"d\t1\n'))
    assert gains(dataset) == {'q"': {'"d': 1}}


def test_a_query_without_a_judgment_is_left_out(tmp_path: Path) -> None:
    dataset = load_dataset(beir(tmp_path, qrels="q2\td2\t1\n"))
    assert [each.id for each in dataset.queries] == ["q2"]


def test_answers_are_the_gold_where_a_query_has_them(tmp_path: Path) -> None:
    places = [(2, 14), (15, 19)]
    queries = answered(*({"doc": "d1", "start": start, "end": end} for start, end in places))
    other = jsonl({"_id": "q2", "text": "valve", "answers": []})
    dataset = load_dataset(beir(tmp_path, queries=queries + other))
    spans = tuple(
        Expected(
            unit=f"d1:{start}-{end}",
            source="d1",
            span=Span(start=start, end=end),
            excerpt=PUMP[start:end],
        )
        for start, end in places
    )
    assert dataset.queries == (
        QueryRecord(id="q1", text=SECRET, expected=spans),
        query("q2", "valve", document("d2")),
    )


def test_an_answer_may_be_the_whole_text_in_code_points(tmp_path: Path) -> None:
    corpus = jsonl({"_id": "d1", "text": "🚰 pump"})
    for start, end, text in ((0, 6, "🚰 pump"), (2, 6, "pump")):
        queries = answered({"doc": "d1", "start": start, "end": end})
        dataset = load_dataset(beir(tmp_path, corpus=corpus, queries=queries))
        assert dataset.queries[0].expected[0].excerpt == text


def test_an_excerpt_is_300_characters_at_most(tmp_path: Path) -> None:
    corpus = jsonl({"_id": "d1", "text": "pump " * 100})
    queries = answered({"doc": "d1", "start": 0, "end": 400})
    (expected,) = load_dataset(beir(tmp_path, corpus=corpus, queries=queries)).queries[0].expected
    assert expected.excerpt == "pump " * 60


@pytest.mark.parametrize(
    "answer",
    [
        {"doc": "d1", "start": 0, "end": len(PUMP) + 1},
        {"doc": "d1", "start": 5, "end": 5},
        {"doc": "d1", "start": 6, "end": 5},
        {"doc": "d1", "start": -2, "end": 3},
        {"doc": "d9", "start": 0, "end": 1},
        {"doc": 1, "start": 0, "end": 1},
        {"doc": ["d1"], "start": 0, "end": 1},
        {"doc": "d1", "start": 0.0, "end": 1.0},
        {"doc": "d1", "start": False, "end": True},
        {"doc": "d1", "start": "0", "end": "1"},
        {"doc": "d1", "start": 0},
        {},
        SECRET,
        None,
        7,
    ],
)
def test_an_answer_that_is_no_place_in_a_document_is_refused(
    tmp_path: Path, answer: object
) -> None:
    folder = beir(tmp_path, queries=answered({"doc": "d1", "start": 0, "end": 1}, answer))
    assert refusal(lambda: load_dataset(folder)) == (
        "query 'q1': an answer needs doc, start and end within that document"
    )


GOOD = json.dumps({"_id": "d0", "text": SECRET})
BAD_ROWS = {
    "no JSON": f'{{"_id": "x", "text": "{SECRET}"',
    "two objects": f"{GOOD}{GOOD}",
    "no object": json.dumps(["_id", "text", SECRET]),
    "a bare string": json.dumps(SECRET),
    "null": "null",
    "no id": json.dumps({"text": SECRET}),
    "no text": json.dumps({"_id": "x", "txt": SECRET}),
    "a number as id": json.dumps({"_id": 5, "text": SECRET}),
    "a list as text": json.dumps({"_id": "x", "text": [SECRET]}),
    "null as text": json.dumps({"_id": "x", "text": None}),
}


@pytest.mark.parametrize("row", BAD_ROWS.values(), ids=BAD_ROWS.keys())
@pytest.mark.parametrize("name", ["corpus", "queries"])
def test_a_row_that_is_no_object_with_strings_is_refused_by_its_line(
    tmp_path: Path, name: str, row: str
) -> None:
    folder = beir(tmp_path, **{name: f"{GOOD}\n{row}\n{GOOD}\n"})
    assert refusal(lambda: load_dataset(folder)) == (
        f"{folder / name}.jsonl:2: it must be an object with _id and text"
    )


def test_lines_of_compressed_files_are_counted_too(tmp_path: Path) -> None:
    corpus, qrels = CORPUS + SECRET, QRELS + SECRET
    first = compressed(beir(tmp_path / "a", corpus=corpus))
    assert refusal(lambda: load_dataset(first)).startswith(f"{first / 'corpus.jsonl.gz'}:4: ")
    second = compressed(beir(tmp_path / "b", qrels=qrels))
    assert refusal(lambda: load_dataset(second)).startswith(f"{second / 'qrels.tsv.gz'}:5: ")


BAD_JUDGMENTS = {
    "two columns": "q1\td1",
    "four columns": "q1\t0\td1\t1",
    "words for a number": f"q1\td1\t{SECRET}",
    "spaces": "q1 d1 1",
}


@pytest.mark.parametrize("line", BAD_JUDGMENTS.values(), ids=BAD_JUDGMENTS.keys())
def test_a_judgment_that_is_no_triple_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    folder = beir(tmp_path, qrels=f"{QRELS}{line}\n")
    assert refusal(lambda: load_dataset(folder)) == (
        f"{folder / 'qrels.tsv'}:5: a judgment is a query id, a document id and a number"
    )


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("queries.jsonl", "there is no queries.jsonl"),
        ("qrels.tsv", "there is neither qrels.tsv nor qrels/test.tsv"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, missing: str, message: str) -> None:
    folder = beir(tmp_path)
    (folder / missing).unlink()
    assert refusal(lambda: load_dataset(folder)) == f"{folder}: {message}"


def test_a_query_id_given_twice_is_refused(tmp_path: Path) -> None:
    folder = beir(tmp_path / "x", queries=QUERIES + jsonl({"_id": "q1", "text": SECRET}))
    assert refusal(lambda: load_dataset(folder)) == "x: the query id 'q1' is given twice"


@pytest.mark.parametrize("qrels", ["", "query-id\tcorpus-id\tscore\n", "q9\td1\t1\n"])
def test_a_set_without_a_judged_query_is_refused(tmp_path: Path, qrels: str) -> None:
    folder = beir(tmp_path / "x", qrels=qrels)
    assert refusal(lambda: load_dataset(folder)) == "x: there is no query with a judgment"


@pytest.mark.parametrize("name", ["", "nowhere"])
def test_a_folder_without_a_set_is_refused_with_what_it_needs(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    assert refusal(lambda: load_dataset(str(folder))) == (
        f"{folder}: no labelled set is here; it needs corpus/ and judgments.jsonl, or "
        "corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)"
    )


def test_a_set_is_told_by_its_documents(tmp_path: Path) -> None:
    assert not is_beir(tmp_path)
    assert is_beir(beir(tmp_path / "plain"))
    assert is_beir(compressed(beir(tmp_path / "gz")))


def test_equal_files_have_equal_hashes_wherever_they_are(tmp_path: Path) -> None:
    first, second = (load_dataset(beir(tmp_path / name)) for name in ("a", "b"))
    assert first.corpus_hash == second.corpus_hash
    assert first.judgments_hash == second.judgments_hash


@pytest.mark.parametrize(
    ("old", "new"), [("7 bar", "9 bar"), ('"Pumps"', '"Pump"'), ('"d3"', '"d4"')]
)
def test_a_changed_document_changes_the_hash_of_documents_alone(
    tmp_path: Path, old: str, new: str
) -> None:
    before = load_dataset(beir(tmp_path / "a"))
    after = load_dataset(beir(tmp_path / "b", corpus=CORPUS.replace(old, new)))
    assert before.corpus_hash != after.corpus_hash
    assert before.judgments_hash == after.judgments_hash


def test_text_that_moves_from_title_to_text_changes_the_hash(tmp_path: Path) -> None:
    before, after = (
        load_dataset(beir(tmp_path / "a", corpus=jsonl({"_id": "d", "title": title, "text": text})))
        for title, text in (("ab", "c"), ("a", "bc"))
    )
    assert before.corpus_hash != after.corpus_hash


@pytest.mark.parametrize(
    "changed",
    [
        {"qrels": QRELS.replace("d1\t2", "d1\t1")},
        {"qrels": QRELS.replace("q2\td2", "q2\td3")},
        {"queries": QUERIES.replace("valve", "valves")},
    ],
    ids=["gain", "document", "query"],
)
def test_a_changed_judgment_changes_the_hash_of_judgments_alone(
    tmp_path: Path, changed: dict[str, str]
) -> None:
    before = load_dataset(beir(tmp_path / "a"))
    after = load_dataset(beir(tmp_path / "b", **changed))
    assert before.judgments_hash != after.judgments_hash
    assert before.corpus_hash == after.corpus_hash
