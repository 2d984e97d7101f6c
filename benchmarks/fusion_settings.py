"""What depth, constant and weights of the fusion give on claims of scifact's train split."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from tempfile import TemporaryDirectory

from groundkit_core.embedding import EmbeddingProtocol
from groundkit_core.index.view import Reader, View
from groundkit_core.retrieval.fusion import RRF_K, fused
from groundkit_core.retrieval.legs import FUSION_DEPTH, by_vectors, by_words

from benchmarks.labelled import Question, claims, load
from benchmarks.metrics import ndcg
from benchmarks.quality import WHOLE, collection_of
from benchmarks.report import Row, Table

__all__ = ["Legs", "best_first", "fusion_settings"]

DEPTHS = (20, 50, 100, 200, 500)
CONSTANTS = (5, 10, 20, 40, 60, 100)
WEIGHTS = ((1.0, 1.0), (1.25, 1.0), (1.5, 1.0), (2.0, 1.0), (1.0, 1.5))
_SOURCES = "SELECT seq, source FROM chunk JOIN document USING (doc)"
Ranked = Sequence[str]


@dataclass(frozen=True)
class Legs:
    """A question, and the documents that words and that vectors find."""

    question: Question
    words: Ranked
    vectors: Ranked


def fusion_settings(embedder: EmbeddingProtocol) -> Table:
    """nDCG@10 of each weights with each constant at the default depth, then of each depth."""
    legs = _legs(embedder)
    rows = [_row(legs, FUSION_DEPTH, weights) for weights in WEIGHTS]
    rows += [_row(legs, depth, (1.0, 1.0)) for depth in DEPTHS if depth != FUSION_DEPTH]
    words = fmean(ndcg(leg.words, leg.question.gains, 10) for leg in legs)
    vectors = fmean(ndcg(leg.vectors, leg.question.gains, 10) for leg in legs)
    return Table(
        f"nDCG@10 of hybrid with MiniLM on {len(legs)} train claims of scifact by fusion's k "
        f"(default {RRF_K}); BM25 {words:.3f}, dense {vectors:.3f}",
        rows,
    )


def _row(legs: Sequence[Legs], depth: int, weights: tuple[float, float]) -> Row:
    row: Row = {"weights": f"{weights[0]:g}, {weights[1]:g}", "depth": depth}
    return row | {f"k {k}": _score(legs, depth, weights, k) for k in CONSTANTS}


def _score(legs: Sequence[Legs], depth: int, weights: tuple[float, float], k: int) -> float:
    return fmean(ndcg(best_first(leg, depth, weights, k), leg.question.gains, 10) for leg in legs)


def best_first(legs: Legs, depth: int, weights: tuple[float, float], k: int) -> list[str]:
    """The documents in the order of the fusion, ties by id."""
    scores = fused([legs.words[:depth], legs.vectors[:depth]], weights, k=k)
    return sorted(scores, key=lambda id_: (-scores[id_], id_))


def _legs(embedder: EmbeddingProtocol) -> list[Legs]:
    data, deepest = load("scifact"), max(DEPTHS)
    found: list[Legs] = []

    def add_all(view: View) -> None:
        sources = dict(view.store.rows(_SOURCES))
        for question in claims("train"):
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
