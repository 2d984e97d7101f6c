"""What an answer report tells beyond its fields: uncited sentences, and what is near the cited."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from groundkit_core.contracts import Contract, RetrievalResult, Span
from groundkit_core.terms import Analyzer

from groundkit_providers.markers import Marker, cited_numbers, find_markers
from groundkit_providers.sentences import sentences, source_sentences

if TYPE_CHECKING:
    from groundkit_providers.answer import AnswerReport

__all__ = ["Closeness", "all_verified", "closest_passages", "sentences", "uncited_sentences"]

_LEAST_TERMS = 2
_STOP_WORDS = frozenset([
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "for", "from",
    "had", "has", "have", "if", "in", "into", "is", "it", "its", "of", "on", "or", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "was",
    "were", "which", "will", "with", "would",
])  # fmt: skip


class Closeness(Contract):
    """How near a cited source comes to a sentence of the answer; nearness proves nothing.

    `overlap` is the largest share of the sentence's terms in one sentence of the source, None when
    there are too few to say. `passage` is that sentence as a span of the document, None when less
    than the minimum overlaps. `found_in` is a source that the sentence does not cite and that
    comes nearer: the citation may be a wrong one.
    """

    sentence: Span
    source: int
    overlap: float | None
    passage: Span | None = None
    found_in: int | None = None


def uncited_sentences(report: "AnswerReport") -> tuple[Span, ...]:
    """Sentences without a marker; one that ends in a colon only leads to what follows."""
    markers = find_markers(report.answer)
    return tuple(
        span
        for span in sentences(report.answer)
        if not _within(span, markers)
        and not report.answer[span.start : span.end].endswith((":", "："))
    )


def all_verified(report: "AnswerReport", *, strict: bool = False) -> bool:
    """Whether every cited passage stands in its source; `strict` refuses a moved one too.

    True for an abstention, which cites nothing; False for a result that was never verified.
    """
    wanted = ("verified",) if strict else ("verified", "moved")
    verdicts = [
        report.results[number - 1].verification
        for number in cited_numbers(report.answer, len(report.results))
    ]
    return all(verdict is not None and verdict.status in wanted for verdict in verdicts)


def closest_passages(
    report: "AnswerReport", *, minimum_overlap: float = 0.5, language: str = "english"
) -> tuple[Closeness, ...]:
    """For each sentence and each source that it cites, the sentence of the source nearest to it."""
    cited_numbers(report.answer, len(report.results))
    analyzer = Analyzer(language, _STOP_WORDS)
    sources = [_Source(result, analyzer) for result in report.results]
    markers = find_markers(report.answer)
    found: list[Closeness] = []
    for sentence in sentences(report.answer):
        inside = _within(sentence, markers)
        cited = tuple(dict.fromkeys(number for marker in inside for number in marker.numbers))
        terms = _content_terms(_said(report.answer, sentence, inside), analyzer)
        if cited and len(terms) < _LEAST_TERMS:
            found.extend(Closeness(sentence=sentence, source=n, overlap=None) for n in cited)
        elif cited:
            near = [source.nearest(terms) for source in sources]
            found.extend(_closeness(sentence, n, cited, near, minimum_overlap) for n in cited)
    return tuple(found)


class _Near(NamedTuple):
    overlap: float
    span: Span | None


class _Source:
    """The sentences of one result as spans of its document, with their terms."""

    def __init__(self, result: RetrievalResult, analyzer: Analyzer) -> None:
        text, offset = result.content, result.citation.start
        self._sentences = [
            (
                Span(start=offset + start, end=offset + end),
                frozenset(analyzer.terms(text[start:end])),
            )
            for start, end in source_sentences(text)
        ]

    def nearest(self, terms: dict[str, float]) -> _Near:
        """The sentence that holds the largest share of the terms' weight, the first of equals."""
        total = sum(terms.values())
        best = _Near(0.0, None)
        for span, held in self._sentences:
            overlap = sum(weight for term, weight in terms.items() if term in held) / total
            if overlap > best.overlap:
                best = _Near(overlap, span)
        return best


def _closeness(
    sentence: Span, source: int, cited: tuple[int, ...], near: list[_Near], minimum: float
) -> Closeness:
    overlap, passage = near[source - 1]
    others = [number for number in range(1, len(near) + 1) if number not in cited]
    best = max(others, key=lambda number: near[number - 1].overlap, default=source)
    better = near[best - 1].overlap > overlap and near[best - 1].overlap >= minimum
    return Closeness(
        sentence=sentence,
        source=source,
        overlap=overlap,
        passage=passage if overlap >= minimum else None,
        found_in=best if better else None,
    )


def _content_terms(text: str, analyzer: Analyzer) -> dict[str, float]:
    weights = analyzer.query_terms(text)
    return {term: weight for term, weight in weights.items() if term not in _STOP_WORDS}


def _within(span: Span, markers: Sequence[Marker]) -> Sequence[Marker]:
    first = bisect_left(markers, (span.start,))
    return markers[first : bisect_left(markers, (span.end,))]


def _said(answer: str, span: Span, markers: Sequence[Marker]) -> str:
    """What a sentence says, its markers left out."""
    ends = [span.start, *(marker.end for marker in markers)]
    starts = [*(marker.start for marker in markers), span.end]
    return " ".join(answer[start:end] for start, end in zip(ends, starts, strict=True))
