"""Changes that each side commits."""

from dataclasses import dataclass

from benchmarks.index_corpus import Corpus, word

__all__ = ["Edit", "added", "changed"]


@dataclass(frozen=True)
class Edit:
    """A passage's text after a change, and before it if there was one."""

    passage: int
    before: str | None
    after: str


def changed(corpus: Corpus, count: int) -> list[Edit]:
    """Passages from all over the corpus, each with its words in another order and one more."""
    step = corpus.size // count
    edits = []
    for passage in range(0, step * count, step):
        (terms,) = corpus.lists(passage, passage + 1)
        edits.append(Edit(passage, _text(terms), _another(corpus, terms, passage)))
    return edits


def added(corpus: Corpus, count: int) -> list[Edit]:
    """More passages, of the words of the first ones."""
    lists = corpus.lists(0, min(count, corpus.size))
    return [
        Edit(passage, None, _another(corpus, lists[passage % len(lists)], passage))
        for passage in range(corpus.size, corpus.size + count)
    ]


def _another(corpus: Corpus, terms: list[int], passage: int) -> str:
    return _text([*reversed(terms), passage % corpus.terms])


def _text(terms: list[int]) -> str:
    return " ".join(map(word, terms))
