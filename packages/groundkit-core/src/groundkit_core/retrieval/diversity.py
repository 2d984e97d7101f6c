"""Fewer passages of one document, and none that says what a better one said."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from unicodedata import normalize

from groundkit_core.errors import RetrievalError
from groundkit_core.index.bm25 import Hit
from groundkit_core.terms import word_spans

__all__ = ["Diversity", "Picked", "pick", "resemblance", "shingles"]

_WIDTH = 3
_AT_ONCE = 50

Shingles = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Diversity:
    """How much one document, or one text in several wordings, may fill of the results.

    `per_document` is the most passages of one document. A passage is left out as a near-duplicate
    of a better one if their resemblance is at least `near_duplicates` (above 0, at most 1).
    """

    per_document: int | None = None
    near_duplicates: float | None = None

    def __post_init__(self) -> None:
        if self.per_document is not None and self.per_document < 1:
            raise RetrievalError(f"per_document is {self.per_document}, it must be 1 or more")
        if self.near_duplicates is not None and not 0 < self.near_duplicates <= 1:
            raise RetrievalError(
                f"near_duplicates is {self.near_duplicates}, it must be above 0 and at most 1"
            )


@dataclass(slots=True)
class Picked:
    """A hit that is given, and the row numbers of near-duplicates that were left out for it."""

    hit: Hit
    similar: list[int] = field(default_factory=list)


def pick(
    hits: Sequence[Hit],
    diversity: Diversity,
    k: int,
    texts: Callable[[Sequence[int]], Mapping[int, str]],
    *,
    copies: bool = False,
) -> list[Picked]:
    """The first k hits, best first, that neither crowd nor repeat those before them.

    `texts` gives the passages of some row numbers; of equal texts the first stands for all unless
    `copies` are wanted.
    """
    kept: list[Picked] = []
    said: list[Shingles] = []
    contents: set[int] = set()
    held: Counter[int] = Counter()
    for hit, own in _with_shingles(hits, diversity.near_duplicates, texts):
        if len(kept) == k:
            break
        if not copies and hit.content in contents:
            continue
        if diversity.near_duplicates is not None:
            like = [resemblance(own, other) for other in said]
            if like and max(like) >= diversity.near_duplicates:
                kept[like.index(max(like))].similar.append(hit.seq)
                continue
        if held[hit.doc] == diversity.per_document:
            continue
        kept.append(Picked(hit))
        said.append(own)
        contents.add(hit.content)
        held[hit.doc] += 1
    return kept


def _with_shingles(
    hits: Sequence[Hit],
    threshold: float | None,
    texts: Callable[[Sequence[int]], Mapping[int, str]],
) -> Iterator[tuple[Hit, Shingles]]:
    """Each hit with its shingles where they are needed; texts are read as far as is asked."""
    for first in range(0, len(hits), _AT_ONCE):
        part = hits[first : first + _AT_ONCE]
        if threshold is None:
            yield from ((hit, frozenset()) for hit in part)
            continue
        found = texts([hit.seq for hit in part])
        yield from ((hit, shingles(found[hit.seq])) for hit in part)


def shingles(text: str) -> Shingles:
    """Every three words in a row, folded; of a shorter text all its words."""
    said = [normalize("NFKC", text[start:end]).casefold() for start, end in word_spans(text)]
    last = max(1, len(said) - _WIDTH + 1) if said else 0
    return frozenset(tuple(said[at : at + _WIDTH]) for at in range(last))


def resemblance(one: Shingles, other: Shingles) -> float:
    """Jaccard: the shingles that both have over those that either has."""
    return len(one & other) / max(1, len(one | other))
