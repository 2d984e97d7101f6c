"""groundkit's segments from term ids, and its kernel over them: ids and scores only."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from groundkit_core.index import bm25
from groundkit_core.index.counting import ChunkKeys, build_arrays, count
from groundkit_core.index.lexical import LexicalIndex, LexicalSegment
from groundkit_core.index.merge import Part, due, merged
from groundkit_core.index.segment_file import Array, SegmentFile, open_segment, write_segment
from groundkit_core.index.view import Contents
from groundkit_core.terms import term_hash, term_key

from benchmarks.index_clock import Clock
from benchmarks.index_corpus import Corpus, Queries, eight_parts, word
from benchmarks.index_filters import Filter
from benchmarks.index_queries import Ask, K

__all__ = ["Kernel", "Segments", "eight_files", "mapped", "merge_seconds"]

_AT_ONCE = 20_000
_NONE = np.empty(0, np.uint32)


class Segments:
    """Segment files as a commit writes them: at once, or some passages at a time and merged."""

    def __init__(self, *, at_once: bool) -> None:
        self._at_once = at_once

    def build(self, corpus: Corpus, folder: Path, clock: Clock) -> None:
        """From ids to one durable segment."""
        step = corpus.size if self._at_once else _AT_ONCE
        held: list[tuple[SegmentFile, int]] = []
        for start in range(0, corpus.size, step):
            part = range(start, min(start + step, corpus.size))
            batch, keys = _batch(corpus, part), _keys(part)
            with clock:
                held.append((_written(batch, keys, folder), len(part)))
                while (chosen := due([(size, 0) for _, size in held])) is not None:
                    _merge(folder, held, chosen)
        with clock:
            if len(held) > 1:
                _merge(folder, held, range(len(held)))


@dataclass(frozen=True)
class _Batch:
    """What a tokenizer gives for some passages: word ids, and the one term of each word."""

    ids: Queries
    terms: list[str]


def _batch(corpus: Corpus, part: range) -> _Batch:
    ids, terms = corpus.lists(part.start, part.stop), corpus.words
    if len(part) < corpus.size:
        used = np.unique(corpus.ids(part.start, part.stop)).tolist()
        place = {term: at for at, term in enumerate(used)}
        ids = [[place[term] for term in passage] for passage in ids]
        terms = [terms[term] for term in used]
    return _Batch(ids, terms)


def _written(batch: _Batch, keys: ChunkKeys, folder: Path) -> SegmentFile:
    counts = count(batch.ids, list(map(term_key, batch.terms)))
    return write_segment(folder, "lex", build_arrays(counts, keys))


def _keys(part: range) -> ChunkKeys:
    rows = np.arange(part.start + 1, part.stop + 1, dtype=np.uint64)
    mixed = rows * np.uint64(0x9E3779B97F4A7C15)
    return ChunkKeys(seq=rows, doc=rows, content=mixed, id=mixed, embed=mixed)


def _merge(folder: Path, held: list[tuple[SegmentFile, int]], chosen: range) -> None:
    parts = [Part(open_segment(folder, held[at][0]), _NONE) for at in chosen]
    file = write_segment(folder, "lex", merged(parts))
    for at in chosen:
        (folder / held[at][0].file).unlink()
    held[chosen.start : chosen.stop] = [(file, sum(held[at][1] for at in chosen))]


def eight_files(corpus: Corpus, contents: Contents, folder: Path) -> list[SegmentFile]:
    """The passages of a collection's one segment in eight files."""
    (whole,) = contents.lexical.segments
    files = []
    for part in eight_parts(corpus.size):
        rows = slice(part.start, part.stop)
        keys = ChunkKeys(
            whole.seq[rows],
            whole.doc[rows],
            whole.content[rows],
            whole.id[rows],
            whole.embed[rows],
        )
        files.append(_written(_batch(corpus, part), keys, folder))
    return files


def mapped(folder: Path, files: Sequence[SegmentFile]) -> list[LexicalSegment]:
    """Opened segments without dead passages."""
    return [LexicalSegment.open(folder, file, _NONE) for file in files]


def merge_seconds(folder: Path, files: Sequence[SegmentFile]) -> float:
    """Seconds to make one durable segment of several."""
    begin = time.perf_counter()
    parts = [Part(open_segment(folder, file), _NONE) for file in files]
    write_segment(folder, "lex", merged(parts))
    return time.perf_counter() - begin


class Kernel:
    """Statistics and search over mapped segments; takes weighted term hashes, and a mask that was
    made before.
    """

    def __init__(self, corpus: Corpus, segments: Sequence[LexicalSegment]) -> None:
        self._corpus = corpus
        self._index = LexicalIndex(segments)
        self._masks: dict[Filter | None, Array | None] = {None: None}

    def asked(self, terms: Sequence[int], kept: Filter | None = None) -> Ask:
        corpus, index, mask = self._corpus, self._index, self._mask(kept)
        query = {term_hash(word(term)): 1.0 for term in terms}

        def ask() -> list[tuple[int, float]]:
            stats = bm25.statistics(index, corpus.size, corpus.tokens, query)
            found = bm25.search(index, query, stats, K, mask)
            return [(hit.seq - 1, hit.score) for hit in found]

        return ask

    def _mask(self, kept: Filter | None) -> Array | None:
        if kept is not None and kept not in self._masks:
            self._masks[kept] = self._index.mask(kept.passages(self._corpus.size) + 1)
        return self._masks[kept]
