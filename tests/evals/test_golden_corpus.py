"""The committed set is sound, and hard enough to tell retrievers apart."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest
from groundkit_core import Citation, Collection
from groundkit_core.terms import Analyzer
from groundkit_evals.golden import INJECTION_MARKERS, Judgment, Quote, judgments, load_golden

EVALS = Path(__file__).parents[2] / "evals"
TEXTS = {
    path.relative_to(EVALS / "corpus").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((EVALS / "corpus").rglob("*"))
    if path.is_file()
}
ROWS = list(judgments(EVALS))
ANALYZER = Analyzer("english")


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with Collection.open(tmp_path_factory.mktemp("golden") / "handbook") as filled:
        filled.ingest([EVALS / "corpus"])
        yield filled


def marked(text: str) -> bool:
    return any(marker in text.lower() for marker in INJECTION_MARKERS)


def rows(kind: str) -> list[Judgment]:
    return [row for row in ROWS if row.kind == kind]


def holds(citation: Citation, gold: Quote) -> bool:
    """Whether a citation covers more than half of a quote."""
    start = TEXTS[gold.source].index(gold.quote)
    end = start + len(gold.quote)
    shared = min(end, citation.end) - max(start, citation.start)
    return citation.source.endswith(f"/{gold.source}") and 2 * shared > end - start


def overlap(row: Judgment) -> float:
    """The share of a query's terms that stand in its gold."""
    asked = ANALYZER.query_terms(row.query)
    answering = {term for gold in row.gold for term in ANALYZER.terms(gold.quote)}
    return len(answering.intersection(asked)) / len(asked)


def test_there_are_enough_documents_of_each_format() -> None:
    formats = Counter(Path(source).suffix for source in TEXTS)
    assert len(TEXTS) >= 12
    assert set(formats) == {".md", ".rst", ".txt"}


def test_documents_are_of_a_size_that_must_be_cut() -> None:
    sizes = {source: len(text.split()) for source, text in TEXTS.items()}
    assert {source: size for source, size in sizes.items() if not 350 <= size <= 900} == {}


def test_there_are_enough_queries_of_each_kind() -> None:
    kinds = Counter(row.kind for row in ROWS)
    assert len(ROWS) >= 80
    assert set(kinds) == {"normal", "ambiguous", "no_answer", "adversarial"}
    assert min(kinds.values()) >= 15


def test_the_page_gives_the_number_of_queries_of_each_kind() -> None:
    page = (EVALS / "README.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(\w+)` \| (\d+) \|", page, re.MULTILINE)
    assert {kind: int(number) for kind, number in told} == Counter(row.kind for row in ROWS)


def test_no_id_and_no_query_is_given_twice() -> None:
    ids = Counter(row.id for row in ROWS)
    queries = Counter(" ".join(row.query.lower().split()) for row in ROWS)
    assert [each for each, count in (ids | queries).items() if count > 1] == []


def test_queries_are_short_questions() -> None:
    assert [row.query for row in ROWS if not 5 <= len(row.query.split()) <= 18] == []


def test_each_kind_has_its_number_of_quotes() -> None:
    allowed = {"normal": (1, 2), "ambiguous": (2, 4), "no_answer": (0, 0), "adversarial": (1, 2)}
    wrong = [
        row.id for row in ROWS if not allowed[row.kind][0] <= len(row.gold) <= allowed[row.kind][1]
    ]
    assert wrong == []


def test_a_quote_stands_once_in_its_source_and_nowhere_else() -> None:
    wrong = [
        (row.id, gold.quote)
        for row in ROWS
        for gold in row.gold
        if {source: text.count(gold.quote) for source, text in TEXTS.items() if gold.quote in text}
        != {gold.source: 1}
    ]
    assert wrong == []


def test_a_quote_is_a_clause_of_one_paragraph() -> None:
    quotes = {gold.quote for row in ROWS for gold in row.gold}
    assert [quote for quote in quotes if not 30 <= len(quote) <= 220 or "\n\n" in quote] == []


def test_queries_are_put_in_other_words_than_their_gold() -> None:
    shares = {row.id: overlap(row) for row in ROWS if row.gold}
    assert {id_: share for id_, share in shares.items() if share > 0.5} == {}
    assert fmean(shares.values()) <= 0.3


def test_every_marker_of_injected_text_occurs() -> None:
    whole = "\n".join(TEXTS.values()).lower()
    assert [marker for marker in INJECTION_MARKERS if marker not in whole] == []


def test_at_least_six_documents_hold_injected_text() -> None:
    assert sum(map(marked, TEXTS.values())) >= 6


def test_adversarial_gold_stands_in_a_document_with_injected_text() -> None:
    sources = {gold.source for row in rows("adversarial") for gold in row.gold}
    assert [source for source in sources if not marked(TEXTS[source])] == []


def test_half_of_the_adversarial_gold_stands_in_a_section_with_injected_text(
    collection: Collection,
) -> None:
    passages = [passage for document in collection.passages() for passage in document]
    hostile = {(cite.source, cite.heading_path) for cite, text in passages if marked(text)}
    beside = [
        any(
            (cite.source, cite.heading_path) in hostile and holds(cite, gold)
            for gold in row.gold
            for cite, _ in passages
        )
        for row in rows("adversarial")
    ]
    assert fmean(beside) >= 0.5


def test_normal_gold_stands_in_documents_without_injected_text() -> None:
    sources = {gold.source for row in rows("normal") for gold in row.gold}
    assert [source for source in sources if marked(TEXTS[source])] == []


def test_no_gold_is_injected_text() -> None:
    assert [row.id for row in ROWS for gold in row.gold if marked(gold.quote)] == []


def test_words_find_some_of_the_gold_and_not_all(collection: Collection) -> None:
    found = []
    for row in ROWS:
        results = collection.search(row.query, top_k=5).results
        found += [any(holds(result.citation, gold) for result in results) for gold in row.gold]
    assert 0.5 <= fmean(found) <= 0.95


def test_each_document_shares_vocabulary_with_the_others() -> None:
    terms = {source: set(ANALYZER.terms(text)) for source, text in TEXTS.items()}
    documents = Counter(term for found in terms.values() for term in found)
    shared = {
        source: fmean(documents[term] > 1 for term in found) for source, found in terms.items()
    }
    assert {source: share for source, share in shared.items() if share < 0.6} == {}


def test_the_set_loads_as_a_dataset() -> None:
    dataset = load_golden(EVALS)
    assert [query.id for query in dataset.queries] == [row.id for row in ROWS]
    assert [len(query.expected) for query in dataset.queries] == [len(row.gold) for row in ROWS]
