from pathlib import Path

from groundkit_core.testing import InMemoryEmbedder

from benchmarks.cached import CachedEmbedder
from benchmarks.fusion_settings import Legs, best_first
from benchmarks.labelled import LabelledSet, Question, Text, claims, load
from benchmarks.meaning import documents_found, passages_found
from tests.shared_data import shared

TEXTS = [Text("d1", "", "the pump of the hose"), Text("d2", "", "a valve"), Text("d3", "", "x y")]
COLUMNS = ["BM25", "one", "one hybrid", "two", "two hybrid"]


def embedders(folder: Path) -> dict[str, CachedEmbedder]:
    names = {"one": "hashed-terms", "two": "others"}
    return {
        name: CachedEmbedder(InMemoryEmbedder(256, model_name=model), folder)
        for name, model in names.items()
    }


def test_each_ranking_has_a_figure_for_each_measure(tmp_path: Path) -> None:
    # Only vectors find a text without a word of the query, by coming last.
    asked = [Question("the pump", {"d1": 1.0}), Question("valve", {"d2": 1.0, "d1": 1.0})]
    data = LabelledSet("made up", "english", TEXTS, asked)
    both = embedders(tmp_path)
    figures = documents_found(data, both)
    # Each embeds the texts and the queries of both modes, of which the second time is cached.
    assert {(each.embedded, each.cached) for each in both.values()} == {(3 + 2, 2)}
    assert list(figures) == ["nDCG@10", "recall@100"]
    assert [list(columns) for columns in figures.values()] == [COLUMNS, COLUMNS]
    assert figures["recall@100"]["BM25"] == (1 + 1 / 2) / 2
    assert figures["recall@100"]["one"] == figures["recall@100"]["two hybrid"] == 1


def test_character_recall_counts_what_the_first_passages_hold(tmp_path: Path) -> None:
    asked = [Question("the pump", {"d1": 1.0}, (("d1", 4, 8),))]
    figures = passages_found(LabelledSet("made up", "english", TEXTS, asked), embedders(tmp_path))
    assert figures == {
        "character recall@5": dict.fromkeys(COLUMNS, 1.0),
        "character recall@10": dict.fromkeys(COLUMNS, 1.0),
    }


def test_fusion_settings_cut_weigh_and_rank_both_legs() -> None:
    legs = Legs(Question("", {}), words=["a", "b"], vectors=["c", "b"])
    both = {"b": 2 / 62, "a": 1 / 61, "c": 1 / 61}
    assert best_first(legs, depth=2, weights=(1.0, 1.0), k=60) == sorted(
        both, key=lambda id_: (-both[id_], id_)
    )
    assert best_first(legs, depth=1, weights=(1.0, 1.0), k=60) == ["a", "c"]
    assert best_first(legs, depth=1, weights=(1.0, 2.0), k=60) == ["c", "a"]


def test_the_claims_of_dev_are_the_queries_of_the_set() -> None:
    shared("data", "scifact")
    by_text = {question.text: question.gains for question in load("scifact").questions}
    assert {claim.text: claim.gains for claim in claims("dev")} == by_text
    train = {claim.text for claim in claims("train")}
    assert len(train) > 800
    assert not by_text.keys() & train
