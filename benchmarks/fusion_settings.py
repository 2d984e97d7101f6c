"""What depth, constant and weights of the fusion give on claims of scifact's train split."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from tempfile import TemporaryDirectory

from groundkit_core.embedding import EmbeddingProtocol
from groundkit_core.index.view import Reader, View
from groundkit_core.retrieval.fusion import RRF_K, fused
from groundkit_core.retrieval.legs import FUSION_DEPTH, by_vectors, by_words
from groundkit_evals.metrics import ndcg, paired_difference

from benchmarks.labelled import Question, claims, load
from benchmarks.quality import WHOLE, collection_of
from benchmarks.report import Row, Table

__all__ = ["PREFIXES", "Legs", "Prefixes", "best_first", "fusion_settings"]

DEPTHS = (20, 50, 100, 200, 500)
CONSTANTS = (5, 10, 20, 40, 60, 100)
WEIGHTS = ((1.0, 1.0), (1.25, 1.0), (1.5, 1.0), (2.0, 1.0), (1.0, 1.5))
_SOURCES = "SELECT seq, source FROM chunk JOIN document USING (doc)"
Ranked = Sequence[str]
Prefixes = tuple[str, str]
"""What goes before each passage, and before each query."""
Setting = tuple[tuple[float, float], int]
"""Weights of words and vectors, and fusion's k."""
PREFIXES: tuple[Prefixes, ...] = (
    ("", ""),
    ("", "query: "),
    ("passage: ", "query: "),
    ("", "Represent this sentence for searching relevant passages: "),
)


@dataclass(frozen=True)
class Legs:
    """A question, and the documents that words and that vectors find."""

    question: Question
    words: Ranked
    vectors: Ranked


def fusion_settings(embedders: Mapping[Prefixes, EmbeddingProtocol]) -> list[Table]:
    """What settings give on the train claims, and what the best of them gives on the test queries.

    The test queries choose nothing.
    """
    train = claims("train")
    legs = {prefixes: _legs(each, train) for prefixes, each in embedders.items()}
    plain = legs["", ""]
    rows = [_row(plain, FUSION_DEPTH, weights) for weights in WEIGHTS]
    rows += [_row(plain, depth, (1.0, 1.0)) for depth in DEPTHS if depth != FUSION_DEPTH]
    chosen = max(
        ((weights, k) for weights in WEIGHTS for k in CONSTANTS),
        key=lambda setting: _score(plain, FUSION_DEPTH, *setting),
    )
    words = fmean(ndcg(leg.words, leg.question.gains, 10) for leg in plain)
    vectors = fmean(ndcg(leg.vectors, leg.question.gains, 10) for leg in plain)
    return [
        Table(
            f"nDCG@10 of hybrid with MiniLM on {len(train)} train claims of scifact by fusion's k "
            f"(default {RRF_K}); BM25 {words:.3f}, dense {vectors:.3f}",
            rows,
        ),
        Table(
            "the same by the prefixes of passages and queries",
            [_prefixes_row(prefixes, found, chosen) for prefixes, found in legs.items()],
        ),
        Table(
            "nDCG@10 on scifact's test queries, hybrid less BM25 with its 95 % interval",
            _test_rows(embedders["", ""], chosen),
        ),
    ]


def _prefixes_row(prefixes: Prefixes, legs: Sequence[Legs], chosen: Setting) -> Row:
    dense = fmean(ndcg(leg.vectors, leg.question.gains, 10) for leg in legs)
    return {
        "passages": repr(prefixes[0]),
        "queries": repr(prefixes[1]),
        "dense": dense,
        f"hybrid, k {RRF_K}": _score(legs, FUSION_DEPTH, (1.0, 1.0), RRF_K),
        f"hybrid, {_named(chosen)}": _score(legs, FUSION_DEPTH, *chosen),
    }


def _test_rows(embedder: EmbeddingProtocol, chosen: Setting) -> list[Row]:
    legs = _legs(embedder, load("scifact").questions)
    words = [ndcg(leg.words, leg.question.gains, 10) for leg in legs]
    rows = []
    for name, (weights, k) in (("default", ((1.0, 1.0), RRF_K)), ("best on train", chosen)):
        found = _values(legs, FUSION_DEPTH, weights, k)
        gap = paired_difference(found, words)
        rows.append(
            {
                "setting": f"{name}: {_named((weights, k))}",
                "BM25": fmean(words),
                "hybrid": fmean(found),
                "difference": gap.mean,
                "from": gap.low,
                "to": gap.high,
            }
        )
    return rows


def _named(setting: Setting) -> str:
    (words, vectors), k = setting
    return f"k {k}, weights {words:g} and {vectors:g}"


def _row(legs: Sequence[Legs], depth: int, weights: tuple[float, float]) -> Row:
    row: Row = {"weights": f"{weights[0]:g}, {weights[1]:g}", "depth": depth}
    return row | {f"k {k}": _score(legs, depth, weights, k) for k in CONSTANTS}


def _score(legs: Sequence[Legs], depth: int, weights: tuple[float, float], k: int) -> float:
    return fmean(_values(legs, depth, weights, k))


def _values(legs: Sequence[Legs], depth: int, weights: tuple[float, float], k: int) -> list[float]:
    return [ndcg(best_first(leg, depth, weights, k), leg.question.gains, 10) for leg in legs]


def best_first(legs: Legs, depth: int, weights: tuple[float, float], k: int) -> list[str]:
    """The documents in the order of the fusion, ties by id."""
    scores = fused([legs.words[:depth], legs.vectors[:depth]], weights, k=k)
    return sorted(scores, key=lambda id_: (-scores[id_], id_))


def _legs(embedder: EmbeddingProtocol, questions: Sequence[Question]) -> list[Legs]:
    data, deepest = load("scifact"), max(DEPTHS)
    found: list[Legs] = []

    def add_all(view: View) -> None:
        sources = dict(view.store.rows(_SOURCES))
        for question in questions:
            vector = asyncio.run(embedder.embed([question.text], purpose="query"))
            words = by_words(view, question.text, deepest).hits
            vectors = by_vectors(view, vector, deepest, None).hits
            found.append(
                Legs(
                    question,
                    [sources[hit.seq] for hit in words],
                    [sources[hit.seq] for hit in vectors],
                )
            )

    with TemporaryDirectory() as folder, collection_of(folder, data, WHOLE, embedder) as collection:
        Reader(collection.path).run(add_all)
    return found
