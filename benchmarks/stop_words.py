"""What indexing stop words costs and gives, with bm25s as the engine."""

from collections.abc import Callable
from statistics import fmean

from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.terms import Analyzer, words
from groundkit_evals.metrics import ndcg, recall

from benchmarks.labelled import LabelledSet
from benchmarks.plain_bm25s import TermIndex
from benchmarks.report import Row

__all__ = ["stop_word_policies"]

Terms = Callable[[str], list[str]]


def stop_word_policies(data: LabelledSet) -> list[Row]:
    """nDCG, recall and size of the postings under each policy.

    Words that are indexed but do not count in a text's length score as if they were dropped, in
    every query that has other words.
    """
    analyzer = Analyzer(data.language, stop_words(data.language))
    dropped = _dropping(analyzer)
    policies: dict[str, tuple[Terms, Terms]] = {
        "dropped everywhere, or not counted in the length": (dropped, dropped),
        "indexed and counted, left out of queries (ours)": (analyzer.terms, _asking(analyzer)),
        "indexed and counted, kept in queries": (analyzer.terms, analyzer.terms),
    }
    return [_row(policy, data, *terms) for policy, terms in policies.items()]


def _dropping(analyzer: Analyzer) -> Terms:
    def terms(text: str) -> list[str]:
        kept = [word for word in words(text) if word.lower() not in analyzer.stop_words]
        return [term for word in kept for term in analyzer.word_terms(word)]

    return terms


def _asking(analyzer: Analyzer) -> Terms:
    """Query terms for an engine without weights: one for each time the query holds them."""

    def terms(text: str) -> list[str]:
        weighed = analyzer.query_terms(text).items()
        return [term for term, weight in weighed for _ in range(max(1, round(weight)))]

    return terms


def _row(policy: str, data: LabelledSet, of_text: Terms, of_query: Terms) -> Row:
    texts = [of_text(text.searched) for text in data.texts]
    index = TermIndex(texts)
    ids = [text.id for text in data.texts]
    ranked = [
        (question.gains, [ids[at] for at in index.search(of_query(question.text), 100)])
        for question in data.questions
    ]
    return {
        "policy": policy,
        "nDCG@10": fmean(ndcg(found, gains, 10) for gains, found in ranked),
        "recall@100": fmean(recall(found, gains, 100) for gains, found in ranked),
        "postings": sum(len(set(terms)) for terms in texts),
        "mean length": fmean(map(len, texts)),
    }
