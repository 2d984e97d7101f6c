"""Passages as arrays of term ids in a folder, so that all sides and processes read the same."""

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Corpus",
    "Ids",
    "Queries",
    "eight_parts",
    "word",
    "write_corpus",
    "zipf_blocks",
    "zipf_corpus",
]

VOCABULARY = 200_000
_BLOCK = 10_000
_LENGTHS = (60, 141)
_STOP_WORDS = 100
_QUERIES = 1_000
_QUERY_LENGTHS = (3, 8)
_LONG_QUERY = 30
_SEED = 11

Ids = NDArray[np.int32]
Block = tuple[Ids, NDArray[np.int64]]
"""The terms of some passages one after another, and each passage's length."""
Queries = list[list[int]]

# No digit and no join in a word, so that every tokenizer takes it as one term.
_LETTERS = str.maketrans("0123456789", "ghijklmnop")


class Corpus:
    """A folder that `write_corpus` filled; terms count from 0, each with a made-up word."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        about = json.loads((folder / "about.json").read_text("utf-8"))
        self.name: str = about["name"]
        self.terms: int = about["terms"]
        self.queries: Queries = about["queries"]
        self.long_queries: Queries = about["long_queries"]
        self._starts = np.load(folder / "starts.npy", mmap_mode="r")

    @property
    def size(self) -> int:
        """Number of passages."""
        return len(self._starts) - 1

    @property
    def tokens(self) -> int:
        """Number of terms in all passages, repeats counted."""
        return int(self._starts[-1])

    @cached_property
    def words(self) -> list[str]:
        """A word for each term."""
        return [word(term) for term in range(self.terms)]

    def ids(self, start: int, end: int) -> Ids:
        """Terms of some passages one after another, read from the file."""
        first, last = int(self._starts[start]), int(self._starts[end])
        return np.fromfile(self.folder / "ids", np.int32, last - first, offset=4 * first)

    def starts(self, start: int, end: int) -> NDArray[np.int64]:
        """Where each of these passages begins in what `ids` gives, and where the last one ends."""
        found: NDArray[np.int64] = self._starts[start : end + 1] - self._starts[start]
        return found

    def lists(self, start: int, end: int) -> Queries:
        """Terms of each passage; equal numbers are one object, as a tokenizer leaves them."""
        numbers = list(range(self.terms))
        found: Queries = []
        for first in range(start, end, _BLOCK):
            last = min(first + _BLOCK, end)
            flat = [numbers[term] for term in self.ids(first, last).tolist()]
            found += [flat[a:b] for a, b in pairwise(self.starts(first, last).tolist())]
        return found

    def texts(self, start: int, end: int) -> list[str]:
        """The passages as text, read from the file."""
        first, last = int(self._lines[start]), int(self._lines[end])
        with (self.folder / "texts").open("rb") as file:
            file.seek(first)
            return file.read(last - first).decode("ascii").splitlines()

    def write_texts(self) -> None:
        """Make that file, a line for each passage."""
        words, sizes = self.words, [0]
        with (self.folder / "texts").open("wb") as file:
            for start in range(0, self.size, _BLOCK):
                lists = self.lists(start, min(start + _BLOCK, self.size))
                texts = [" ".join([words[term] for term in terms]) + "\n" for terms in lists]
                file.write("".join(texts).encode())
                sizes += map(len, texts)
        np.save(self.folder / "lines.npy", np.cumsum(sizes))

    @cached_property
    def _lines(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = np.load(self.folder / "lines.npy", mmap_mode="r")
        return found


def word(term: int) -> str:
    """The word of a term."""
    return f"{term:x}".translate(_LETTERS)


def eight_parts(size: int) -> list[range]:
    """Four larger and four smaller ones: tantivy would merge eight that are alike."""
    shares = np.cumsum([0, *[18] * 4, *[7] * 4])
    return [range(start, end) for start, end in pairwise((size * shares // 100).tolist())]


def zipf_corpus(folder: Path, size: int) -> Corpus:
    """Passages of about 100 words; a smaller corpus is the beginning of a larger one."""
    blocks = zipf_blocks(size)
    return write_corpus(folder, f"Zipf {size:,}", blocks, VOCABULARY, stop_words=_STOP_WORDS)


def zipf_blocks(size: int, vocabulary: int = VOCABULARY) -> Iterator[Block]:
    """Terms drawn by Zipf's law: the term n is drawn with a chance in proportion to 1 / (n + 1)."""
    law = np.cumsum(1 / np.arange(1, vocabulary + 1))
    for number, start in enumerate(range(0, size, _BLOCK)):
        rng = np.random.default_rng((_SEED, number))
        lengths = rng.integers(*_LENGTHS, _BLOCK)
        drawn = law.searchsorted(rng.random(int(lengths.sum())) * law[-1], side="right")
        lengths = lengths[: size - start]
        yield drawn[: int(lengths.sum())].astype(np.int32), lengths


def write_corpus(
    folder: Path,
    name: str,
    blocks: Iterable[Block],
    vocabulary: int,
    queries: Queries | None = None,
    stop_words: int = 0,
) -> Corpus:
    """Write a corpus in which every term occurs.

    Without `queries` they are made of words of passages, but for the first `stop_words` terms.
    """
    folder.mkdir(parents=True)
    counts = np.zeros(vocabulary, np.int64)
    lengths = [np.zeros(1, np.int64)]
    with (folder / "ids").open("wb") as out:
        for ids, its in blocks:
            ids.tofile(out)
            counts += np.bincount(ids, minlength=vocabulary)
            lengths.append(its)
    place = (np.cumsum(counts > 0) - 1).astype(np.int32)
    mapped = np.memmap(folder / "ids", np.int32, "r+")
    for start in range(0, len(mapped), 1_000_000):
        mapped[start : start + 1_000_000] = place[mapped[start : start + 1_000_000]]
    mapped.flush()
    np.save(folder / "starts.npy", np.cumsum(np.concatenate(lengths)))
    about = {"name": name, "terms": int(place[-1]) + 1, "queries": [], "long_queries": []}
    (folder / "about.json").write_text(json.dumps(about), "utf-8")
    corpus = Corpus(folder)
    given = [[int(place[term]) for term in query if counts[term]] for query in queries or ()]
    about["queries"] = [terms for terms in given if terms] or _asked(corpus, stop_words)
    about["long_queries"] = _asked(corpus, 0, (_LONG_QUERY, _LONG_QUERY + 1))
    (folder / "about.json").write_text(json.dumps(about), "utf-8")
    corpus = Corpus(folder)
    corpus.write_texts()
    return corpus


def _asked(corpus: Corpus, stop_words: int, lengths: tuple[int, int] = _QUERY_LENGTHS) -> Queries:
    """Distinct terms of passages drawn by chance."""
    rng = np.random.default_rng(_SEED)
    found: Queries = []
    while len(found) < _QUERIES:
        passage = int(rng.integers(corpus.size))
        terms = np.unique(corpus.ids(passage, passage + 1))
        terms = terms[terms >= stop_words]
        wanted = min(int(rng.integers(*lengths)), len(terms))
        if wanted:
            found.append(rng.choice(terms, wanted, replace=False).tolist())
    return found
