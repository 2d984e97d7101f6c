"""What the page of a run shows of each query."""

import pytest
from groundkit_evals import page as page_module

from tests.evals.pages import Element, asked, read, table
from tests.evals.runs import BM25, DENSE, RERANK, run

RUN = run(BM25, DENSE, RERANK)


@pytest.fixture(scope="module")
def page() -> Element:
    return read(RUN)


def query(page: Element, words: str) -> Element:
    """The query that has these words."""
    (found,) = (each for each in asked(page) if words in each.text)
    return found


def test_a_query_shows_what_it_should_find_and_where_each_stage_has_it(page: Element) -> None:
    assert table(query(page, "easy pump"), "What this query should find") == [
        ["bm25", "dense", "rerank", "Source"],
        ["1", "2", "1", "a.md gold of a.md"],
    ]
    assert table(query(page, "hard valve"), "What this query should find")[1:] == [
        ["not found", "1", "not found", "b.md gold of b.md"],
        ["1", "not found", "1", "c.md gold of c.md"],
    ]
    assert "a stage that returns nothing is right" in query(page, "silent void").text


def test_a_query_shows_each_passage_once_with_its_rank_and_score_by_stage(page: Element) -> None:
    easy = query(page, "easy pump")
    assert table(easy, "What this query found") == [
        ["bm25 score", "dense score", "rerank score", "Passage"],
        ["✓ 1 3.5", "✓ 2 0.5", "✓ 1 3.5", "a.md 1–6 words"],
        # It is judged, and of no use.
        ["", "1 0.875", "", "z.md 1–6 words"],
    ]
    marked = [each.text for each in easy.all("tr", class_="wanted")]
    assert len(marked) == 1
    assert "a.md" in marked[0]


def test_passages_come_in_the_order_of_the_last_stage() -> None:
    easy = query(read(run(BM25, DENSE)), "easy pump")
    assert [row[-1] for row in table(easy, "What this query found")] == [
        "Passage",
        "z.md 1–6 words",
        "a.md 1–6 words",
    ]


def test_a_query_shows_its_metrics_by_stage(page: Element) -> None:
    assert table(query(page, "easy pump"), "Metrics of this query") == [
        ["Stage", "nDCG@10", "ms"],
        ["bm25", "1.000", "1"],
        ["dense", "0.500", "10"],
        ["rerank", "1.000", "100"],
    ]


def test_a_cut_excerpt_says_so() -> None:
    found = BM25.results[1].found[0].model_copy(update={"excerpt": "wor"})
    results = (BM25.results[0], BM25.results[1].model_copy(update={"found": (found,)}))
    page = read(run(BM25.model_copy(update={"results": results}), queries=["q1", "q2"]))
    assert "x.md 1–6 wor…" in query(page, "nothing at all").text
    assert "words…" not in page.text


def test_of_very_many_queries_only_the_worst_have_their_passages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_module, "WHOLE", 1)
    page = read(RUN)
    assert len(asked(page)) == 4
    assert [
        len(list(page.all("div", aria_label=f"What this query {verb}")))
        for verb in ("found", "should find")
    ] == [1, 2]
    assert "The passages of the worst 1 queries are here" in page.text
