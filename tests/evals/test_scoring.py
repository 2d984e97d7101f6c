"""From places of passages to units, ranks and metrics."""

from math import log2

import pytest
from groundkit_core.errors import EvalError
from groundkit_evals import evaluate, mean, scores
from groundkit_evals.metrics import Span
from groundkit_evals.scoring import Places, gains_of, held

from tests.evals.sets import dataset, document, query, refusal, span

DOCUMENTS = query("q", "pump", document("a"), document("b", 2), document("c", 0))
SPANS = query("q", "pump", span("a", 100, 160), span("a", 200, 240), span("b", 0, 10))


def at(source: str, start: int, end: int, *copies: Span) -> Places:
    return [(source, start, end), *copies]


def test_a_document_counts_at_its_first_passage() -> None:
    passages = [at("x", 0, 9), at("a", 50, 90), at("x", 9, 20), at("a", 0, 50), at("b", 0, 5)]
    assert held(DOCUMENTS, passages) == [["x"], ["a"], [], [], ["b"]]


def test_a_passage_brings_the_documents_of_its_copies_too() -> None:
    passages = [at("x", 0, 9, ("a", 5, 14), ("x", 30, 39)), at("a", 20, 30, ("b", 0, 10))]
    assert held(DOCUMENTS, passages) == [["x", "a"], ["b"]]


def test_documents_are_ranked_in_the_order_of_their_best_passages() -> None:
    passages = [at("x", 0, 9), at("x", 9, 20), at("b", 0, 9), at("c", 0, 9), at("a", 0, 9)]
    # b with gain 2 is second, a with gain 1 fourth.
    found, best = 2 / log2(3) + 1 / log2(5), 2 / log2(2) + 1 / log2(3)
    assert scores(DOCUMENTS, passages) == pytest.approx(
        {
            "ndcg@10": found / best,
            "mrr": 1 / 2,
            "recall@5": 1,
            "recall@10": 1,
            "recall@100": 1,
            "precision@5": 2 / 5,
        },
        rel=1e-12,
    )


@pytest.mark.parametrize(
    ("rank", "expected"), [(5, (1, 1, 1)), (6, (0, 1, 1)), (11, (0, 0, 1)), (101, (0, 0, 0))]
)
def test_metrics_are_cut_where_their_names_say(
    rank: int, expected: tuple[float, float, float]
) -> None:
    passages = [at(f"x{place}", 0, 9) for place in range(1, rank)] + [at("a", 0, 9)]
    found = scores(query("q", "pump", document("a")), passages)
    assert (found["recall@5"], found["recall@10"], found["recall@100"]) == expected
    assert found["mrr"] == 1 / rank
    assert found["precision@5"] == (1 / 5 if rank <= 5 else 0)
    assert found["ndcg@10"] == pytest.approx(1 / log2(rank + 1) if rank <= 10 else 0)


@pytest.mark.parametrize(
    ("place", "holds"),
    [
        ((100, 160), True),
        ((0, 131), True),
        ((129, 200), True),
        ((110, 141), True),
        ((0, 130), False),
        ((130, 200), False),
        ((115, 145), False),
        ((160, 200), False),
    ],
)
def test_a_passage_holds_a_span_if_it_has_more_than_half_of_it(
    place: tuple[int, int], holds: bool
) -> None:
    assert held(SPANS, [at("a", *place)]) == [["a:100-160"] if holds else ["passage 1"]]


def test_a_span_in_another_document_is_not_held() -> None:
    assert held(SPANS, [at("b", 100, 160)]) == [["passage 1"]]


def test_a_passage_can_hold_several_spans_and_each_counts_once() -> None:
    passages = [at("a", 0, 90), at("a", 90, 240), at("a", 90, 240), at("b", 0, 10)]
    assert held(SPANS, passages) == [
        ["passage 1"],
        ["a:100-160", "a:200-240"],
        [],
        ["b:0-10"],
    ]


def test_a_span_may_stand_in_a_copy() -> None:
    assert held(SPANS, [at("x", 7, 17, ("b", 0, 10))]) == [["b:0-10"]]


def test_spans_are_ranked_where_passages_hold_them() -> None:
    passages = [at("x", 0, 9), at("a", 100, 250), at("y", 0, 9), at("b", 0, 5), at("b", 5, 30)]
    # In order: a unit of its own, two spans, another, another (half is not enough), another.
    found = scores(SPANS, passages)
    best = 1 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert found == pytest.approx(
        {
            "ndcg@10": (1 / log2(3) + 1 / log2(4)) / best,
            "mrr": 1 / 2,
            "recall@5": 2 / 3,
            "recall@10": 2 / 3,
            "recall@100": 2 / 3,
            "precision@5": 2 / 5,
            "span_recall@5": 1,
            "span_precision@5": 110 / (9 + 150 + 9 + 30),
            "span_iou@5": 110 / (9 + 150 + 9 + 30),
        },
        rel=1e-12,
    )


