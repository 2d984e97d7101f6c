"""The rankings that a search is made of: by words, by vectors, and the fusion of both."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groundkit_core.contracts import Component
from groundkit_core.embedding import Vectors
from groundkit_core.errors import CollectionCorruptError, RetrievalError
from groundkit_core.index import bm25
from groundkit_core.index.view import View
from groundkit_core.retrieval.fusion import fused
from groundkit_core.terms import term_hash

if TYPE_CHECKING:
    from groundkit_core.index.allowed import Allowed

__all__ = ["FUSION_DEPTH", "Fusion", "Ranking", "by_vectors", "by_words", "fuse"]

FUSION_DEPTH = 100
"""How far down each ranking is read before they are fused."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """Weights of words and vectors, and the least similarity that counts."""

    weights: tuple[float, float] = (1.0, 1.0)
    min_similarity: float | None = None

    def __post_init__(self) -> None:
        if not all(0 <= weight < math.inf for weight in self.weights):
            raise RetrievalError(f"the weights of a fusion are {self.weights}, not 0 or more")
        if self.min_similarity is not None and not -1 <= self.min_similarity <= 1:
            raise RetrievalError(f"min_similarity is {self.min_similarity}, it must be -1 to 1")


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits, best first; `complete` if there are no more, and places in the rankings behind it."""

    hits: list[bm25.Hit]
    complete: bool
    components: Mapping[int, dict[str, Component]] = field(default_factory=dict)


def by_words(view: View, query: str, depth: int, allowed: "Allowed | None" = None) -> Ranking:
    """The best chunks by BM25; of allowed documents only, by the statistics of all."""
    contents = view.contents
    asked = contents.analyzer.query_terms(query)
    terms = {term_hash(term): weight for term, weight in asked.items()}
    stats = bm25.statistics(contents.lexical, contents.chunks, contents.terms, terms)
    passages = allowed.passages if allowed else None
    hits = bm25.search(contents.lexical, terms, stats, depth, passages)
    return Ranking(hits, len(hits) < depth)


def by_vectors(
    view: View,
    vector: Vectors,
    depth: int,
    least: float | None,
    allowed: "Allowed | None" = None,
) -> Ranking:
    """The chunks whose vectors are nearest; of allowed documents only."""
    from groundkit_core.index import dense

    rows_of = allowed.vectors if allowed else lambda _: None
    near = dense.search(view.contents.dense, vector, depth, rows_of)
    scores = {each.key: each.score for each in near if least is None or each.score >= least}
    rows = view.store.by_embed_key(list(scores))
    hits = [
        bm25.Hit(scores[key], int(id_[:16], 16), int(digest[:16], 16), seq, doc)
        for seq, id_, digest, key, doc in rows
        if allowed is None or allowed.lets(doc)
    ]
    if lost := scores.keys() - {key for _, _, _, key, _ in rows}:
        raise CollectionCorruptError(
            f"{view.store.path}: {len(lost)} vectors belong to no passage; see grk doctor"
        )
    hits.sort(key=lambda hit: (-hit.score, hit.key))
    return Ranking(hits, len(near) < depth or len(scores) < len(near))


def fuse(words: Ranking, vectors: Ranking, fusion: Fusion) -> Ranking:
    """Both rankings as one, by the places of their chunks."""
    places = {
        name: {hit.seq: (rank, hit) for rank, hit in enumerate(ranking.hits, start=1)}
        for name, ranking in (("bm25", words), ("dense", vectors))
    }
    scores = fused([list(held) for held in places.values()], fusion.weights)
    hits: list[bm25.Hit] = []
    components: dict[int, dict[str, Component]] = {}
    for seq, score in scores.items():
        found = {name: held[seq] for name, held in places.items() if seq in held}
        _, hit = next(iter(found.values()))
        hits.append(bm25.Hit(score, hit.key, hit.content, seq, hit.doc))
        components[seq] = {
            name: Component(rank=rank, score=held.score) for name, (rank, held) in found.items()
        }
    hits.sort(key=lambda hit: (-hit.score, hit.key))
    return Ranking(hits, words.complete and vectors.complete, components)
