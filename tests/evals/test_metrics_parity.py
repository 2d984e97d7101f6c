"""Metrics against pytrec_eval, and a whole run against bm25s scored by it."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import fmean

import bm25s
import pytest
import pytrec_eval
from groundkit_core import ChunkingConfig, Collection
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.terms import Analyzer
from groundkit_evals import EvalReport, RunConfig, load_dataset, run
from groundkit_evals.metrics import ndcg, precision, recall, reciprocal_rank
from hypothesis import given
from hypothesis import strategies as st

from tests.shared_data import shared

CUTOFFS = (1, 3, 5, 10, 100)
MEASURES = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("recall", "P", "ndcg_cut")} | {
    "recip_rank"
}
Grades = Mapping[str, int]


def reference(
    qrels: Mapping[str, Grades], rankings: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """What pytrec_eval says; it ranks by score, so each place has a lower one."""
    run = {
        query: {id_: float(-place) for place, id_ in enumerate(ranked)}
        for query, ranked in rankings.items()
    }
    judgments = {query: dict(grades) for query, grades in qrels.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, MEASURES)
    found: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return found


def ours(ranked: Sequence[str], grades: Grades) -> dict[str, float]:
    """The same measures, under its names."""
    gains = {id_: float(grade) for id_, grade in grades.items()}
    values = {"recip_rank": reciprocal_rank(ranked, gains)}
    for k in CUTOFFS:
        values[f"recall_{k}"] = recall(ranked, gains, k)
        values[f"P_{k}"] = precision(ranked, gains, k)
        values[f"ndcg_cut_{k}"] = ndcg(ranked, gains, k)
    return values


IDS = [f"d{number}" for number in range(15)]
# pytrec_eval crashes where all grades are below 0.
GRADES = st.dictionaries(st.sampled_from(IDS), st.integers(-2, 4), min_size=1).filter(
    lambda grades: max(grades.values()) >= 0
)


@given(
    GRADES,
    st.lists(st.sampled_from([*IDS, *(f"unjudged{number}" for number in range(5))]), unique=True),
)
def test_any_ranking_has_the_values_that_pytrec_eval_gives_it(
    grades: dict[str, int], ranked: list[str]
) -> None:
    expected = reference({"q": grades}, {"q": ranked})["q"]
    assert ours(ranked, grades) == pytest.approx(expected, rel=0, abs=1e-9)


@dataclass(frozen=True)
class Measured:
    """A set as its files say it, its run through groundkit, and the documents that were found."""

    folder: Path
    qrels: dict[str, dict[str, int]]
    report: EvalReport
    rankings: dict[str, list[str]]


def rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def judged(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            found.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return found


@pytest.fixture(scope="module")
def scifact(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    folder = shared("data", "scifact")
    dataset = load_dataset(folder)
    whole = RunConfig(chunking=ChunkingConfig(strategy="fixed", size=1_000_000))
    with Collection.open(tmp_path_factory.mktemp("scifact") / "c") as collection:
        report = run(dataset, collection, whole)
        rankings = {query.id: documents(collection, query.text) for query in dataset.queries}
    return Measured(folder, judged(folder / "qrels.tsv.gz"), report, rankings)


def documents(collection: Collection, query: str) -> list[str]:
    results = collection.search(query, top_k=100).results
    return [cited.source for each in results for cited in (each.citation, *each.copies)]


@pytest.mark.slow
def test_a_real_run_has_the_values_that_pytrec_eval_gives_it(scifact: Measured) -> None:
    expected = reference(scifact.qrels, scifact.rankings)
    assert len(expected) == 300
    for query, ranked in scifact.rankings.items():
        found = ours(ranked, scifact.qrels[query])
        assert found == pytest.approx(expected[query], rel=0, abs=1e-9)


@pytest.mark.slow
def test_a_report_holds_the_values_that_pytrec_eval_gives_its_rankings(scifact: Measured) -> None:
    names = {
        "ndcg@10": "ndcg_cut_10",
        "mrr": "recip_rank",
        "recall@5": "recall_5",
        "recall@10": "recall_10",
        "recall@100": "recall_100",
        "precision@5": "P_5",
    }
    expected = reference(scifact.qrels, scifact.rankings)
    (stage,) = scifact.report.stages
    assert [each.query for each in stage.results] == [each.id for each in scifact.report.queries]
    for each in stage.results:
        values = {name: expected[each.query][theirs] for name, theirs in names.items()}
        assert each.metrics == pytest.approx(values, rel=0, abs=1e-9)


@pytest.mark.slow
def test_a_run_agrees_with_bm25s_on_the_same_terms(scifact: Measured) -> None:
    theirs = reference(scifact.qrels, by_bm25s(scifact.folder, scifact.qrels))
    (stage,) = scifact.report.stages
    for metric, name in (("ndcg@10", "ndcg_cut_10"), ("recall@100", "recall_100")):
        mean = fmean(each.metrics[metric] for each in stage.results)
        assert mean == pytest.approx(fmean(each[name] for each in theirs.values()), abs=0.001)
        assert mean > 0.6


def by_bm25s(folder: Path, qrels: Mapping[str, Grades]) -> dict[str, list[str]]:
    """The 100 best documents of each judged query, by bm25s over title and text."""
    analyzer = Analyzer("english", stop_words("english"))
    corpus = rows(folder / "corpus.jsonl.gz")
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(
        [analyzer.terms(f"{row['title']}\n{row['text']}") for row in corpus], show_progress=False
    )
    found = {}
    for row in rows(folder / "queries.jsonl.gz"):
        if row["_id"] in qrels:
            weights = analyzer.query_terms(row["text"])
            known = [term for term in weights if term in index.vocab_dict]
            terms = [term for term in known for _ in range(ceil(weights[term]))]
            places, _ = index.retrieve([terms], k=100, show_progress=False)
            found[row["_id"]] = [corpus[place]["_id"] for place in places[0]]
    return found