def test_characters_of_copies_count_as_found() -> None:
    gold = query("q", "pump", span("b", 0, 10))
    assert scores(gold, [at("x", 7, 17, ("b", 0, 10))])["span_recall@5"] == 1


def test_characters_count_in_the_first_five_passages() -> None:
    passages = [at(f"x{place}", 0, 10) for place in range(4)]
    gold = query("q", "pump", span("a", 0, 10), span("b", 0, 10))
    fifth = [*passages, at("a", 0, 10), at("b", 0, 10)]
    found = scores(gold, fifth)
    assert found["span_recall@5"] == 10 / 20
    assert found["span_precision@5"] == 10 / 50
    assert found["span_iou@5"] == 10 / 60
    assert found["recall@10"] == 1


def test_the_size_of_passages_decides_nothing_once_they_cover_the_span() -> None:
    gold = query("q", "pump", span("doc", 100, 160))
    for size in (80, 400):
        passages = [at("doc", start, start + size) for start in range(0, 400, size)]
        assert scores(gold, passages)["span_recall@5"] == 1
    half = scores(gold, [at("doc", 0, 130), at("doc", 90, 130)])
    assert half["span_recall@5"] == 0.5
    assert half["recall@5"] == 0


def test_finding_nothing_scores_0_where_there_is_something() -> None:
    names = ["ndcg@10", "mrr", "recall@5", "recall@10", "recall@100", "precision@5"]
    assert scores(DOCUMENTS, []) == dict.fromkeys(names, 0)
    names += ["span_recall@5", "span_precision@5", "span_iou@5"]
    assert scores(SPANS, []) == dict.fromkeys(names, 0)


@pytest.mark.parametrize(("passages", "expected"), [([], 1), ([at("x", 0, 9)], 0)])
def test_a_query_that_nothing_answers_scores_by_silence(
    passages: list[Places], expected: float
) -> None:
    assert scores(query("q", "Who won the 1950 cup?"), passages) == {"abstention": expected}


def test_a_query_with_nothing_relevant_is_scored_and_not_silent() -> None:
    found = scores(query("q", "pump", document("a", 0)), [at("a", 0, 9)])
    assert set(found.values()) == {0}
    assert "abstention" not in found


def test_gains_are_those_of_the_units() -> None:
    assert gains_of(DOCUMENTS) == {"a": 1, "b": 2, "c": 0}
    assert gains_of(SPANS) == {"a:100-160": 1, "a:200-240": 1, "b:0-10": 1}


SET = dataset(
    {"a": "pump", "b": "valve"},
    query("q1", "pump", document("a")),
    query("q2", "valve", document("b")),
    query("q3", "hose"),
)


def test_your_own_search_may_return_documents() -> None:
    answers = {"pump": ["a", "b", "a"], "valve": ["x", "b"], "hose": []}
    found = evaluate(SET, answers.__getitem__)
    assert {id_: each.get("mrr") for id_, each in found.items()} == {"q1": 1, "q2": 0.5, "q3": None}
    assert found["q3"] == {"abstention": 1}
    assert found["q1"]["precision@5"] == 1 / 5


def test_your_own_search_may_return_spans_where_documents_are_gold() -> None:
    answers: dict[str, list[Span]] = {
        "pump": [("b", 0, 3), ("a", 0, 4)],
        "valve": [],
        "hose": [("a", 0, 4)],
    }
    found = evaluate(SET, answers.__getitem__)
    assert found["q1"]["mrr"] == 0.5
    assert found["q2"]["mrr"] == 0
    assert found["q3"] == {"abstention": 0}


def test_your_own_search_may_return_spans_where_spans_are_gold() -> None:
    hits: list[Span] = [("x", 0, 9), ("a", 90, 200)]
    assert evaluate(dataset({"a": "pump"}, SPANS), lambda _: hits) == {
        "q": scores(SPANS, [[hit] for hit in hits])
    }


def test_documents_where_spans_are_gold_are_an_error_that_names_the_query() -> None:
    assert refusal(lambda: evaluate(dataset({"a": "pump"}, SPANS), lambda _: ["a"])) == (
        "query 'q' has spans as gold: the search must return (source, start, end)"
    )


def test_the_mean_is_over_the_queries_that_have_the_metric() -> None:
    found = {"q1": {"mrr": 1.0}, "q2": {"mrr": 0.25}, "q3": {"abstention": 1.0}}
    assert mean(found, "mrr") == (1 + 0.25) / 2
    assert mean(found, "abstention") == 1


def test_the_mean_of_a_metric_that_no_query_has_is_an_error() -> None:
    with pytest.raises(EvalError, match=r"^no query has the metric 'recall@7'$"):
        mean({"q1": {"mrr": 1.0}}, "recall@7")


def test_ids_and_units_are_checked_when_a_set_is_made() -> None:
    assert refusal(lambda: dataset({}, SPANS, DOCUMENTS)) == (
        "small: the query id 'q' is given twice"
    )
    assert refusal(lambda: dataset({"a": "pump"})) == "small: there is no query with a judgment"
